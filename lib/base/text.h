/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text - makes foreign names safe for a terminal, a line of text, or a profile.
 *
 * Safe text is valid UTF-8 without characters that move the cursor or hide text: control
 * characters (C0, DEL, C1), line and paragraph separators, and characters that change the
 * direction of writing.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEXT_INVALID = 0xfffd };	/* U+FFFD, REPLACEMENT CHARACTER */

/*
 * Return the size of the first character of TEXT (1 to 4 bytes; 0 at the NUL) and set
 * *CODE to its code point, or to TEXT_INVALID for a byte that is not UTF-8.
 */
size_t text_character(const char *text, uint32_t *code);

/* Return how many columns of a terminal the character CODE takes: 0, 1 or 2. */
size_t text_columns(uint32_t code);

/* Return how many columns of a terminal TEXT takes. */
size_t text_width(const char *text);

/* Return the end of the longest part of TEXT, SIZE bytes, that fits in COLUMNS of a terminal. */
const char *text_fitting(const char *text, size_t size, size_t columns);

/* Return whether the character CODE may be printed as it is. */
bool text_is_safe(uint32_t code);

/* Replace each byte of an unsafe character by '?'; the length does not change. */
void text_make_safe(char *text);

/* Return TEXT, made safe, with "\\n" for each newline.  The caller frees. */
char *text_in_one_line(const char *text);

/* Return whether text_make_safe() would change TEXT. */
bool text_needs_care(const char *text);
