/* SPDX-License-Identifier: Apache-2.0 */
/* host - the byte order of the machine that runs the unit tests. */
#pragma once
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

static const bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

/* e_ident[EI_DATA] of its ELF files */
enum { HOST_ELFDATA = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB };

/* The word of 8 bytes whose first 4 bytes are FIRST, and the others SECOND. */
#define HALVES(first, second) (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ \
			       ? (uint64_t)(first) << 32 | (second) \
			       : (uint64_t)(second) << 32 | (first))
