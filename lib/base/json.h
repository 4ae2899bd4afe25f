/* SPDX-License-Identifier: Apache-2.0 */
/* json - the few pieces of JSON that our output is made of, onto stdout. */
#pragma once
#include <stdbool.h>

/* TEXT as a JSON string; what is not safe to print is escaped, no UTF-8 is U+FFFD.  NULL: null. */
void json_string(const char *text);

/* "NAME": before a value, after a comma unless it is the FIRST of its object. */
void json_key(const char *name, bool first);
