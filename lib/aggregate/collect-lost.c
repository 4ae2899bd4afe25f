/* SPDX-License-Identifier: Apache-2.0 */
/* Lost records: what the stream says about them, and what a profile shows. */
#include "aggregate/collect-internal.h"
#include "pprof/comments.h"

/*
 * Count lost samples.  The record does not say whose samples they were, so with a profile
 * per process or thread no profile shows them.
 */
void collect_take_lost(struct collect *c, const struct record *rec)
{
	const struct stream_events *events = c->events;
	struct loss loss;

	if (!loss_read(events, rec, &loss)) {
		stream_damaged(c->in, rec, "record with fields that do not fit into it");
		return;
	}
	running_lost(&c->running);
	uint64_t time = stream_time(c->in, rec);
	const struct selection *selection = &c->how.selection;
	if (time && (time < selection->from || (selection->to && time >= selection->to)))
		return;
	c->lost.of[loss.kind] += loss.count;
	c->labeler.sets = events->has_labels ? &c->tables.labels : NULL;
	if (loss.event < events->count && c->how.split == SPLIT_NOT &&
	    (loss.kind == LOSS_SAMPLES || loss.kind == LOSS_MIXED))
		profile_lost(&collect_subject(c, NULL)->profile, loss.event,
			     collect_lost_labels(c, time), loss.count, loss.kind == LOSS_MIXED);
}

/* Records that the recorder itself makes have no time: they are not from the kernel's rings. */
void collect_count_other(struct collect *c, const struct record *rec, uint64_t time)
{
	c->others += time && rec->type < PERF_RECORD_MAX && rec->type != PERF_RECORD_LOST &&
		     rec->type != PERF_RECORD_LOST_SAMPLES;
}

/*
 * Count one sample more than came, so that the share of samples is never 0, even if few records
 * came.
 */
void collect_settle_lost(const struct collect *c, struct profile *p)
{
	double samples = (double)(c->received + c->samples - c->samples_before) + 1;

	profile_settle_lost(p, stream_events(c->in), samples, (double)c->others,
			    stream_origin(c->in)->cpus);
}

static void comment_loss(struct profile *p, enum loss_kind kind, uint64_t count, bool is_shown)
{
	char text[COMMENT_SIZE];

	if (count == 0)
		return;
	comment_write_lost(text, kind, count, is_shown);
	profile_comment(p, "%s", text);
}

void collect_comment_losses(const struct collect *c, struct profile *p)
{
	struct loss_counts lost = loss_since(&c->lost, &c->lost_before);
	bool shows = !c->how.drop_lost && !c->how.split;

	comment_loss(p, LOSS_SAMPLES, lost.of[LOSS_SAMPLES], shows);
	comment_loss(p, LOSS_MIXED, loss_mixed(&lost), shows && lost.of[LOSS_MIXED]);
	comment_loss(p, LOSS_OTHERS, lost.of[LOSS_OTHERS], shows);
}
