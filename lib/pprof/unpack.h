/* SPDX-License-Identifier: Apache-2.0 */
/* unpack - reads a file, plain or compressed by gzip or zstd, within limits (pprof/decode.h). */
#pragma once
#include "base/report.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Read HEAD_SIZE bytes at HEAD, read before, and all of FD (-1: no more).  Return the uncompressed
 * bytes and set *SIZE, or return NULL (reported).  The caller frees the bytes.  FILE is the name
 * for messages.
 */
uint8_t *unpack_rest(int fd, const char *file, const uint8_t *head, size_t head_size,
		     size_t *size, struct report *report);

/*
 * Return the uncompressed bytes of a small regular file of gzip and set *SIZE, or return NULL, with
 * nothing read or reported, if it is something else, or damaged.  The caller frees the bytes.
 */
uint8_t *unpack_small(int fd, size_t *size);

/*
 * As unpack_rest(), but pass the bytes to PIECE, some at a time, and keep none of them: their
 * number has no limit.  Return false (reported) if not all could be read.
 */
bool unpack_pieces(int fd, const char *file, const uint8_t *head, size_t head_size,
		   void piece(void *to, const uint8_t *bytes, size_t size), void *to,
		   struct report *report);
