/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/topdown-rows.h"
#include "base/arena.h"
#include "pprof/figures.h"
#include "pprof/sample-type.h"
#include "stats/distribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_GROUPS = 5 };

/* The sums of a row, by event and block. */
struct sums {
	const double *weight[TOPDOWN_EVENTS];
	double total[TOPDOWN_EVENTS];
};

/* What the jackknife adds up for a share. */
struct spread {
	uint32_t groups;
	double mean, squares;
};

static uint32_t type_of(const struct decoded *d, enum topdown_event event)
{
	return decoded_find_type(d, topdown_event_name[event]);
}

/* Return whether D has any event of KIND. */
static bool has_some(const struct decoded *d, enum topdown_kind kind)
{
	for (int i = topdown_events[kind].first; i <= (int)topdown_events[kind].last; i++)
		if (i != TOPDOWN_CYCLES && type_of(d, (enum topdown_event)i) != TABLE_NONE)
			return true;
	return false;
}

/* Find out how many slots a cycle has.  Return false (reported) if D does not say that. */
static bool find_slots(struct topdown_rows *t, const struct decoded *d, struct report *report)
{
	const char *fact;
	uint32_t slots = 0;

	for (uint32_t i = 0; t->kind == TOPDOWN_STALLS && (fact = decoded_fact(d, i)); i++)
		if (figures_read_slots(fact, &slots))
			break;
	t->slots = slots;
	if (t->kind == TOPDOWN_STALLS && slots == 0)
		report_error(report, "--ratio topdown: the profile does not say how many slots a "
			     "cycle has: record it with pmu-sample -e topdown");
	return t->kind == TOPDOWN_METRICS || slots > 0;
}

/* Count EVENT, whose sample type in D is TYPE. */
static bool count_event(struct topdown_rows *t, enum topdown_event event, const struct decoded *d,
			uint32_t type, const struct top_how *how)
{
	t->top[event].how = *how;
	t->top[event].how.calls = false;
	top_add_with_bars(&t->top[event], d, type, &t->bars[event], NULL);
	return t->bars[event].why_not || t->bars[event].is_group;
}

/* Set SUMS to those of ROW, a name, or of all if ROW is NULL. */
static void sum_up(struct topdown_rows *t, const char *row, enum bars_of kind, struct sums *sums)
{
	*sums = (struct sums){ .total = { 0 } };
	for (int i = topdown_events[t->kind].first; i <= (int)topdown_events[t->kind].last; i++) {
		struct bars *b = &t->bars[i];
		uint32_t number = row && !b->why_not ? intern_text(&t->top[i].names, row) : 0;
		sums->weight[i] = t->none;
		if (b->why_not || (row && number >= t->top[i].rows))
			continue;
		struct share_part part = { .weight = b->weight, .total = b->whole.total };
		if (row)
			part = bars_part(b, number, kind);
		sums->weight[i] = part.weight;
		sums->total[i] = part.total;
	}
}

/*
 * Leave out the blocks from *I on that are of one group, and add the shares of the rest to SPREAD.
 * Move *I after the group.  Return false if the rest has no shares.
 */
static bool leave_out(const struct topdown_rows *t, const struct share_whole *w,
		      const struct sums *sums, const uint32_t *group, uint32_t *i,
		      struct spread spread[TOPDOWN_SHARES])
{
	double rest[TOPDOWN_EVENTS], share[TOPDOWN_SHARES];
	uint32_t first = *i;
	bool any = false;

	memcpy(rest, sums->total, sizeof(rest));
	do {
		for (int k = topdown_events[t->kind].first;
		     k <= (int)topdown_events[t->kind].last; k++) {
			rest[k] -= sums->weight[k][*i];
			any |= sums->weight[k][*i] > 0;
		}
		++*i;
	} while (group && *i < w->blocks && group[*i] == group[first]);
	if (!any)
		return true;
	if (!topdown_shares(t->kind, rest, t->slots, share))
		return false;
	for (int k = 0; k < TOPDOWN_SHARES; k++) {
		struct spread *s = &spread[k];
		double from_mean = share[k] - s->mean;
		s->mean += from_mean / ++s->groups;
		s->squares += from_mean * (share[k] - s->mean);
	}
	return true;
}

/*
 * Raise HALF to the half widths of the shares' intervals, by the blocks of each GROUP.  Return
 * false if there are too few groups.
 */
static bool widen(const struct topdown_rows *t, const struct share_whole *w,
		  const struct sums *sums, const uint32_t *group, double half[TOPDOWN_SHARES])
{
	struct spread spread[TOPDOWN_SHARES] = { { 0 } };

	for (uint32_t i = 0; i < w->blocks; )
		if (!leave_out(t, w, sums, group, &i, spread))
			return false;
	if (spread[0].groups < LEAST_GROUPS)
		return false;
	for (int k = 0; k < TOPDOWN_SHARES; k++) {
		double n = spread[k].groups;
		half[k] = fmax(half[k], stats_t_quantile(0.025, n - 1) *
			       sqrt((n - 1) / n * spread[k].squares));
	}
	return true;
}

/* Set SHARE from SUMS.  IS_TOTAL: these were counted, and are exact if no block says more. */
static void compute(const struct topdown_rows *t, const struct sums *sums, bool is_total,
		    struct ratio share[TOPDOWN_SHARES])
{
	const struct share_whole *w = &t->bars[topdown_events[t->kind].first].whole;
	double value[TOPDOWN_SHARES], half[TOPDOWN_SHARES] = { 0 };

	memset(share, 0, TOPDOWN_SHARES * sizeof(*share));
	if (!topdown_shares(t->kind, sums->total, t->slots, value))
		return;
	bool varies = widen(t, w, sums, NULL, half);
	widen(t, w, sums, w->pair, half);
	for (int k = 0; k < TOPDOWN_SHARES; k++)
		share[k] = (struct ratio){ .value = value[k], .low = fmax(0, value[k] - half[k]),
					   .high = fmin(1, value[k] + half[k]),
					   .is_known = varies || is_total, .is_exact = !varies };
}

/* Count all events of D.  Return false (reported) if D lacks one. */
static bool count_all(struct topdown_rows *t, const struct decoded *d, const struct top_how *how,
		      struct report *report)
{
	for (int i = topdown_events[t->kind].first; i <= (int)topdown_events[t->kind].last; i++) {
		uint32_t type = type_of(d, (enum topdown_event)i);
		if (type == TABLE_NONE) {
			sample_type_refuse(d, topdown_event_name[i], NULL, report);
			return false;
		}
		if (!count_event(t, (enum topdown_event)i, d, type, how)) {
			report_error(report, "--ratio topdown: '%s' was not read together with the "
				     "other events: record them with pmu-sample -e topdown",
				     topdown_event_name[i]);
			return false;
		}
	}
	const struct bars *first = &t->bars[topdown_events[t->kind].first];
	if (first->why_not)
		report_error(report, "--ratio topdown: %s", first->why_not);
	return !first->why_not;
}

struct topdown_rows *topdown_rows_new(const struct decoded *d, const struct top_how *how,
				      struct report *report)
{
	struct topdown_rows *t = mem_zeroed(1, sizeof(*t));
	struct sums sums;

	t->kind = has_some(d, TOPDOWN_STALLS) ? TOPDOWN_STALLS : TOPDOWN_METRICS;
	if (!count_all(t, d, how, report) || !find_slots(t, d, report)) {
		topdown_rows_free(t);
		return NULL;
	}
	uint32_t blocks = t->bars[topdown_events[t->kind].first].whole.blocks;
	t->none = mem_zeroed((size_t)blocks + 1, sizeof(*t->none));
	sum_up(t, NULL, BARS_FLAT, &sums);
	compute(t, &sums, true, t->total);
	return t;
}

void topdown_rows_of(struct topdown_rows *t, const char *name, enum bars_of kind,
		     struct ratio share[TOPDOWN_SHARES])
{
	struct sums sums;

	sum_up(t, name, kind, &sums);
	compute(t, &sums, false, share);
}

void topdown_rows_free(struct topdown_rows *t)
{
	for (int i = 0; t && i < TOPDOWN_EVENTS; i++) {
		top_release(&t->top[i]);
		bars_release(&t->bars[i]);
	}
	if (t)
		free(t->none);
	free(t);
}
