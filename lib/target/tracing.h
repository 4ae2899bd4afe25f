/* SPDX-License-Identifier: Apache-2.0 */
/* tracing - writes the formats of tracepoints, which readers of raw samples need. */
#pragma once
#include "base/buffer.h"
#include "base/output.h"
#include "event/event.h"

/*
 * Append the formats of the tracepoints in EVENTS to DATA, as tracepoints_add() reads them.  Return
 * false if there are no such events.
 */
bool tracing_data(struct buffer *data, const struct event_list *events);

/*
 * Write a TRACING_DATA record with the formats of the tracepoints in EVENTS, if there are any.
 */
void tracing_write(struct output *out, const struct event_list *events);
