/* SPDX-License-Identifier: Apache-2.0 */
/* moment - points in time, as people and scripts write them. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { MOMENT_SIZE = 32 };	/* bytes of a text, with its NUL */

/*
 * Parse TEXT, a time by RFC 3339 ("2026-11-22T03:12:00Z"; seconds may be left out), a number of
 * seconds since 1970, or a duration before NOW ("-1h").  Fractions of a second are ignored.
 * Return false if TEXT is none of these; else set *MOMENT, in s since 1970.
 */
bool moment_parse(const char *text, uint64_t now, uint64_t *moment);

/* Write MOMENT by RFC 3339, in UTC. */
void moment_format(char text[MOMENT_SIZE], uint64_t moment);
