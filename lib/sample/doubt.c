/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/doubt.h"

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

uint64_t doubt_lost(const struct counters_total *t, const struct doubt_samples *samples)
{
	uint64_t made = samples->period ? t->twice / samples->period : 0;

	if (samples->in_part && t->count)	/* as many as its part of the count */
		return (uint64_t)((double)t->lost * (double)less(t->count, t->twice) /
				  (double)t->count);
	return less(t->lost, less(made, samples->dropped));
}

uint64_t doubt_newly_lost(const struct counters_total *t, const struct doubt_samples *samples,
			  uint64_t written)
{
	return less(doubt_lost(t, samples), written);
}

void doubt_leave_out(struct counters_total *t, const struct doubt_samples *samples)
{
	if (!t->twice && !t->in_doubt)
		return;
	t->lost = doubt_lost(t, samples);
	t->count = less(t->count, t->twice);
	if (samples->period && t->lost > less(t->count, samples->sum) / samples->period)
		t->lost = less(t->count, samples->sum) / samples->period;
	if (!samples->in_part && t->in_doubt > t->lost * samples->period)
		t->in_doubt = t->lost * samples->period;
}

double doubt_percent(const struct counters_total *t)
{
	if (t->in_doubt <= t->count / 100)
		return 0;
	return 100 * (double)t->in_doubt / (double)(less(t->count, t->in_doubt) + 1);
}
