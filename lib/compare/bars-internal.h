/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bars-internal - which sample types of a profile belong together, by their names; and the rows of
 * the sums.
 */
#pragma once
#include "compare/bars.h"

/* Return the index of the type NAME followed by MORE with the unit "count", or TABLE_NONE. */
uint32_t bars_type_named(const struct decoded *d, const char *name, const char *more);

/*
 * Return the type that counts the samples of type VALUE, by the names that pmu-topprof or other
 * tools give it, or TABLE_NONE.
 */
uint32_t bars_count_by_name(const struct decoded *d, uint32_t value);

/* Return whether TYPE counts contentions. */
bool bars_counts_contentions(const struct decoded *d, uint32_t type);

/* Return whether TYPE is the time NAME; that time; the count of the clock's samples. */
bool bars_is_time(const struct decoded *d, uint32_t type, const char *name);
uint32_t bars_time_named(const struct decoded *d, const char *name);
uint32_t bars_count_of_clock(const struct decoded *d);

/* Make S have at least ROWS rows. */
void bars_make_rows(struct bars_sums *s, uint32_t rows);
