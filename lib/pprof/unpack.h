/* SPDX-License-Identifier: Apache-2.0 */
/* unpack - reads a file, plain or compressed by gzip or zstd, within limits (pprof/decode.h). */
#pragma once
#include "base/report.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Read all of FILE ("-": stdin).  Return its uncompressed bytes and set *SIZE, or return
 * NULL (reported).  The caller frees the bytes.
 */
uint8_t *unpack_file(const char *file, size_t *size, struct report *report);

/* The same for HEAD_SIZE bytes at HEAD, read before, and all of FD.  FILE is its name. */
uint8_t *unpack_rest(int fd, const char *file, const uint8_t *head, size_t head_size,
		     size_t *size, struct report *report);
