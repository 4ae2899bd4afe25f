/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/derived.h"
#include "base/arena.h"
#include "event/topdown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A group "topdown" in the list of events. */
struct topdown_group {
	enum topdown_kind kind;
	size_t event[TOPDOWN_EVENTS];	/* indices in the list */
	double slots;			/* in a cycle */
	const char *pmu;
};

/* Return whether EVENT is called NAME in sysfs. */
static bool is_called(const struct event *event, const char *name)
{
	const char *slash = event->base ? strchr(event->base, '/') : NULL;
	size_t size = strlen(name);

	return slash && !strncmp(slash + 1, name, size) && slash[1 + size] == '/';
}

/* Set G to the group of the events from index FIRST on.  Return false if it is another group. */
static bool find_topdown(const struct event_list *events, size_t first, struct topdown_group *g)
{
	uint32_t group = events->event[first].group;

	if (!group || (first > 0 && events->event[first - 1].group == group))
		return false;
	*g = (struct topdown_group){ .slots = events->event[first].slots,
				     .pmu = events->event[first].pmu };
	for (int kind = 0; kind < TOPDOWN_KINDS; kind++) {
		int found = 0, needed = (int)topdown_events[kind].last -
					(int)topdown_events[kind].first + 1;
		for (size_t i = first; i < events->count && events->event[i].group == group; i++)
			for (int k = topdown_events[kind].first;
			     k <= (int)topdown_events[kind].last; k++)
				if (is_called(&events->event[i], topdown_event_name[k])) {
					g->event[k] = i;
					found++;
				}
		g->kind = (enum topdown_kind)kind;
		if (found == needed && (kind == TOPDOWN_METRICS || g->slots > 0))
			return true;
	}
	return false;
}

/* Append a row of the unit whose rows start at index UNIT. */
static struct counting_row *add_row(struct counting_rows *rows, size_t unit, const char *name,
				    const char *of_unit)
{
	struct counting_row *row = counting_rows_add(rows, COUNTING_DERIVED, name, of_unit);
	const char *of = rows->row[unit].of;

	row->of = of ? mem_text(of) : NULL;
	return row;
}

/* Set SHARE to the shares of G in run RUN.  Return false if it has none. */
static bool calculate_shares(const struct counting_rows *rows, size_t unit,
			     const struct topdown_group *g, size_t run,
			     double share[TOPDOWN_SHARES])
{
	double count[TOPDOWN_EVENTS] = { 0 };
	bool known = true;

	for (int i = topdown_events[g->kind].first; i <= (int)topdown_events[g->kind].last; i++) {
		count[i] = rows->row[unit + g->event[i]].value[run];
		known &= !isnan(count[i]);
	}
	return known && topdown_shares(g->kind, count, g->slots, share);
}

/* Append the four shares of G in the unit whose rows start at index UNIT. */
static void add_topdown(struct counting_rows *rows, size_t unit, const struct topdown_group *g,
			bool is_one)
{
	for (int k = 0; k < TOPDOWN_SHARES; k++) {
		char name[200];
		snprintf(name, sizeof(name), is_one ? "%s" : "%s (%.100s)", topdown_share_name[k],
			 g->pmu ? g->pmu : "");
		struct counting_row *row = add_row(rows, unit, name, DERIVED_PERCENT);
		for (size_t run = 0; run < rows->runs; run++) {
			double share[TOPDOWN_SHARES];
			if (calculate_shares(rows, unit, g, run, share))
				row->value[run] = 100 * share[k];
		}
		counting_row_complete(row, rows->runs);
	}
}

static void add_topdowns(struct counting_rows *rows, size_t unit, const struct event_list *events)
{
	struct topdown_group g;
	size_t groups = 0;

	for (size_t i = 0; i < events->count; i++)
		groups += find_topdown(events, i, &g);
	for (size_t i = 0; i < events->count; i++)
		if (find_topdown(events, i, &g))
			add_topdown(rows, unit, &g, groups == 1);
}

static void add_metrics(struct counting_rows *rows, size_t unit, const struct event_list *events,
			const struct user_metrics *m)
{
	double *count = mem_zeroed(events->count + 1, sizeof(*count));

	for (size_t k = 0; k < m->count; k++) {
		struct counting_row *row = add_row(rows, unit, m->metric[k].name, "");
		for (size_t run = 0; run < rows->runs; run++) {
			for (size_t e = 0; e < events->count; e++)
				count[e] = rows->row[unit + e].value[run];
			row->value[run] = metric_value(m, &m->metric[k], count);
		}
		counting_row_complete(row, rows->runs);
	}
	free(count);
}

void counting_rows_add_derived(struct counting_rows *rows, const struct event_list *events,
			       const struct user_metrics *metrics)
{
	size_t all = rows->count;

	if (events->count == 0 && metrics)
		add_metrics(rows, 0, events, metrics);
	for (size_t unit = 0; events->count && unit + events->count <= all; unit += events->count) {
		add_topdowns(rows, unit, events);
		if (metrics)
			add_metrics(rows, unit, events, metrics);
	}
}
