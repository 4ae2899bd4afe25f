/* SPDX-License-Identifier: Apache-2.0 */
/* output-zstd - a stream of bytes, compressed as it goes. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct output_zstd;

/* Compress at LEVEL (1..19).  NULL: out of memory. */
struct output_zstd *output_zstd_open(int level);

/*
 * Compress SIZE bytes and give what comes of them to WRITE, so that a reader
 * can decompress all up to here; IS_LAST ends the compressed stream.  False: out
 * of memory, and some of it is lost.
 */
bool output_zstd_write(struct output_zstd *z, const void *bytes, size_t size, bool is_last,
		       void (*write)(void *context, const void *bytes, size_t size),
		       void *context);

void output_zstd_close(struct output_zstd *z);
