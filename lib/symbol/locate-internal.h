/* SPDX-License-Identifier: Apache-2.0 */
/* locate's inside: shared by files that are mapped (locate.c) and those found by build ID. */
#pragma once
#include "symbol/locate.h"

/*
 * The file of this build ID: KIND is "executable" or "debuginfo", as a
 * debuginfod server calls them.  ROOT: also look below it.  NULL: none.
 */
struct elf *locate_by_id(const struct locate_options *where, const char *root, const uint8_t *id,
			 size_t size, const char *kind);
