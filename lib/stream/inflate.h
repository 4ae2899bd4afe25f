/* SPDX-License-Identifier: Apache-2.0 */
/* inflate - decompresses zstd and gzip incrementally: whole streams, or COMPRESSED records. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inflate;

/* Return a new decompressor, for zstd or for gzip. */
struct inflate *inflate_open(void);
struct inflate *inflate_open_gzip(void);

/* Set the next SIZE compressed bytes, after all earlier ones are used.  The caller keeps them. */
void inflate_feed(struct inflate *z, const void *bytes, size_t size);

/*
 * Decompress up to ROOM bytes into TO.  Return their number; 0: feed more bytes first;
 * -1: the data are damaged.
 */
ptrdiff_t inflate_read(struct inflate *z, void *to, size_t room);

/* Return whether Z is at the end of a compressed frame, and no other frame has started. */
bool inflate_is_whole(const struct inflate *z);

void inflate_close(struct inflate *z);
