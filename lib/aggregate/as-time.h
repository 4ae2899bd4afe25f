/* SPDX-License-Identifier: Apache-2.0 */
/*
 * as-time - estimates the time of samples of cycles from the totals of their event: the number of
 * cycles and the time in which they were counted.  It assumes a constant clock on all CPUs.
 */
#pragma once
#include "record/events.h"

/*
 * Set *EVENT to the event whose cycles can be shown as time, and return NULL.  If the stream has no
 * such event, return the reason.
 */
const char *as_time_refuses(const struct stream_events *events, uint32_t *event);
