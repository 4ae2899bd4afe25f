/* SPDX-License-Identifier: Apache-2.0 */
/* moment - parses and formats points in time. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { MOMENT_SIZE = 32 };	/* bytes of a formatted time, with its NUL */

/*
 * Parse TEXT and set *MOMENT, in s since 1970.  TEXT is a time in RFC 3339's format
 * ("2026-11-22T03:12:00Z"; seconds may be left out), a number of seconds since 1970, or a duration
 * before NOW ("-1h").  Fractions of a second are ignored.  Return false if TEXT is malformed.
 */
bool moment_parse(const char *text, uint64_t now, uint64_t *moment);

/* Write MOMENT in RFC 3339's format, in UTC. */
void moment_format(char text[MOMENT_SIZE], uint64_t moment);
