/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allow - which events a server samples: a list of kinds and names.
 *
 * What an event is, pmu-events says (--encode --json): the server parses no names of events.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define ALLOW_DEFAULT "hardware,cache,software"

/* Return NULL if LIST has kinds and names of events, separated by commas, or what is wrong. */
const char *allow_check(const char *list);

/*
 * Return whether LIST allows all events in JSON, the output of pmu-events, and there is one.  WHY
 * (SIZE bytes) says which it does not allow.
 */
bool allow_all(const char *list, const char *json, char *why, size_t size);
