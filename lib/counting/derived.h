/* SPDX-License-Identifier: Apache-2.0 */
/* derived - rows that are calculated from events: shares of the slots, and a user's metrics. */
#pragma once
#include "counting/counting-rows.h"
#include "counting/user-metrics.h"

/* The unit of a share: 100 is all. */
#define DERIVED_PERCENT "%"

/*
 * Append rows to ROWS, which has those of EVENTS and nothing else: the shares of each group
 * "topdown", and METRICS, if that is not NULL.  Each run has a value of its own, so their intervals
 * are those of the runs.
 */
void counting_rows_add_derived(struct counting_rows *rows, const struct event_list *events,
			       const struct user_metrics *metrics);
