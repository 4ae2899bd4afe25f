/* SPDX-License-Identifier: Apache-2.0 */
/* encode - what an event comes to, shown to people, to scripts and to perf. */
#pragma once
#include "event/event.h"

/* Print each event of LIST: its name, and what perf_event_open(2) is told. */
void encode_print(const struct event_list *list);

/* The same as a JSON array of objects, whose members pmu-events(1) lists. */
void encode_print_json(const struct event_list *list);

/* LIST as what perf record -e takes, on one line. */
void encode_print_perf(const struct event_list *list);

/*
 * Open each event of LIST, and print whether it can be used.  JSON: as an
 * array of objects.  False: one cannot.
 */
bool check_print(const struct event_list *list, bool json);
