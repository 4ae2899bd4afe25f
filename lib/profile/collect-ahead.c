/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples are read some at a time.  To count one takes three places in memory, each known from
 * the one before, and none of them near those of the next sample: the slot of its chain's key, the
 * entry of the key, and the stack.  Each place is prefetched for all samples before the next.
 */
#include "profile/collect-internal.h"

void collect_set_key(struct collect *c, struct collect_ahead *a)
{
	const struct sample *s = &a->sample;

	a->has_key = !c->how.resolve.symbols && !c->how.data_frames && !s->branches.count;
	if (!a->has_key)
		return;
	uint64_t context = hash_more(resolver_version(c->resolver, s), s->ip);
	context = hash_more(context, s->misc & PERF_RECORD_MISC_CPUMODE_MASK);
	a->key = chains_key(s->callchain.at, 8 * s->callchain.count, context << 1);
	a->entry = TABLE_NONE;
}

/* The next samples probably belong to the same profile as the last one. */
static void prefetch(struct collect *c, uint32_t count)
{
	struct collect_ahead *a = c->ahead, *end = a + count;

	if (c->last_part >= c->parts)
		return;
	const struct profile *p = &c->part[c->last_part].profile;
	for (a = c->ahead; a < end; a++)
		if (a->has_key)
			chains_prefetch_slot(&p->chains, a->key);
	for (a = c->ahead; a < end; a++)
		if (a->has_key)
			chains_prefetch_entry(&p->chains, a->key);
	for (a = c->ahead; a < end; a++)
		if (a->has_key && chains_find(&p->chains, a->key, &a->entry))
			stacks_prefetch(&p->stacks, p->chains.entry[a->entry].hint);
}

uint32_t collect_read_ahead(struct collect *c, const struct record *first)
{
	struct record rec = *first;
	uint32_t count = 0;

	do {
		struct collect_ahead *a = &c->ahead[count];
		a->rec = rec;
		a->has_key = false;
		if (!stream_sample(c->in, &rec, &a->sample))
			continue;
		if (!c->unwind)
			collect_set_key(c, a);
		count++;
	} while (count < AHEAD_MAX && stream_next_sample(c->in, &rec));
	if (count > 1)
		prefetch(c, count);
	return count;
}
