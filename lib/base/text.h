/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text - names that other people chose, made safe for a terminal, a line, a profile.
 *
 * Safe is valid UTF-8 without what moves a cursor or hides text: no control
 * characters (C0, DEL, C1), no line or paragraph separator, nothing that changes
 * the direction of writing.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEXT_INVALID = 0xfffd };	/* U+FFFD, REPLACEMENT CHARACTER */

/*
 * Read the character at TEXT, which ends with NUL: its bytes (1 to 4; 0 at the end)
 * and its code point in *CODE, TEXT_INVALID for a byte that is not UTF-8.
 */
size_t text_character(const char *text, uint32_t *code);

/* Whether a character may be printed as it is. */
bool text_is_safe(uint32_t code);

/* Replace each byte of what is not safe by '?'; the length stays. */
void text_make_safe(char *text);

/* Whether that would change TEXT. */
bool text_needs_care(const char *text);
