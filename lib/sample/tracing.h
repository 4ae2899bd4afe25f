/* SPDX-License-Identifier: Apache-2.0 */
/* tracing - what the fields of tracepoints are, as readers of their raw samples need it. */
#pragma once
#include "base/output.h"
#include "event/event.h"

/*
 * Write a TRACING_DATA record with the formats of the tracepoints in EVENTS;
 * nothing where there are none.
 */
void tracing_write(struct output *out, const struct event_list *events);
