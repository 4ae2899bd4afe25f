/* SPDX-License-Identifier: Apache-2.0 */
/* The profiles that a stream is cut into, and their comments. */
#include "aggregate/collect-blame.h"
#include "aggregate/collect-internal.h"
#include "base/clock.h"
#include "pprof/comments.h"
#include "pprof/figures.h"
#include "record/words.h"

#include <inttypes.h>
#include <stdlib.h>

static struct collect_subject *add_subject(struct collect *c, pid_t id, const char *name)
{
	c->subject = array_grow(c->subject, c->subjects, sizeof(*c->subject));
	struct collect_subject *subject = &c->subject[c->subjects];
	*subject = (struct collect_subject){ .id = id, .name = mem_text(name), .profile = {
		.resolved = &c->tables, .labels = &c->labeler.labels, .no_scale = c->how.no_scale,
		.latency = c->how.latency, .wall = c->how.wall, .as_time = c->how.as_time,
		.naming = c->how.naming } };
	table_add(&c->subject_table, hash_u64((uint32_t)id), c->subjects++);
	return subject;
}

static struct collect_subject *find_subject(struct collect *c, pid_t id)
{
	if (c->last_subject < c->subjects && c->subject[c->last_subject].id == id)
		return &c->subject[c->last_subject];
	uint32_t at = TABLE_FIND(&c->subject_table, hash_u64((uint32_t)id), i,
				 c->subject[i].id == id);
	if (at == TABLE_NONE)
		return NULL;
	c->last_subject = at;
	return &c->subject[at];
}

struct collect_subject *collect_subject(struct collect *c, const struct resolved_sample *s)
{
	pid_t id = c->how.split == SPLIT_NOT || !s ? 0
		   : c->how.split == SPLIT_PROCESSES ? s->pid : s->tid;
	struct collect_subject *subject = find_subject(c, id);

	if (subject)
		return subject;
	return add_subject(c, id, c->how.split == SPLIT_PROCESSES
				  ? tasks_name_text(&c->labeler.tasks, id)
				  : s && s->comm ? c->tables.string[s->comm] : "");
}

void collect_rename(struct collect *c, const struct record *rec)
{
	struct comm_record comm;

	if (c->how.split != SPLIT_PROCESSES || rec->type != PERF_RECORD_COMM ||
	    !record_comm(rec, &comm))
		return;
	struct collect_subject *subject = find_subject(c, comm.pid);
	if (!subject)
		return;
	free(subject->name);
	subject->name = mem_text(tasks_name_text(&c->labeler.tasks, comm.pid));
}

static void comment_scale(struct profile *p, const struct stream_events *events, uint32_t event)
{
	double scale = profile_multiplexed(p, event);

	if (scale > 1)
		profile_comment(p, COMMENT_MULTIPLEXED "%s counted %.1f %% of the time; its "
				"values are scaled by %.3f", events->event[event].name,
				100 / scale, scale);
}

/*
 * The counts are of the whole stream so far, because one of several profiles may have few stacks.
 */
static void comment_ends(const struct collect *c, struct profile *p)
{
	char text[256];

	stack_ends_text(collect_ends(c), text, sizeof(text));
	if (*text)
		profile_comment(p, COMMENT_ENDS "%s", text);
	if (collect_ends(c)->dumps)
		profile_comment(p, "stack dumps were not unwound");
}

/* Comment on the time in which nothing ran, and on samples that losses made uncertain. */
static void comment_latency(const struct collect *c, struct profile *p)
{
	const struct running *r = &c->running;
	uint64_t length = p->last_time - p->first_time;
	uint64_t idle = length > r->ran ? length - r->ran : 0;

	if (!c->how.latency || !stream_events(c->in)->switches)
		return;
	profile_comment(p, COMMENT_LATENCY "nothing ran for %" PRIu64 " of %" PRIu64 " us",
			(idle + 500) / 1000, (length + 500) / 1000);
	if (r->uncertain)
		profile_comment(p, COMMENT_LATENCY "records were lost, so it is uncertain how many "
				"threads ran at %" PRIu64 " samples", r->uncertain);
}

static void comment_time(struct profile *p, const struct stream_events *events)
{
	uint32_t event;
	double factor = as_time_factor(p, events, &event);

	if (factor <= 0)
		return;
	/* An event that shared its counter counted only while it ran. */
	const struct profile_event *e = &p->event[event];
	uint64_t time = e->running > 0 ? e->running : e->enabled;
	profile_comment(p, COMMENT_ESTIMATED "cpu/nanoseconds is %s at %.6g GHz; this assumes each "
			"thread's clock constant", events->event[event].name,
			(double)e->counted / (double)time);
}

bool collect_has_time(const struct collect *c)
{
	bool has = false;
	uint32_t event;

	for (uint32_t i = 0; i < c->subjects; i++)
		has |= as_time_factor(&c->subject[i].profile, stream_events(c->in), &event) > 0;
	return has;
}

bool collect_compares_counts(const struct collect *c)
{
	return stream_events(c->in)->has_labels && !c->selects && !c->how.interval &&
	       !c->how.split;
}

/*
 * Say for which part of the count there are samples.  Of an event with labels the kernel takes no
 * sample while another BPF program runs on the CPU, and counts none as lost.
 */
static void comment_unsampled(const struct collect *c, struct profile *p)
{
	enum { PERIODS = 20 };	/* a smaller difference may be chance */
	const struct stream_events *events = stream_events(c->in);

	for (uint32_t i = 0; i < p->events && i < events->count; i++) {
		uint64_t period, missed = profile_not_sampled(p, events, i, &period);
		uint64_t counted = p->event[i].counted;
		if (missed >= PERIODS * period && missed > counted / 100)
			profile_comment(p, COMMENT_LABELS "the samples of %s stand for %.2f %% of "
					"what was counted", events->event[i].name,
					100 * (double)(counted - missed) / (double)counted);
	}
}

/* Comment on how many samples have labels of the program, and on labels with too many values. */
static void comment_labels(const struct collect *c, const struct collect_subject *subject,
			   struct profile *p)
{
	const struct program_labels *labels = &c->labeler.program;
	char text[LABEL_COUNTS_TEXT];

	if (!stream_events(c->in)->has_labels)
		return;
	label_counts_text(&subject->labels, text, sizeof(text));
	profile_comment(p, COMMENT_LABELS "%s", text);
	for (uint32_t i = 0; i < labels->keys; i++)
		if (labels->key[i].others)
			profile_comment(p, COMMENT_LABELS "%s has more than %" PRIu64 " values; %"
					PRIu64 " samples have others", labels->key[i].key,
					labels->most, labels->key[i].others);
	if (collect_compares_counts(c))
		comment_unsampled(c, p);
}

/*
 * Add the comments on how and where the stream was recorded: two lines, because pprof prints them
 * first.
 */
static void comment_origin(const struct collect *c, struct profile *p)
{
	const struct stream_origin *o = stream_origin(c->in);
	const char *filters = c->filters ? c->filters : "";

	if (o->command)
		profile_comment(p, COMMENT_COMMAND "%s%s", o->command, filters);
	else if (*filters)
		profile_comment(p, COMMENT_FILTERS "%s", filters + strlen(" | "));
	if (o->host)
		profile_comment(p, COMMENT_HOST "%s%s%s%s%s%s%s%s%s", o->host, o->arch ? " " : "",
				o->arch ? o->arch : "", o->kernel ? " Linux " : "",
				o->kernel ? o->kernel : "", o->cpu ? ", " : "",
				o->cpu ? o->cpu : "", o->version ? ", recorded by " : "",
				o->version ? o->version : "");
	else if (o->version)
		profile_comment(p, COMMENT_RECORDER "%s", o->version);
}

/* Add comments to the profile of SUBJECT that say where, how and how well it was recorded. */
static void comment(struct collect *c, struct collect_subject *subject)
{
	struct profile *p = &subject->profile;
	const struct stream_events *events = stream_events(c->in);
	const struct profile_lines *shared = &c->shared_comments.comments;

	for (size_t i = 0; i < shared->count; i++)
		profile_comment(p, "%s", shared->line[i]);
	comment_origin(c, p);
	uint64_t throttled = c->throttled - c->throttled_before;
	collect_comment_losses(c, p);
	comment_ends(c, p);
	if (throttled)
		profile_comment(p, COMMENT_THROTTLED "%" PRIu64 " times an event was stopped for a "
				"moment, since it came too fast", throttled);
	if (c->labeler.slices.span) {
		char text[FIGURES_SIZE];
		figures_write_slices(text, c->labeler.slices.span);
		profile_fact(p, "%s", text);
	}
	if (stream_origin(c->in)->slots) {
		char text[FIGURES_SIZE];
		figures_write_slots(text, stream_origin(c->in)->slots);
		profile_fact(p, "%s", text);
	}
	comment_labels(c, subject, p);
	comment_latency(c, p);
	comment_time(p, events);
	collect_comment_excess(c, p);
	for (uint32_t i = 0; i < events->count; i++)
		comment_scale(p, events, i);
}

/* Return whether P has anything to write: stacks, or lost samples that are shown. */
static bool has_content(const struct collect *c, const struct profile *p)
{
	bool lost = false;

	for (uint32_t i = 0; i < p->events; i++)
		lost |= p->event[i].lost > 0;
	return p->stacks.count > 0 || (lost && !c->how.drop_lost);
}

/* The usual labels say nothing if there is only one process. */
static bool drops_labels(const struct collect *c)
{
	return c->usual_labels && !c->several_processes;
}

static void complete(struct collect *c, struct collect_subject *subject)
{
	struct profile *p = &subject->profile;

	p->first_time = c->first_time;	/* a sample may come late, or have a wrong time */
	p->last_time = c->last_time;
	collect_settle_lost(c, p);
	if (c->how.not_sampled)
		profile_add_not_sampled(p, stream_events(c->in));
	if (!c->how.drop_lost)
		profile_add_lost(p, stream_events(c->in));
	if (drops_labels(c) && !c->labeler.kept)
		profile_drop_labels(p);
	comment(c, subject);
	c->done(c, subject, c->context);
}

/* Start with new labels, which keep only the label sets of threads that wait. */
static void restart_labels(struct collect *c)
{
	struct labels past = labels_restart(&c->labeler.labels);

	for (uint32_t i = 0; i < c->off_cpu.count; i++) {
		struct off_cpu_wait *w = &c->off_cpu.wait[i];
		if (w->is_waiting)
			w->labels = labels_take(&c->labeler.labels, &past, w->labels);
	}
	labels_release(&past);
}

/* Copy the stacks of threads that wait to FRAME, or (BACK) from FRAME.  Returns the frame count. */
static size_t copy_waiting(struct collect *c, uint32_t *frame, bool back)
{
	size_t frames = 0;

	for (uint32_t i = 0; i < c->off_cpu.count; i++) {
		struct off_cpu_wait *w = &c->off_cpu.wait[i];
		if (!w->is_waiting || w->frames == 0)
			continue;
		if (frame)
			memcpy(back ? w->frame : frame + frames, back ? frame + frames : w->frame,
			       w->frames * sizeof(*frame));
		frames += w->frames;
	}
	return frames;
}

/* Start with new frame tables, which keep only the frames of threads that wait. */
static void restart_frames(struct collect *c)
{
	size_t frames = copy_waiting(c, NULL, false);
	uint32_t *frame = mem_zeroed(frames, sizeof(*frame));

	copy_waiting(c, frame, false);
	if (c->is_resolved)
		resolved_forget(&c->reader, &c->past, frame, frames);
	else
		resolver_restart(c->resolver, &c->past, frame, frames);
	copy_waiting(c, frame, true);
	free(frame);
}

/* After an interval no profile needs the old tables: bound the memory for an endless stream. */
static void restart(struct collect *c)
{
	enum { FEW_LABELS = 1 << 14, SMALL = 4 << 20 };		/* bytes of frame tables */

	if (c->labeler.labels.sets > FEW_LABELS)
		restart_labels(c);
	if (c->is_resolved ? c->reader.restarted : resolved_memory(&c->tables) > SMALL)
		restart_frames(c);
}

void collect_cut(struct collect *c)
{
	collect_forget_threads(c);
	running_reach(&c->running, c->last_time);
	collect_complete_labels(c, drops_labels(c));
	if (c->past.string)
		resolved_release(&c->past);
	for (uint32_t i = 0; i < c->subjects; i++) {
		if (has_content(c, &c->subject[i].profile))
			complete(c, &c->subject[i]);
		profile_clear(&c->subject[i].profile);
		c->subject[i].labels = (struct label_counts){ .cut = 0 };
	}
	program_labels_restart(&c->labeler.program);
	collect_forget_slices(c);
	running_restart(&c->running);
	restart(c);
	c->lost_before = c->lost;
	c->samples_before = c->samples;
	c->received = c->others = 0;
	c->throttled_before = c->throttled;
}

static void count_wait(struct collect *c, struct off_cpu_wait *w, uint64_t time)
{
	struct profile *p = &c->subject[w->subject].profile;

	if (time <= w->since)
		return;
	/* A named frame belongs to one interval's profile, so add it only now. */
	const char *mark = c->how.mark_cut ? stack_end_name(w->end) : NULL;
	if (mark)
		off_cpu_end_in(w, profile_named_frame(p, mark));
	if (w->preempted)
		off_cpu_add_leaf(w, profile_named_frame(p, WORD_PREEMPTED));
	struct chain_entry *chain = chains_add(&p->chains, w->frame, w->frames);
	profile_add(p, chain, w->labels, w->event, time - w->since, time);
	if (profile_has_wall(p, stream_events(c->in), w->event))
		profile_add_more(p, chain, w->labels, w->event, time - w->since, false);
	p->event[w->event].is_waiting = true;
}

/* Count the waits of threads that wait up to TIME; the rest of each wait starts then. */
static void count_open_waits(struct collect *c, uint64_t time)
{
	for (uint32_t i = 0; i < c->off_cpu.count; i++) {
		struct off_cpu_wait *w = &c->off_cpu.wait[i];
		uint32_t frames = w->frames;
		if (!w->is_waiting || w->exited || time <= w->since)
			continue;
		count_wait(c, w, time);
		off_cpu_continue(w, frames, time);
	}
}

void collect_count_waits(struct collect *c)
{
	enum { SECOND = 1000000000 };	/* after which records are here */
	const struct stream_origin *o = stream_origin(c->in);
	uint64_t now = clock_ns(CLOCK_REALTIME) - SECOND, time = c->last_time;

	if (o->has_clock && now > o->wall_time && o->clock_time + (now - o->wall_time) > time)
		time = o->clock_time + (now - o->wall_time);
	count_open_waits(c, time);
}

/* End the interval before TIME: complete its profiles, and empty them for the next one. */
static void next_interval(struct collect *c, uint64_t time)
{
	c->last_time = c->interval_end;
	count_open_waits(c, c->interval_end);
	collect_cut(c);
	uint64_t over = (time - c->interval_end) / c->how.interval;
	c->first_time = c->interval_end + over * c->how.interval;
	c->interval_end = c->first_time + c->how.interval;
}

/* End the intervals before TIME.  Those without a record have profiles if threads wait. */
static void reach_interval(struct collect *c, uint64_t time)
{
	enum { MOST = 1000 };	/* empty intervals; a time may be wrong */

	for (int i = 0; i < MOST && c->off_cpu.waiting && time - c->interval_end >= c->how.interval;
	     i++)
		next_interval(c, c->interval_end);
	next_interval(c, time);
}

/* Return whether TIME is much later than the records before it and those that follow. */
static bool is_alone(struct collect *c, uint64_t time)
{
	enum { SECOND = 1000000000 };
	uint64_t much = c->how.interval && c->how.interval < SECOND ? c->how.interval : SECOND;

	return time > much && time - much > c->last_time && stream_goes_back(c->in, time - much);
}

void collect_time(struct collect *c, uint64_t time)
{
	if (time == 0 || is_alone(c, time))
		return;
	if (c->how.interval && c->interval_end == 0)
		c->interval_end = time + c->how.interval;
	if (c->interval_end && time >= c->interval_end)
		reach_interval(c, time);
	/* A record that came late, after its interval was written, counts for the next one. */
	if (c->first_time == 0 || (time < c->first_time && !c->how.interval))
		c->first_time = time;
	if (time > c->last_time)
		c->last_time = time;
}

void collect_silence(struct collect *c)
{
	bool any = c->off_cpu.waiting > 0;

	for (uint32_t i = 0; i < c->subjects; i++)
		any |= has_content(c, &c->subject[i].profile);
	/* An empty interval stays open: its records may be on the way. */
	if (c->interval_end && c->last_time && any)
		next_interval(c, c->interval_end);
}

void collect_waited(struct collect *c, pid_t tid, uint64_t time)
{
	struct off_cpu_wait *w = off_cpu_end(&c->off_cpu, tid);

	if (w && time)
		count_wait(c, w, time);
}

/* Count the waits of threads that still wait at the end of the stream. */
static void end_off_cpu(struct collect *c)
{
	uint64_t last = stream_origin(c->in)->last_time;

	last = last > c->last_time ? last : c->last_time;
	for (uint32_t i = 0; i < c->off_cpu.count; i++) {
		struct off_cpu_wait *w = &c->off_cpu.wait[i];
		if (w->is_waiting && !w->exited)
			count_wait(c, w, last);
	}
}

void collect_end(struct collect *c)
{
	const struct stream_origin *o = stream_origin(c->in);

	end_off_cpu(c);
	running_reach(&c->running, c->last_time);
	if (c->subjects == 0)
		add_subject(c, 0, "");
	/* The recorder's own start and end are more exact than the first and last record. */
	bool is_exact = origin_is_ours(o) && !c->how.interval;
	if (!c->how.interval && o->first_time && (is_exact || o->first_time < c->first_time))
		c->first_time = o->first_time;
	if (o->last_time && (is_exact || o->last_time > c->last_time))
		c->last_time = o->last_time;
	if (c->blame)
		collect_end_blame(c, c->last_time);
	collect_complete_labels(c, drops_labels(c));
	collect_find_excess(c);
	for (uint32_t i = 0; i < c->subjects; i++) {
		if (!c->how.interval || has_content(c, &c->subject[i].profile))
			complete(c, &c->subject[i]);
	}
}

void collect_release_subjects(struct collect *c)
{
	for (uint32_t i = 0; i < c->subjects; i++) {
		profile_release(&c->subject[i].profile);
		free(c->subject[i].name);
	}
	profile_release(&c->shared_comments);
	free(c->filters);
	free(c->subject);
	free(c->counted);
	table_release(&c->subject_table);
}
