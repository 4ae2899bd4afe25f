/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are scaled, events that never counted, and the rows of several runs and units. */
#include "counting/counting-rows.h"
#include "tests/unit/tap.h"

#include <math.h>
#include <string.h>

static struct event events[] = {
	{ .name = "cycles", .unit = "count", .scale = 1 },
	{ .name = "energy", .unit = "Joules", .scale = 0.5 },
};
static const struct event_list list = { .event = events, .count = 2 };

static void test_scaled(void)
{
	tap(counting_scaled(&(struct counting_value){ 100, 50, 50 }) == 100, "a whole count stays");
	tap(counting_scaled(&(struct counting_value){ 100, 100, 40 }) == 250,
	   "a count of 40 % of the time is multiplied by 2.5");
	tap(isnan(counting_scaled(&(struct counting_value){ 0, 100, 0 })),
	   "an event that never counted has no value");
	tap(counting_scaled(&(struct counting_value){ 0, 0, 0 }) == 0,
	   "nothing ran, so nothing happened");
}

static void test_runs(void)
{
	struct counting_value first[] = { { 100, 50, 50 }, { 8, 10, 10 } };
	struct counting_value second[] = { { 80, 100, 25 }, { 4, 10, 10 } };
	struct counting_value third[] = { { 0, 50, 0 }, { 6, 10, 10 } };
	const struct counting_run run[] = {
		{ .value = first, .events = 2, .units = 1, .wall = 7 },
		{ .value = second, .events = 2, .units = 1, .wall = 9 },
		{ .value = third, .events = 2, .units = 1, .wall = 8 },
	};
	struct counting_rows rows = { 0 };

	counting_rows_add_events(&rows, &list, run, 3);
	counting_rows_add_times(&rows, run, 3, false);
	const struct counting_row *cycles = &rows.row[0], *energy = &rows.row[1];
	tap(rows.count == 3, "a row for each event, and the time");
	tap(cycles->is_scaled && fabs(cycles->running - 75.0 / 200) < 1e-12,
	   "a row with a scaled value is marked, with the share of the time");
	tap(cycles->runs == 2 && cycles->mean == 210 && cycles->min == 100 && cycles->max == 320,
	   "a run in which the event never counted is left out");
	tap(fabs(cycles->interval - 12.7062047 * 110) < 1e-3, "the interval of two runs");
	tap(!energy->is_scaled && energy->mean == 3 && energy->runs == 3,
	   "the scale of the unit is applied");
	tap(fabs(energy->interval - 4.30265273 / sqrt(3)) < 1e-6, "the interval of three runs");
	tap(rows.row[2].mean == 8, "the time has a row");
	counting_rows_release(&rows);
}

static void test_units(void)
{
	char *names[] = { (char *)(uintptr_t)"cpu 0", (char *)(uintptr_t)"cpu 1" };
	struct counting_value value[] = { { 1, 1, 1 }, { 2, 1, 1 }, { 3, 1, 1 }, { 4, 1, 1 } };
	const struct counting_run run = { .value = value, .events = 2, .units = 2, .unit = names };
	struct counting_rows rows = { 0 };

	counting_rows_add_events(&rows, &list, &run, 1);
	tap(rows.count == 4 && !strcmp(rows.row[2].of, "cpu 1") && rows.row[2].mean == 3,
	   "each unit has rows of its own");
	tap(isnan(rows.row[0].interval), "one run has no interval");
	counting_rows_release(&rows);
	names[0] = (char *)(uintptr_t)"";
	counting_rows_add_events(&rows, &list, &run, 1);
	tap(rows.count == 2 && !strcmp(rows.row[0].of, "cpu 1"),
	    "a unit that ended before it was counted has no rows");
	counting_rows_release(&rows);
	counting_rows_add_events(&rows, &list, NULL, 0);
	tap(rows.count == 2 && isnan(rows.row[0].mean), "no run has rows without values");
	counting_rows_release(&rows);
}

int main(void)
{
	test_scaled();
	test_runs();
	test_units();
	return tap_done();
}
