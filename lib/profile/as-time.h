/* SPDX-License-Identifier: Apache-2.0 */
/*
 * as-time - estimates the time of samples of cycles from the totals of their event: how many
 * cycles were counted, in how much time.  The estimate takes the clock of all CPUs as constant.
 */
#pragma once
#include "record/events.h"

struct profile;

/*
 * Set *EVENT to the event whose cycles can be shown as time.  Return NULL, or why there is none
 * in this stream.
 */
const char *as_time_refuses(const struct stream_events *events, uint32_t *event);

/* Return the ns in a cycle of the event that P shows as time, and set *EVENT; 0: there is none. */
double as_time_factor(const struct profile *p, const struct stream_events *events,
		      uint32_t *event);
