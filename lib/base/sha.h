/* SPDX-License-Identifier: Apache-2.0 */
/* sha - the SHA-256 of bytes (FIPS 180-4), for files that must be what they were. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { SHA_SIZE = 32, SHA_TEXT = 2 * SHA_SIZE + 1 };

/* Write the SHA-256 of SIZE bytes, in hexadecimal digits, to TEXT. */
void sha_write(char text[SHA_TEXT], const void *bytes, size_t size);
