/* SPDX-License-Identifier: Apache-2.0 */
/* pack - bytes put together, then compressed as a whole. */
#pragma once
#include "base/output.h"

#include <stdint.h>

enum pack_how { PACK_GZIP, PACK_NONE, PACK_ZSTD };

struct pack;

struct pack *pack_open(void);

/* SIZE more bytes, for the caller to fill. */
uint8_t *pack_room(struct pack *p, size_t size);

/* Write all of it to OUT, flush, and free P. */
void pack_close(struct pack *p, enum pack_how how, struct output *out);
