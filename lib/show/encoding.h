/* SPDX-License-Identifier: Apache-2.0 */
/* encoding - prints encoded events for people, for scripts and for perf. */
#pragma once
#include "event/event.h"

/* Print each event of LIST: its name and its attributes for perf_event_open(2). */
void encoding_print(const struct event_list *list);

/* Print LIST as a JSON array of objects; pmu-events(1) lists the members. */
void encoding_print_json(const struct event_list *list);

/* Print LIST on one line, as an argument of perf record -e. */
void encoding_print_perf(const struct event_list *list);

/*
 * Try to open each event of LIST, and print whether that works, as text or as a JSON array.
 * False: an event cannot be opened.
 */
bool encoding_print_check(const struct event_list *list, bool json);
