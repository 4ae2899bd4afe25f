/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples are read in batches.  Counting a sample loads from three addresses: the slot of its
 * chain's key, the key's entry, and the stack.  Each depends on the load before it, and none is
 * near those of the next sample.  So the slots of the whole batch are prefetched first, then its
 * entries, then its stacks.
 */
#include "aggregate/collect-internal.h"
#include "base/short-ways.h"

void collect_set_key(struct collect *c, struct collect_ahead *a)
{
	const struct sample *s = &a->sample;

	a->has_key = SHORT_WAYS && !c->how.data_frames && !s->branches.count;
	if (a->has_key && c->how.resolve.symbols)
		a->resolver_key = resolver_key(c->resolver, c->in, s);
	else if (a->has_key)
		collect_make_key(a, resolver_version(c->resolver, s), s->ip, &s->callchain);
}

/* The next samples probably belong to the same profile as the last one. */
static void prefetch(struct collect *c, uint32_t count)
{
	struct collect_ahead *a = c->ahead, *end = a + count;

	if (c->last_subject >= c->subjects)
		return;
	const struct profile *p = &c->subject[c->last_subject].profile;
	for (a = c->ahead; a < end; a++)
		if (a->has_key)
			chains_prefetch_slot(&p->chains, a->key);
	for (a = c->ahead; a < end; a++)
		if (a->has_key)
			a->entry = chains_prefetch_entry(&p->chains, a->key);
	for (a = c->ahead; a < end; a++)
		if (a->has_key && a->entry < p->chains.entries)
			stacks_prefetch(&p->stacks, p->chains.entry[a->entry].hint);
}

/* Read the SAMPLE in A->rec.  Return false if it is damaged. */
static bool read_sample(struct collect *c, struct collect_ahead *a)
{
	a->has_key = a->is_whole = false;
	a->thread = NULL;
	if (collect_read_known(c, a))
		return true;
	a->is_whole = stream_sample(c->in, &a->rec, &a->sample);
	if (a->is_whole && !collect_changes_chains(c))
		collect_set_key(c, a);
	return a->is_whole;
}

uint32_t collect_read_ahead(struct collect *c, const struct record *first)
{
	uint32_t count = 0;

	c->ahead[0].rec = *first;
	do
		count += read_sample(c, &c->ahead[count]);
	while (SHORT_WAYS && count < AHEAD_MAX && stream_next_sample(c->in, &c->ahead[count].rec));
	if (count > 1)
		prefetch(c, count);
	return count;
}

/* The same as prefetch() for COUNT samples, whose chains are found by their numbers. */
static void prefetch_chains(struct collect *c, const struct record *rec, uint32_t count)
{
	const struct chain_entry *entry[AHEAD_MAX];
	uint32_t number[AHEAD_MAX];

	if (c->last_subject >= c->subjects || c->how.split != SPLIT_NOT)
		return;
	const struct profile *p = &c->subject[c->last_subject].profile;
	for (uint32_t i = 0; i < count; i++)
		number[i] = resolved_prefetch(&c->reader, &rec[i]);
	for (uint32_t i = 0; i < count; i++) {
		entry[i] = chains_numbered(&p->chains, number[i], c->reader.chain_restarts);
		__builtin_prefetch(entry[i]);
	}
	for (uint32_t i = 0; i < count; i++)
		if (entry[i])
			stacks_prefetch(&p->stacks, entry[i]->hint);
}

uint32_t collect_read_chains(struct collect *c, const struct record *first,
			     struct record rec[AHEAD_MAX])
{
	uint32_t count = 1;

	rec[0] = *first;
	while (SHORT_WAYS && count < AHEAD_MAX && stream_next_chain_sample(c->in, &rec[count]))
		count++;
	prefetch_chains(c, rec, count);
	return count;
}

void collect_decode(struct collect *c, struct collect_ahead *a)
{
	if (!a->is_whole)	/* not damaged: it was decoded in part */
		a->is_whole = stream_sample(c->in, &a->rec, &a->sample);
}
