/* SPDX-License-Identifier: Apache-2.0 */
/* pack - collects bytes in memory, and compresses them as a whole. */
#pragma once
#include "base/output.h"

#include <stdint.h>

enum pack_how { PACK_GZIP, PACK_NONE, PACK_ZSTD };

struct pack;
struct Perftools__Profiles__Profile;

struct pack *pack_open(void);

/* Append SIZE bytes and return them, for the caller to fill.  Valid until the next call. */
uint8_t *pack_room(struct pack *p, size_t size);

/* Append PIECE, some fields of a profile. */
void pack_piece(struct pack *p, const struct Perftools__Profiles__Profile *piece);

/* Compress all bytes, write them to OUT, flush, and free P.  Failures are reported by OUT. */
void pack_close(struct pack *p, enum pack_how how, struct output *out);

/*
 * Return all bytes, compressed by gzip, set *SIZE, and free P; NULL: out of memory.  The caller
 * frees the bytes.
 */
uint8_t *pack_take_gzip(struct pack *p, size_t *size);

/* Return all bytes, uncompressed, set *SIZE, and free P.  The caller frees the bytes. */
uint8_t *pack_take(struct pack *p, size_t *size);
