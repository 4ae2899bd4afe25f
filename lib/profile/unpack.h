/* SPDX-License-Identifier: Apache-2.0 */
/* unpack - reads a plain or gzip file into memory, within limits (profile/decode.h). */
#pragma once
#include "base/report.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Read all of FILE ("-": stdin).  Return its uncompressed bytes and set *SIZE, or return
 * NULL (reported).  The caller frees the bytes.
 */
uint8_t *unpack_file(const char *file, size_t *size, struct report *report);
