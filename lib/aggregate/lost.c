/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lost samples: how many there were, what they stand for, and where a profile shows them.
 *
 * A lost sample is given the mean period of its event.  But all samples together never stand for
 * more than was counted, and the samples of a clock never for more time than the CPUs had.  At a
 * fixed period, this also limits the number of lost samples.
 */
#include "aggregate/profile.h"
#include "record/words.h"

#include <stdlib.h>

void profile_lost(struct profile *p, uint32_t event, uint32_t labels, uint64_t count,
		  bool is_mixed)
{
	struct profile_lost *last = p->losts ? &p->lost[p->losts - 1] : NULL;
	struct profile_event *e = profile_event_at(p, event);

	e->lost += count;
	e->mixed += is_mixed ? count : 0;
	if (last && last->event == event && last->labels == labels) {
		last->count += count;
		return;
	}
	p->lost = array_grow(p->lost, p->losts, sizeof(*p->lost));
	p->lost[p->losts++] = (struct profile_lost){ event, labels, count };
}

void profile_total(struct profile *p, uint32_t event, uint64_t count)
{
	profile_event_at(p, event)->total += count;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t multiply(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return product < UINT64_MAX ? (uint64_t)product : UINT64_MAX;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Return the most that the lost samples of EVENT can stand for; UINT64_MAX: unknown. */
static uint64_t most_lost(const struct profile *p, const struct perf_event_attr *attr,
			  const struct profile_event *e, uint32_t cpus)
{
	uint64_t time = multiply(less(p->last_time, p->first_time), cpus);
	uint64_t most = UINT64_MAX;

	if (e->is_waiting)	/* its values are times, not counts */
		return most;
	if (e->total)
		most = less(e->total, e->sum);
	if (event_is_clock(attr) && time)
		most = lesser(most, less(time, e->sum));
	return most;
}

void profile_settle_lost(struct profile *p, const struct stream_events *events, double kept,
			 double others, uint32_t cpus)
{
	const double share = kept / (kept + others);

	for (uint32_t i = 0; i < p->events && i < events->count; i++) {
		struct profile_event *e = &p->event[i];
		const struct perf_event_attr *attr = &events->event[i].attr;
		uint64_t period = event_mean_period(attr, e->samples, e->sum);
		uint64_t most = most_lost(p, attr, e, cpus);
		uint64_t samples = (uint64_t)((double)e->mixed * share + 0.5);
		if (period && most != UINT64_MAX)
			samples = lesser(samples, most / period);
		e->lost_samples = e->lost - e->mixed + samples;
		/* the periods of a frequency vary: those of lost samples may be shorter */
		if (!attr->freq && period && most != UINT64_MAX)
			e->lost_samples = lesser(e->lost_samples, most / period + 1);
		/* the lost records are of all threads: waits in proportion, rounded up */
		if (p->delays)
			e->lost_samples = (uint64_t)((double)e->samples / kept *
				((double)(e->lost - e->mixed) + (double)e->mixed * share) +
				0.999999);
		e->lost_sum = lesser(multiply(e->lost_samples, period), most);
	}
}

/* Return PART / WHOLE of SUM.  PART is at most WHOLE, which is not 0. */
static uint64_t share_of(uint64_t sum, uint64_t part, uint64_t whole)
{
	return (uint64_t)((unsigned __int128)sum * part / whole);
}

void profile_add_lost(struct profile *p, const struct stream_events *events)
{
	for (size_t i = 0; i < p->losts; i++) {
		const struct profile_lost *l = &p->lost[i];
		struct profile_event *e = &p->event[l->event];
		if (l->event >= events->count || e->lost == 0)
			continue;
		/* Each part gets its rounded end less its rounded start, so the sum is exact. */
		uint64_t from = e->lost_shown, to = from + l->count;
		uint64_t samples = share_of(e->lost_samples, to, e->lost) -
				   share_of(e->lost_samples, from, e->lost);
		uint64_t sum = share_of(e->lost_sum, to, e->lost) -
			       share_of(e->lost_sum, from, e->lost);
		e->lost_shown = to;
		if (samples || sum)
			profile_add_named(p, WORD_LOST, l->labels, l->event, samples, sum);
	}
	p->losts = 0;
}
