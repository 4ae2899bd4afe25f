/* SPDX-License-Identifier: Apache-2.0 */
/* tracing - writes the formats of tracepoints, which readers of raw samples need. */
#pragma once
#include "base/output.h"
#include "event/event.h"

/*
 * Write a TRACING_DATA record with the formats of the tracepoints in EVENTS, if there are any.
 */
void tracing_write(struct output *out, const struct event_list *events);
