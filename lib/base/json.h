/* SPDX-License-Identifier: Apache-2.0 */
/* json - prints the few elements of JSON that our tools need, to stdout. */
#pragma once
#include <stdbool.h>

/* Print TEXT as a JSON string; NULL: null.  Escapes unsafe characters; invalid UTF-8 is U+FFFD. */
void json_string(const char *text);

/* Print "NAME": before its value, after a comma unless it is the FIRST of its object. */
void json_key(const char *name, bool first);

/* Print NAME and TEXT, which are not the first of their object. */
void json_text(const char *name, const char *text);
