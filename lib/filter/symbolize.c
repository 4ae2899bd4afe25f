/* SPDX-License-Identifier: Apache-2.0 */
#include "filter/symbolize.h"
#include "base/short-ways.h"
#include "base/version.h"
#include "labels/label-join.h"
#include "record/group.h"
#include "stream/writer.h"
#include "unwind/leaf.h"

#include <inttypes.h>
#include <stdlib.h>

enum { AHEAD_MAX = 16 };	/* samples that are read at a time */

/* A sample that was read, before it is resolved. */
struct ahead {
	struct record rec;
	struct sample sample;
	struct resolver_key key;
};

struct symbolizer {
	struct resolver_options how;
	struct report *report;
	struct stream_reader *in;
	struct output *out;
	struct resolver *resolver;
	struct resolved tables;
	struct resolved_writer writer;
	struct groups groups;
	struct label_join labels;
	struct label_counts label_counts;
	struct leaf_callers leaf_callers;
	struct ahead ahead[AHEAD_MAX];
};

struct symbolizer *symbolizer_new(const struct resolver_options *how, struct report *report)
{
	struct symbolizer *s = mem_zeroed(1, sizeof(*s));

	s->how = *how;
	s->report = report;
	s->leaf_callers.where = &s->how.where;
	s->resolver = resolver_new(&s->how, &s->tables, report);
	return s;
}

void symbolizer_begin(struct symbolizer *s, struct stream_reader *in, struct output *out,
		      const char *const program[2])
{
	s->in = in;
	s->out = s->writer.out = out;
	writer_header(out);
	resolved_write_tool(out, program[0], version_text, program[1]);
}

/* Write RESOLVED, once for each event of the group that SAMPLE reads. */
static void write_increases(struct symbolizer *s, const struct sample *sample,
			    struct resolved_sample *resolved)
{
	struct group_increase increase[GROUP_EVENTS_MAX];
	uint32_t increases = groups_split(&s->groups, stream_events(s->in), sample, increase);

	for (uint32_t i = 0; i < increases; i++) {
		resolved->event = increase[i].event;
		resolved->period = increase[i].period;
		resolved_write_sample(&s->writer, &s->tables, resolved);
	}
}

/* Forget the counters of threads that have ended. */
static void forget_ended(struct symbolizer *s)
{
	const struct tasks *tasks = resolver_tasks(s->resolver);

	for (uint32_t i = 0; i < tasks->forgotten_count; i++)
		groups_forget(&s->groups, tasks->forgotten[i].tid);
}

/* Forget all definitions: what is still in use is looked up and written again. */
static void restart(struct symbolizer *s)
{
	struct resolved past;

	resolved_write_restart(&s->writer, &s->tables);
	resolver_restart(s->resolver, &past, NULL, 0);
	label_sets_forget(&s->tables.labels);
	resolved_release(&past);
}

/* Forget definitions if there are many. */
static void limit_definitions(struct symbolizer *s)
{
	const struct resolved_writer *w = &s->writer;

	if (resolver_has_many_chains(s->resolver, w->chain_bytes, w->bytes)) {
		resolved_write_chains_restart(&s->writer, &s->tables);
		resolver_restart_chains(s->resolver);
	} else if (resolver_is_full(s->resolver, w->bytes + w->chain_bytes) ||
		   label_sets_is_full(&s->tables.labels)) {
		restart(s);
	}
}

/*
 * Read FIRST, a SAMPLE, and the samples after it that have come.  Return their number.  What is
 * known of their callchains is far apart in memory, so it is loaded for all of them first.
 */
static uint32_t read_ahead(struct symbolizer *s, const struct record *first)
{
	/* leaf_callers_add() keeps the callchain of one sample only */
	uint32_t most = SHORT_WAYS && !s->leaf_callers.unwind ? AHEAD_MAX : 1, count = 0;
	struct ahead *a = s->ahead;

	a->rec = *first;
	do {
		if (stream_sample(s->in, &a->rec, &a->sample)) {
			leaf_callers_add(&s->leaf_callers, s->in, &a->sample);
			a->key = resolver_key(s->resolver, s->in, &a->sample);
			a = &s->ahead[++count];
		}
	} while (count < most && stream_next_sample(s->in, &a->rec));
	return count;
}

static void write_sample(struct symbolizer *s, struct ahead *a)
{
	struct resolved_sample resolved;

	if (label_join_take(&s->labels, s->in, &a->rec, &a->sample))
		return;
	label_counts_add(&s->label_counts, label_state(a->sample.labels.is_known,
			 a->sample.labels.status), a->sample.labels.flags);
	resolver_sample(s->resolver, s->in, &a->sample, &a->key, &resolved);
	resolved_write_new(&s->writer, &s->tables);
	write_increases(s, &a->sample, &resolved);
	limit_definitions(s);
}

/* Follow REC, of any type except SAMPLE, and pass it on. */
static void pass(struct symbolizer *s, const struct record *rec)
{
	resolver_follow(s->resolver, s->in, rec);
	leaf_callers_follow(&s->leaf_callers, s->in, rec);
	label_join_follow(&s->labels, rec);
	forget_ended(s);
	stream_note_groups(s->in, &s->groups);
	if (s->tables.lates > s->writer.lates)	/* before the EXIT that may end a profile */
		resolved_write_new(&s->writer, &s->tables);
	if (rec->type != RECORD_AUXTRACE)	/* the bytes after it were skipped */
		writer_record(s->out, rec);
	if (rec->type == RECORD_FINISHED_ROUND)
		output_flush(s->out);
}

bool symbolizer_step(struct symbolizer *s)
{
	struct record rec;

	if (output_ended(s->out) || !stream_next(s->in, &rec))
		return false;
	if (rec.type == PERF_RECORD_SAMPLE) {
		uint32_t count = read_ahead(s, &rec);
		for (uint32_t i = 0; i < count; i++)
			write_sample(s, &s->ahead[i]);
		return true;
	}
	if (record_is_resolved(rec.type)) {
		report_error(s->report, "the input is resolved already: give it to pmu-topprof");
		return false;
	}
	pass(s, &rec);
	return true;
}

void symbolizer_end(struct symbolizer *s)
{
	resolver_name_late(s->resolver, s->in);
	resolved_write_new(&s->writer, &s->tables);
	if (stream_is_whole(s->in))	/* without END, the next filter reports damage, too */
		resolved_write_end(s->out, &s->tables);
}

void symbolizer_report(struct symbolizer *s)
{
	struct resolver_counts c = resolver_counts(s->resolver);
	char text[LABEL_COUNTS_TEXT];

	report_summary(s->report, "%" PRIu64 " samples, %" PRIu64 " distinct frames, %" PRIu64
		       " of them named, from %" PRIu64 " files", s->tables.samples, c.frames,
		       c.named, c.objects);
	stack_ends_report(resolver_stack_ends(s->resolver), s->report);
	if (stream_events(s->in)->has_labels) {
		label_counts_text(&s->label_counts, text, sizeof(text));
		report_summary(s->report, "labels: %s", text);
	}
	resolver_report(s->resolver);
}

void symbolizer_close(struct symbolizer *s)
{
	if (!s)
		return;
	resolver_save(s->resolver);
	resolver_free(s->resolver);
	resolved_release(&s->tables);
	groups_release(&s->groups);
	label_join_release(&s->labels);
	leaf_callers_release(&s->leaf_callers);
	free(s);
}
