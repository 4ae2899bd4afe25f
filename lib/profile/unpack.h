/* SPDX-License-Identifier: Apache-2.0 */
/* unpack - the bytes of a gzip'd or plain file, within limits (profile/decode.h). */
#pragma once
#include "base/report.h"

#include <stddef.h>
#include <stdint.h>

/* All of FILE ("-": stdin), SIZE bytes, which the caller frees; NULL (reported). */
uint8_t *unpack_file(const char *file, size_t *size, struct report *report);
