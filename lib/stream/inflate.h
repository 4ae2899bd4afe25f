/* SPDX-License-Identifier: Apache-2.0 */
/* inflate - zstd or gzip, decompressed as it comes: whole streams, and records inside of them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inflate;

/* Of zstd; or of gzip. */
struct inflate *inflate_open(void);
struct inflate *inflate_open_gzip(void);

/* Give it SIZE more compressed bytes; those before have been used up.  They stay the caller's. */
void inflate_feed(struct inflate *z, const void *bytes, size_t size);

/*
 * Decompress into ROOM bytes at TO.  Returns how many came: 0 when more must
 * be fed; -1: the data are damaged.
 */
ptrdiff_t inflate_read(struct inflate *z, void *to, size_t room);

/* Decompress the begin of gzip data, SIZE bytes, into ROOM bytes at TO; returns how many came. */
size_t inflate_first(const void *bytes, size_t size, void *to, size_t room);

/* Whether it stands at the end of a compressed frame, with nothing begun. */
bool inflate_is_whole(const struct inflate *z);

void inflate_close(struct inflate *z);
