/* SPDX-License-Identifier: Apache-2.0 */
#include "aggregate/collect.h"
#include "aggregate/collect-blame.h"
#include "aggregate/collect-internal.h"
#include "aggregate/labeler-internal.h"
#include "record/data-source.h"
#include "record/words.h"
#include "unwind/unwind.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

bool collect_init(struct collect *c, const struct collect_options *how, struct report *report,
		  const char **wrong)
{
	enum { LABEL_VALUES = 1000 };
	static const char usual[] = "pid,thread_comm,label:*";

	*c = (struct collect){ .how = *how, .report = report, .usual_labels = !how->labels,
			       .reader.tables = &c->tables };
	c->selects = selection_restricts(&how->selection);
	c->resolver = resolver_new(&c->how.resolve, &c->tables, report);
	c->leaf_callers.where = &c->how.resolve.where;
	c->labeler.program.most = how->label_values ? how->label_values : LABEL_VALUES;
	c->frame = mem_zeroed(RESOLVED_FRAMES_MAX + 2, sizeof(*c->frame));
	c->ahead = mem_zeroed(AHEAD_MAX, sizeof(*c->ahead));
	bool any = !how->labels || strcmp(how->labels, "none") != 0;
	if (any && !labeler_choose(&c->labeler, how->labels ? how->labels : usual, wrong))
		return false;
	*wrong = "parallelism";
	if (how->parallelism && !labeler_parallelism(&c->labeler))
		return false;
	*wrong = "lock";
	if (how->blame && !collect_begin_blame(c))
		return false;
	c->how.drop_lost |= how->blame;	/* nobody knows how long the lost waits were */
	*wrong = LABEL_SLICE;
	return !how->slices || labeler_slice(&c->labeler, how->slices);
}

/* Every stack has values for every event, so hundreds of events need a limit on stacks. */
void collect_limit_stacks(struct collect *c, struct profile *p)
{
	enum { VALUES_MAX = 1 << 22 };
	uint64_t most = c->how.max_stacks ? c->how.max_stacks : CHAINS_MAX;
	uint32_t events = profile_place(p, c->events->count);

	if (events > MANY_EVENTS && VALUES_MAX / events < most) {
		most = VALUES_MAX / events;
		if (p->stacks.count >= most)
			report_once(c->report, "of %u events no more than %u stacks are kept: the "
				    "others go to " WORD_OTHER_STACKS, events, (unsigned)most);
	}
	if (p->stacks.count >= most || chains_are_large(&p->chains))
		profile_truncate(p);
}

void collect_find_frames(struct collect *c, const struct collect_ahead *raw,
			 struct resolved_sample *s)
{
	if (raw)
		resolver_frames(c->resolver, c->in, &raw->sample, s);
	else
		resolved_translate_frames(&c->reader, s, c->frame);
}

/*
 * Set the frames of S, and add the frames that are asked for.  Return whether samples with the key
 * of RAW have the same frames.
 */
static bool complete_frames(struct collect *c, struct profile *p, const struct collect_ahead *raw,
			    struct resolved_sample *s)
{
	collect_find_frames(c, raw, s);
	bool stay = !c->how.resolve.symbols || (raw && resolver_frames_stay(c->resolver, s));
	bool data = c->how.data_frames && s->has & PERF_SAMPLE_ADDR && s->value[VALUE_ADDR];
	const char *mark = c->how.mark_cut ? stack_end_name(s->end) : NULL;
	if (!data && !mark)
		return stay;
	uint32_t frames = s->frames < RESOLVED_FRAMES_MAX ? s->frames : RESOLVED_FRAMES_MAX;
	memmove(c->frame + data, s->frame, frames * sizeof(*c->frame));
	s->frame = c->frame;
	s->frames = data + frames;
	if (data)
		c->frame[0] = s->datum
			? resolved_datum_frame(&c->reader, s->datum - 1, s->data_offset,
					       c->how.only_data)
			: profile_data_frame(p, s->value[VALUE_ADDR]);
	if (mark)
		c->frame[s->frames++] = profile_named_frame(p, mark);
	return stay;
}

/* Return whether the number of the chain of S in the stream finds its chain in a profile. */
static bool is_numbered(const struct collect *c, const struct resolved_sample *s)
{
	/* Many profiles, and few samples of each: not worth an array each. */
	return s->chain && !c->how.data_frames && c->how.split == SPLIT_NOT;
}

/* Return the chain of S in P.  RAW is NULL if the frames of S are resolved. */
static struct chain_entry *chain_of(struct collect *c, struct profile *p,
				    struct collect_ahead *raw, struct resolved_sample *s)
{
	chains_limit(&p->chains);
	bool keyed = raw && raw->has_key;
	bool numbered = is_numbered(c, s);
	uint64_t numbering = c->reader.chain_restarts;
	struct chain_entry *known = NULL;

	if (keyed && c->how.resolve.symbols) {
		raw->key = resolver_reach(c->resolver, c->in, &raw->sample, &raw->resolver_key);
		raw->entry = TABLE_NONE;
	}
	if (keyed)
		known = chains_find(&p->chains, raw->key, &raw->entry);
	else if (numbered)
		known = chains_numbered(&p->chains, s->chain - 1, numbering);
	if (known) {
		s->end = keyed ? known->end : s->end;
		return known;
	}
	keyed &= complete_frames(c, p, raw, s);
	struct chain_entry *chain = keyed
		? chains_add_as(&p->chains, raw->key, s->frame, s->frames)
		: chains_add(&p->chains, s->frame, s->frames);
	chain->end = s->end;
	if (numbered)
		chains_set_number(&p->chains, chain, s->chain - 1, numbering);
	return chain;
}

/*
 * Return how many threads run at sample S; 0 if that is unknown, or S is of no thread.  A sample
 * of a thread that is switched out does not count: it is between running and waiting.
 */
static uint32_t count_running(struct collect *c, const struct resolved_sample *s,
			      const struct stream_event *event, bool waits)
{
	const struct stream_origin *o = stream_origin(c->in);
	bool has_cpu = event->attr.sample_type & PERF_SAMPLE_CPU;

	if (waits || !s->time || !c->events->switches)
		return 0;
	uint32_t count = running_sample(&c->running, s->tid, has_cpu ? s->cpu : RUNNING_NO_CPU,
					s->time);
	return o->cpus && count > o->cpus ? o->cpus : count;
}

/* Return whether S is a sample of the time that its thread was on CPUs. */
static bool is_of_wall(const struct collect *c, const struct resolved_sample *s)
{
	return c->how.wall && s->tid > 0 && s->event == events_first_clock(c->events);
}

/* Sample S is not selected. */
static void leave_out(struct collect *c, const struct resolved_sample *s, bool waits)
{
	uint64_t unused;

	if (!waits)
		collect_count_excluded(c, s->event, s->period);
	if (is_of_wall(c, s) && c->events->switches)
		on_cpu_sample(&c->on_cpu, s->tid, s->time, &unused);
}

/* Add the values of sample S in the further types.  RUNNING: number of threads that run. */
static void add_more(struct collect *c, struct profile *p, struct chain_entry *chain,
		     uint32_t labels, const struct resolved_sample *s, uint32_t running)
{
	const struct stream_events *events = c->events;

	if (running && profile_has_latency(p, events, s->event))
		profile_add_more(p, chain, labels, s->event, (s->period + running / 2) / running,
				 true);
	if (!is_of_wall(c, s))
		return;
	uint64_t ns = s->period;
	if (events->switches)
		on_cpu_sample(&c->on_cpu, s->tid, s->time, &ns);
	for (uint32_t i = 0; i < events->count; i++)
		if (profile_has_wall(p, events, i))
			profile_add_more(p, chain, labels, i, ns, true);
}

/*
 * The thread of S waits from now on: its wait is counted when it runs again.  Return false if such
 * a wait is not followed.
 */
static bool begin_wait(struct collect *c, const struct collect_subject *subject,
		       struct collect_ahead *raw, struct resolved_sample *s, uint32_t labels)
{
	/* Thread 0 is a CPU's idle thread; -1 has exited and been reaped. */
	if (s->tid <= 0)
		return false;
	/*
	 * The wait gets no data frame, because such a frame belongs to a profile, and the wait may
	 * outlive the profile.
	 */
	collect_find_frames(c, raw, s);
	struct off_cpu_wait *w = off_cpu_begin(&c->off_cpu, s->tid, s->time, s->frame, s->frames);
	if (!w)
		return false;
	w->event = s->event;
	w->labels = labels;
	w->subject = (uint32_t)(subject - c->subject);
	w->end = s->end;
	return true;
}

/*
 * Return whether the sample with the values V is counted.  It may end an interval before it: then
 * all ids in c->tables change.  So call this before anything of the sample gets such an id.
 */
static bool reach_sample(struct collect *c, const struct selection_values *v)
{
	bool selected = !c->selects || selection_contains(&c->how.selection, v);

	c->samples += selected;
	c->received += !selected;
	if (selected)
		collect_time(c, v->time);
	return selected;
}

/*
 * Count sample S, if it is SELECTED, by reach_sample().  RAW is set if the frames of S are not
 * resolved yet.
 */
static void take(struct collect *c, struct collect_ahead *raw, struct resolved_sample *s,
		 bool selected)
{
	const struct stream_events *events = c->events;
	const struct stream_event *event = &events->event[s->event];
	const char *comm = s->comm ? c->tables.string[s->comm] : "";
	bool waits = events_sample_waits(events, s->event);
	uint32_t running = 0;

	if (c->how.latency || c->how.parallelism)
		running = count_running(c, s, event, waits);
	if (!selected)
		leave_out(c, s, waits);
	if (!selected && !c->blame)	/* others may have kept the selected threads waiting */
		return;
	if (c->samples <= 1)
		c->first_pid = s->pid;
	c->several_processes |= s->pid != c->first_pid;
	collect_slice(c, s);
	struct collect_subject *subject = collect_subject(c, s);
	struct profile *p = &subject->profile;
	c->labeler.sets = events->has_labels ? &c->tables.labels : NULL;
	if (events->has_labels) {
		enum label_state state = label_state(s->labels, s->label_status);
		label_counts_add(&subject->labels, state, s->label_flags);
		label_counts_add(&c->labels, state, s->label_flags);
	}
	c->labeler.parallelism = running;
	uint32_t labels = labeler_labels(&c->labeler, s, comm, &event->attr);
	if (raw && raw->thread)
		collect_know_labels(c, raw, labels);
	if (c->blame) {
		collect_blame_sample(c, raw, s, labels, selected);
	} else if (waits) {
		if (!begin_wait(c, subject, raw, s, labels))
			return;
	} else {
		collect_limit_stacks(c, p);
		struct chain_entry *chain = chain_of(c, p, raw, s);
		profile_add(p, chain, labels, s->event, s->period, s->time);
		if (c->how.latency || c->how.wall)
			add_more(c, p, chain, labels, s, running);
	}
	if (raw)
		resolver_count(c->resolver, c->in, &raw->sample, s->end);
	else
		c->ends.count[s->end]++;
}

/*
 * Unwind the stack dump of A, if it has one.  Its sample then refers to c->unwound.  Return false
 * if the new record is damaged (reported).
 */
static bool unwind_dump(struct collect *c, struct collect_ahead *a)
{
	struct sample *sample = &a->sample;
	const struct stream_event *event = &c->events->event[sample->event];
	struct record new;

	if (!c->unwind || !unwind_takes(c->unwind, &event->attr) ||
	    unwind_sample(c->unwind, event, &a->rec, sample, c->unwound) == 0)
		return true;
	record_frame(&new, c->unwound, false);
	new.offset = a->rec.offset;
	const struct words registers = sample->user_regs;	/* in the record that was read */
	uint64_t abi = sample->user_regs_abi;
	if (!stream_sample(c->in, &new, sample))
		return false;
	sample->user_regs = registers;
	sample->user_regs_abi = abi;
	return true;
}

static bool reach_raw(struct collect *c, const struct sample *s, uint32_t event)
{
	const char *comm = c->selects ? tasks_name_text(resolver_tasks(c->resolver), s->tid) : "";

	return reach_sample(c, &(struct selection_values){ s->pid, s->tid, s->cpu, s->time,
							   c->events->event[event].name, comm });
}

static void take_sample(struct collect *c, struct collect_ahead *a)
{
	struct resolved_sample fields;

	collect_decode(c, a);
	if (!unwind_dump(c, a))
		return;
	if (c->how.resolve.symbols)
		leaf_callers_add(&c->leaf_callers, c->in, &a->sample);
	if (collect_changes_chains(c))
		collect_set_key(c, a);
	if (c->events->has_labels && label_join_take(&c->join, c->in, &a->rec, &a->sample))
		return;
	if (label_sets_is_full(&c->tables.labels))
		label_sets_forget(&c->tables.labels);
	struct group_increase increase[GROUP_EVENTS_MAX];
	increase[0] = (struct group_increase){ a->sample.event, a->sample.period };
	uint32_t increases = c->events->reads_groups
		? groups_split(&c->groups, c->events, &a->sample, increase) : 1;
	for (uint32_t i = 0; i < increases; i++) {
		bool selected = reach_raw(c, &a->sample, increase[i].event);
		resolver_fields(c->resolver, c->in, &a->sample, &fields);
		fields.event = increase[i].event;
		fields.period = increase[i].period;
		take(c, a, &fields, selected);
	}
}

/* The tables of the previous interval are not needed any more. */
static void forget_past(struct collect *c)
{
	if (c->past.string)
		resolved_release(&c->past);
}

/* Process FIRST, a SAMPLE, and the samples that follow it at once. */
static void take_samples(struct collect *c, const struct record *first)
{
	if (c->is_resolved) {
		stream_damaged(c->in, first, RESOLVED_HAS_RAW);
		return;
	}
	c->is_raw = true;
	uint32_t count = collect_read_ahead(c, first);
	for (uint32_t i = 0; i < count; i++) {
		if (collect_count_known(c, &c->ahead[i]))
			continue;
		take_sample(c, &c->ahead[i]);
		forget_past(c);
	}
}

/* Process REC, a resolved sample.  Return false, with the reason in *WHY, if it is damaged. */
static bool take_resolved_sample(struct collect *c, const struct record *rec, const char **why)
{
	struct resolved_sample s;

	if (!resolved_read_sample(&c->reader, rec, c->events->count, c->frame, &s, why))
		return false;
	if (c->how.only_data && !data_source_has_address(&c->events->event[s.event].attr,
							 s.value[VALUE_ADDR],
							 s.value[VALUE_DATA_SRC]))
		return true;
	s.time = stream_possible_time(c->in, s.time);
	bool selected = reach_sample(c, &(struct selection_values){
		s.pid, s.tid, s.cpu, s.time, c->events->event[s.event].name,
		resolved_comm(&c->reader, &s) });
	resolved_translate(&c->reader, &s);
	take(c, NULL, &s, selected);
	return true;
}

static void add_filter(struct collect *c, const struct resolved_tool *tool)
{
	enum { FILTERS_MAX = 1 << 16 };		/* bytes */
	const char *before = c->filters ? c->filters : "", *arguments = tool->arguments;
	char *text;

	if (strlen(before) > FILTERS_MAX ||
	    asprintf(&text, "%s | %s%s%s", before, tool->name, *arguments ? " " : "",
		     arguments) < 0)
		return;
	free(c->filters);
	c->filters = text;
}

/* Process a record of a resolved stream, added by a filter before us. */
static void take_resolved(struct collect *c, const struct record *rec)
{
	struct resolved_tool tool;
	const char *why;
	bool good;

	if (c->is_raw) {
		stream_damaged(c->in, rec, RESOLVED_IN_RAW);
		return;
	}
	c->is_resolved = true;
	switch (rec->type) {
	case RECORD_CHAIN_SAMPLE:
	case RECORD_RESOLVED_SAMPLE:
		good = take_resolved_sample(c, rec, &why);
		break;
	case RECORD_TOOL:
		good = resolved_read_tool(rec, &tool, &why);
		if (good)
			add_filter(c, &tool);
		break;
	case RECORD_END:
		good = c->has_end = resolved_read_end(&c->reader, rec, &why);
		break;
	default:
		good = resolved_read_definition(&c->reader, rec, &why);
	}
	if (!good)
		stream_damaged(c->in, rec, why);
}

/* Process FIRST, a CHAIN_SAMPLE, and those that follow it at once. */
static void take_chain_samples(struct collect *c, const struct record *first)
{
	struct record rec[AHEAD_MAX];
	uint32_t count = collect_read_chains(c, first, rec);

	for (uint32_t i = 0; i < count; i++) {
		take_resolved(c, &rec[i]);
		forget_past(c);
	}
}

/* Unwind the stack dumps of c->in.  In its samples the fields of dumps stay. */
static void begin_unwinding(struct collect *c)
{
	const struct unwind_options how = {
		.where = c->how.resolve.where, .keep_fields = true,
		.is_swapped = stream_is_swapped(c->in),
	};

	c->unwind = unwind_new(&how, stream_origin(c->in), c->report);
	c->unwound = mem_resize(NULL, RECORD_MAX_SIZE);
}

void collect_begin(struct collect *c, struct stream_reader *in, collect_done *done, void *context)
{
	c->in = in;
	c->events = stream_events(in);
	c->done = done;
	c->context = context;
	if (c->how.unwind && in)
		begin_unwinding(c);
	collect_begin_threads(c);
}

bool collect_next(struct collect *c)
{
	struct record rec;

	if (!stream_next(c->in, &rec))
		return false;
	if (rec.type == PERF_RECORD_SAMPLE)
		take_samples(c, &rec);
	else if (rec.type == RECORD_CHAIN_SAMPLE)
		take_chain_samples(c, &rec);
	else if (record_is_resolved(rec.type))
		take_resolved(c, &rec);
	else
		collect_take_other(c, &rec);
	forget_past(c);
	return true;
}

void collect_finish(struct collect *c)
{
	if (c->is_resolved && !c->has_end && stream_is_whole(c->in))
		report_error(c->report, "%s", RESOLVED_NO_END);
	if (c->unwind && !c->is_resolved)
		unwind_report(c->unwind);
	if (c->off_cpu.refused)
		report_note(c->report, "%" PRIu64 " waits are not counted: more than %d threads "
			    "wait at a time, or their stacks are too deep to remember",
			    c->off_cpu.refused, OFF_CPU_THREADS_MAX);
	if (c->in)
		collect_end(c);
}

const struct stack_ends *collect_ends(const struct collect *c)
{
	return c->is_resolved ? &c->ends : resolver_stack_ends(c->resolver);
}

/* Wait for a record, if there are intervals.  Return false if nothing comes until one is over. */
static bool wait_for_record(const struct collect *c)
{
	enum { LATE = 2000 };	/* ms that records may take to arrive here */
	uint64_t ms = c->how.interval / 1000000 + LATE;

	return !c->how.interval || stream_wait(c->in, ms < INT_MAX ? (int)ms : INT_MAX);
}

void collect_stream(struct collect *c, struct stream_reader *in, collect_done *done, void *context)
{
	bool more = true;

	collect_begin(c, in, done, context);
	while (more)
		if (wait_for_record(c))
			more = collect_next(c);
		else
			collect_silence(c);
	collect_finish(c);
}

void collect_release(struct collect *c)
{
	collect_release_subjects(c);
	resolver_free(c->resolver);
	unwind_free(c->unwind);
	free(c->unwound);
	resolved_reader_release(&c->reader);
	resolved_release(&c->tables);
	resolved_release(&c->past);
	labeler_release(&c->labeler);
	off_cpu_release(&c->off_cpu);
	collect_release_blame(c);
	running_release(&c->running);
	on_cpu_release(&c->on_cpu);
	groups_release(&c->groups);
	label_join_release(&c->join);
	leaf_callers_release(&c->leaf_callers);
	free(c->frame);
	free(c->ahead);
	free(c->thread);
}
