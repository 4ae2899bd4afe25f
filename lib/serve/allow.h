/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allow - restricts the events that a server samples to a list of kinds and names.
 *
 * pmu-events --encode --json describes the events; the server itself parses no event names.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define ALLOW_DEFAULT "hardware,cache,software"

/* Return NULL if LIST is a comma-separated list of kinds and names of events, else LIST. */
const char *allow_check(const char *list);

/*
 * Return whether JSON, the output of pmu-events, has events and LIST allows all of them.  If not,
 * write the reason to WHY, of SIZE bytes.
 */
bool allow_all(const char *list, const char *json, char *why, size_t size);
