/* SPDX-License-Identifier: Apache-2.0 */
/* json - prints the few elements of JSON that our tools need; to stdout, but for json_write(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef void (*json_put)(void *to, const char *bytes, size_t size);

/*
 * Write TEXT as a JSON string by calls of PUT.  IN_PAGE: for a script element of a page, where the
 * characters of markup are escaped, and others are as in TEXT.  Otherwise, unsafe characters are
 * escaped (base/text.h).  Invalid UTF-8 is U+FFFD.
 */
void json_write(const char *text, bool in_page, json_put put, void *to);

/* Print TEXT as a JSON string; NULL: null.  Escapes unsafe characters; invalid UTF-8 is U+FFFD. */
void json_string(const char *text);

/* Print "NAME": before its value, after a comma unless it is the FIRST of its object. */
void json_key(const char *name, bool first);

/* Print NAME and TEXT, which are not the first of their object. */
void json_text(const char *name, const char *text);
