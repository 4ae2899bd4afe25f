/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The labels "slice" and "run" of a collection.  Until a profile is complete, a slice has
 * its number from time 0 of the clock, and no run.
 */
#include "aggregate/collect-blame.h"
#include "aggregate/collect-internal.h"
#include "aggregate/labeler-internal.h"
#include "base/digest.h"

#include <inttypes.h>
#include <stdlib.h>

/* How the values of the label sets change. */
struct relabeling {
	uint32_t slice, run;	/* keys; if there are slices */
	uint32_t kept;		/* bits of the keys that DROP_OTHERS leaves */
	unsigned halved;	/* how often pairs of slices became one */
	bool number;		/* count slices from 1 (pprof drops a 0), and set RUN_IS */
	bool forget;		/* neither slice nor run */
	bool no_slices;		/* the sets have neither slice nor run */
	bool drop_others;	/* no labels but those in KEPT */
	int64_t before, run_is;	/* number before the first slice; text of the run */
	int64_t last;		/* number of the last slice with a sample */
};

static void change_values(const struct relabeling *by, uint32_t keys, int64_t *value)
{
	int64_t slice = by->no_slices ? LABEL_ABSENT : value[by->slice];
	bool has = slice != LABEL_ABSENT && !by->forget;

	for (uint32_t i = 0; i < keys && by->drop_others; i++)
		if (!(by->kept >> i & 1))
			value[i] = LABEL_ABSENT;
	if (by->no_slices)
		return;
	if (slice != LABEL_ABSENT)
		slice >>= by->halved;
	if (slice != LABEL_ABSENT && by->number) {	/* losses may be outside of all samples */
		slice = slice > by->last ? by->last : slice;
		slice = slice > by->before ? slice - by->before : 1;
	}
	value[by->slice] = has ? slice : LABEL_ABSENT;
	value[by->run] = has && by->number ? by->run_is : LABEL_ABSENT;
}

/* Change all label sets, and the stacks and waits that have them.  RUN: a text; or NULL. */
static void relabel(struct collect *c, struct relabeling *by, const char *run)
{
	struct labels *l = &c->labeler.labels, past = labels_restart(l);
	uint32_t *moved = mem_zeroed((size_t)past.sets + 1, sizeof(*moved));

	by->run_is = run ? intern_text(&past.texts, run) : 0;
	for (uint32_t i = 1; i < past.sets; i++) {
		change_values(by, past.keys, past.value + (size_t)i * past.keys);
		moved[i] = labels_take(l, &past, i);
	}
	for (uint32_t i = 0; i < c->subjects; i++)
		profile_relabel(&c->subject[i].profile, moved);
	for (uint32_t i = 0; i < c->off_cpu.count; i++)
		if (c->off_cpu.wait[i].is_waiting)
			c->off_cpu.wait[i].labels = moved[c->off_cpu.wait[i].labels];
	if (c->blame)
		collect_relabel_blame(c, moved);
	free(moved);
	labels_release(&past);
}

static struct relabeling no_change(const struct collect *c)
{
	return (struct relabeling){ .slice = c->labeler.slice_key, .run = c->labeler.run_key,
				    .kept = c->labeler.kept };
}

void collect_slice(struct collect *c, const struct resolved_sample *s)
{
	struct slices *slices = &c->labeler.slices;

	if (slices->most == 0 || s->time == 0)
		return;
	struct relabeling by = no_change(c);
	by.halved = slices_reach(slices, s->time, s->pid);
	if (by.halved) {
		relabel(c, &by, NULL);
		collect_forget_threads(c);
	}
}

uint32_t collect_lost_labels(struct collect *c, uint64_t time)
{
	struct labeler *l = &c->labeler;
	int64_t value[LABEL_KEYS_MAX];
	bool has_slice = l->slices.span && time;

	for (uint32_t i = 0; i < LABEL_KEYS_MAX; i++)
		value[i] = LABEL_ABSENT;
	if (has_slice)
		value[l->slice_key] = (int64_t)slices_at(&l->slices, time);
	bool has_state = labeler_add_unknown(l, value);
	return has_slice || has_state ? labels_set(&l->labels, value) : 0;
}

/*
 * What distinguishes this run from others: its host, the time when the host started, and the first
 * sample.
 */
static void name_run(const struct collect *c, char name[9])
{
	const struct stream_origin *o = stream_origin(c->in);
	const struct slices *slices = &c->labeler.slices;
	uint64_t digest = o->host ? digest_bytes(o->host, strlen(o->host)) : 0;

	if (o->has_clock)
		digest = digest_more(digest, o->wall_time - o->clock_time);
	digest = digest_more(digest, slices->start);
	digest = digest_more(digest, (uint32_t)slices->pid);
	snprintf(name, 9, "%08" PRIx32, (uint32_t)(digest ^ digest >> 32));
}

/* A stack counts once for each slice that it is in. */
static uint64_t count_stacks(const struct collect *c)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < c->subjects; i++)
		count += c->subject[i].profile.stacks.count;
	return count;
}

/*
 * Join pairs of slices until there are few enough stacks, or few slices.  This is done only at the
 * end, so that the result does not depend on the order of the samples.
 */
static void join_slices(struct collect *c)
{
	enum { LEAST = 20 };
	struct slices *slices = &c->labeler.slices;
	struct relabeling by = no_change(c);

	by.halved = 1;
	while (c->how.slice_stacks && slices->last - slices->first >= 2 * LEAST &&
	       count_stacks(c) > c->how.slice_stacks) {
		relabel(c, &by, NULL);
		slices->first /= 2;
		slices->last /= 2;
		slices->span *= 2;
	}
}

/* Number the slices, and name the run. */
static void number_slices(struct collect *c, bool drop_others)
{
	struct slices *slices = &c->labeler.slices;
	struct relabeling by = no_change(c);
	char run[9];

	join_slices(c);
	by.number = true;
	by.before = (int64_t)slices->first - 1;
	by.last = (int64_t)slices->last;
	by.drop_others = drop_others;
	name_run(c, run);
	relabel(c, &by, run);
	for (uint32_t i = 0; i < c->subjects; i++)
		memcpy(c->subject[i].profile.run, run, sizeof(run));
}

void collect_complete_labels(struct collect *c, bool drop_others)
{
	struct relabeling by = no_change(c);

	by.no_slices = by.drop_others = true;
	if (c->labeler.slices.span)
		number_slices(c, drop_others);
	else if (drop_others && c->labeler.kept)
		relabel(c, &by, NULL);
}

void collect_forget_slices(struct collect *c)
{
	struct slices *slices = &c->labeler.slices;
	struct relabeling by = no_change(c);

	if (slices->span == 0)
		return;
	*slices = (struct slices){ .most = slices->most };
	by.forget = true;
	relabel(c, &by, NULL);
}
