/* SPDX-License-Identifier: Apache-2.0 */
/* output-zstd - compresses a stream of bytes. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct output_zstd;

/* Start to compress at LEVEL (1..19).  Return NULL if out of memory. */
struct output_zstd *output_zstd_open(int level);

/*
 * Compress SIZE bytes and pass the result to WRITE, flushed: a reader can decompress
 * everything up to here.  IS_LAST ends the compressed stream.  Return false if out of
 * memory; some bytes are lost then.
 */
bool output_zstd_write(struct output_zstd *z, const void *bytes, size_t size, bool is_last,
		       void (*write)(void *context, const void *bytes, size_t size),
		       void *context);

void output_zstd_close(struct output_zstd *z);
