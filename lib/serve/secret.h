/* SPDX-License-Identifier: Apache-2.0 */
/* secret - a line in a file that others must not know: a token, or credentials. */
#pragma once
#include <stddef.h>
#include <sys/types.h>

enum { SECRET_WHY = 384 };	/* bytes of a reason, with its NUL */

/*
 * Copy the first line of FILE, at most SIZE - 1 bytes, to LINE.  Return its length; or -1, with WHY
 * set, if it cannot be read, or if others than root, we and maybe a group know it or can change it.
 * WHAT names it in WHY: "token".
 */
ssize_t secret_read(const char *file, const char *what, char *line, size_t size,
		    char why[SECRET_WHY]);
