/* SPDX-License-Identifier: Apache-2.0 */
/* locate's inside: shared by files that are mapped (locate.c) and those found by build ID. */
#pragma once
#include "locate/locate.h"

/* The file of this build ID and kind.  ROOT: also look below it.  NULL: none. */
struct elf *locate_by_id(const struct locate_options *where, const char *root, const uint8_t *id,
			 size_t size, enum locate_kind kind);

/* ELF if it has the build ID; closed if not. */
struct elf *locate_with_id(struct elf *elf, const uint8_t *id, size_t size);
