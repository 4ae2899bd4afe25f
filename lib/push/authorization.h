/* SPDX-License-Identifier: Apache-2.0 */
/* authorization - the header by which a client says who it is. */
#pragma once
#include <stdbool.h>

enum { AUTHORIZATION_MOST = 4096 };	/* bytes of a value, with its NUL */

/*
 * Write the value of the header Authorization.  LINE has a user and a password ("user:password"),
 * a token, or the whole value ("Bearer TOKEN").  Return false if LINE has another form.
 */
bool authorization_make(const char *line, char value[AUTHORIZATION_MOST]);
