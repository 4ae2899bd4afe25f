/* SPDX-License-Identifier: Apache-2.0 */
/* tap - the Test Anything Protocol, for unit tests in C. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

static int tap_count, tap_failed;

#define tap(good, name) tap_at(good, name, __FILE__, __LINE__)

static inline void tap_at(bool good, const char *name, const char *file, int line)
{
	tap_failed += !good;
	printf("%sok %d - %s\n", good ? "" : "not ", ++tap_count, name);
	if (!good)
		printf("# at %s:%d\n", file, line);
}

static inline int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}
