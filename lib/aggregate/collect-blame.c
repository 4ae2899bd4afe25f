/* SPDX-License-Identifier: Apache-2.0 */
#include "aggregate/collect-blame.h"
#include "aggregate/collect-internal.h"
#include "aggregate/labeler-internal.h"
#include "record/words.h"
#include "resolved/chain-index.h"
#include "waits/futex.h"
#include "waits/switch-fields.h"
#include "waits/wait-stack.h"
#include "waits/wake-ids.h"

#include <inttypes.h>
#include <stdlib.h>

/* What an event's samples are. */
enum blame_event { BLAME_OTHER, BLAME_OUT, BLAME_SWITCH, BLAME_WAKE };

struct blame {
	struct pairing pairing;
	struct resolved_chains stacks;	/* of the pairing, by number */
	struct chain_index index;	/* over STACKS */
	struct wait_names names;
	struct wake_ids ids;
	struct intern texts;		/* names of locks and wakers */
	uint32_t lock_names;
	uint32_t first_key;		/* of the label "lock"; "waker", "ended", "rule" follow */
	uint8_t *kind;			/* enum blame_event, by event */
	uint32_t kinds;
	uint32_t event;			/* whose values the profile has; TABLE_NONE: none yet */
	bool has_wakes;
};

static const char *const ended_words[] = {
	[ENDED_UNKNOWN] = "unknown", [ENDED_THREAD] = "thread", [ENDED_PROCESS] = "process",
	[ENDED_EXIT] = "exit", [ENDED_TIMER] = "timer", [ENDED_SIGNAL] = "signal",
	[ENDED_STOP] = "signal", [ENDED_DEVICE] = "device",
};

static const char *const rule_words[] = {
	[RULE_UNLOCKS] = "unlocks", [RULE_LAST] = "last waker", [RULE_PARKED] = "last waker",
	[RULE_NONE] = NULL,
};

/* Return the text of the label "ended" of ABOUT. */
static const char *ended_text(const struct collect *c, const struct pairing_about *about,
			      char text[128])
{
	if (about->ended != ENDED_PROCESS)
		return ended_words[about->ended];
	const char *name = tasks_name_text(&c->labeler.tasks, about->waker_pid);
	if (!*name)
		name = c->blame->texts.text[about->waker];
	snprintf(text, 128, "process:%.100s", name);
	return text;
}

/* Return the label set of a wait, or of a stretch of one. */
static uint32_t labels_of(void *context, const struct pairing_about *about)
{
	struct collect *c = context;
	struct blame *b = c->blame;
	struct labels *l = &c->labeler.labels;
	const char *lock = b->texts.text[about->lock];
	const char *waker = about->waker == TABLE_NONE ? "" : b->texts.text[about->waker];
	int64_t value[LABEL_KEYS_MAX], *own = value + b->first_key;
	const char *rule = rule_words[about->rule];
	char text[128];

	memcpy(value, labels_values(l, about->labels), l->keys * sizeof(*value));
	own[0] = *lock ? intern_text(&l->texts, lock) : LABEL_ABSENT;
	own[1] = *waker ? intern_text(&l->texts, waker) : LABEL_ABSENT;
	own[2] = about->is_stretch ? LABEL_ABSENT
				   : intern_text(&l->texts, ended_text(c, about, text));
	own[3] = rule ? intern_text(&l->texts, rule) : LABEL_ABSENT;
	return labels_set(l, value);
}

bool collect_begin_blame(struct collect *c)
{
	struct blame *b = mem_zeroed(1, sizeof(*b));

	c->blame = b;
	b->event = TABLE_NONE;
	b->pairing.mode = c->how.blame;
	b->pairing.all = c->how.all_waits;
	b->pairing.links = c->how.links ? c->how.links : 3;
	b->pairing.labels = labels_of;
	b->pairing.context = c;
	pairing_begin(&b->pairing);
	b->index.chains = &b->stacks;
	chain_index_begin(&b->index);
	intern_text(&b->texts, "");
	return labeler_waits(&c->labeler, &b->first_key);
}

/* Return whether the kernel's own event samples where threads wait, too. */
static bool has_switches(const struct stream_events *events)
{
	bool has = false;

	for (uint32_t i = 0; i < events->count; i++)
		has |= events->event[i].attr.type == PERF_TYPE_SOFTWARE &&
		       events_sample_waits(events, i);
	return has;
}

/* Return what the samples of EVENT are. */
static enum blame_event kind_of(struct collect *c, uint32_t event)
{
	struct blame *b = c->blame;

	while (b->kinds <= event) {
		const struct stream_event *e = &c->events->event[b->kinds];
		bool is_tracepoint = e->attr.type == PERF_TYPE_TRACEPOINT;
		enum blame_event kind = BLAME_OTHER;
		if (is_tracepoint && !strcmp(e->name, EVENT_WAKING))
			kind = BLAME_WAKE;
		else if (is_tracepoint && !strcmp(e->name, EVENT_SWITCH))
			kind = has_switches(c->events) ? BLAME_OTHER : BLAME_SWITCH;
		else if (events_sample_waits(c->events, b->kinds))
			kind = BLAME_OUT;
		b->has_wakes |= kind == BLAME_WAKE;
		if (b->event == TABLE_NONE && (kind == BLAME_OUT || kind == BLAME_SWITCH))
			b->event = b->kinds;
		b->kind = array_grow(b->kind, b->kinds, sizeof(*b->kind));
		b->kind[b->kinds++] = (uint8_t)kind;
	}
	return b->kind[event];
}

/* Return the number in b->texts of TEXT, the name of a lock. */
static uint32_t lock_name(struct blame *b, const char *text)
{
	enum { LOCK_NAMES_MAX = 10000 };	/* each may have stacks of its own */
	uint32_t id = intern_find(&b->texts, text);

	if (id != TABLE_NONE)
		return id;
	return intern_text(&b->texts, ++b->lock_names > LOCK_NAMES_MAX ? WORD_OTHER : text);
}

/* Return the lock that S waits for. */
static struct pairing_lock lock_of(struct collect *c, const struct resolved_sample *s,
				   const struct wait_stack *stack)
{
	pid_t memory = wake_ids_memory(&c->blame->ids, s->pid);
	uint64_t key = futex_key(&c->tables, s, memory, stack->is_pair);
	char text[FUTEX_TEXT];

	if (!key)
		return (struct pairing_lock){ .key = 0 };
	futex_text(&c->tables, s, stack->is_pair, text);
	return (struct pairing_lock){ key, lock_name(c->blame, text),
				      futex_is_shared(&c->tables, s) };
}

static int64_t field_of(const struct collect *c, const struct resolved_sample *s,
			enum switch_field field)
{
	return s->has & PERF_SAMPLE_RAW
		? switch_field(&c->labeler.tracepoints, c->events->event[s->event].attr.config,
			       s->raw, field) : 0;
}

/* The thread of S was switched out. */
static void take_out(struct collect *c, const struct resolved_sample *s,
		     const struct wait_stack *stack, struct delay_place at, bool is_aside)
{
	pairing_out(&c->blame->pairing, &(struct pairing_out){
		.pid = s->pid, .tid = s->tid, .time = s->time, .at = at,
		.lock = lock_of(c, s, stack), .rule = wait_stack_rule(stack),
		.sleeps = stack->sleeps, .joins = stack->joins,
		.awaits_signal = stack->awaits_signal, .sees_exits = stack->sees_exits,
		.reads_pipe = stack->reads_pipe,
		.is_idle = wait_stack_is_idle(stack), .is_short = stack->is_short,
		.is_aside = is_aside });
}

/* S, of sched_switch, is made by the thread that is switched out, or by another. */
static void take_switch(struct collect *c, const struct resolved_sample *s,
			const struct wait_stack *stack, struct delay_place at, bool is_aside)
{
	const int64_t waits = 0xff;	/* of the bits of a task's state; else it is preempted */
	struct pairing *p = &c->blame->pairing;
	pid_t next = (pid_t)field_of(c, s, FIELD_NEXT_PID);

	if (field_of(c, s, FIELD_PREV_PID) == s->tid) {
		if (field_of(c, s, FIELD_PREV_STATE) & waits)
			take_out(c, s, stack, at, is_aside);
		else
			pairing_runs(p, s->tid, s->time);
	}
	if (next > 0)
		pairing_runs(p, next, s->time);
}

static void take_wake(struct collect *c, const struct resolved_sample *s,
		      const struct wait_stack *stack, struct delay_place at)
{
	struct blame *b = c->blame;
	wake_ids_learn(&b->ids, s->tid, (pid_t)field_of(c, s, FIELD_BY));
	pid_t woken = wake_ids_thread(&b->ids, (pid_t)field_of(c, s, FIELD_PID));
	bool in_interrupt = field_of(c, s, FIELD_FLAGS) & FLAGS_INTERRUPT;
	struct pairing_wake wake = {
		.time = s->time, .pid = s->pid, .tid = s->tid, .at = at,
		.name = intern_text(&b->texts, s->comm ? c->tables.string[s->comm] : ""),
		.kind = wait_stack_kind(stack, in_interrupt) };

	if (wake.kind == ENDED_THREAD) {
		const struct pairing_out *out = pairing_find_wait(&b->pairing, woken);
		if (out && out->pid != s->pid && out->lock.key && !out->lock.is_shared &&
		    (futex_key(&c->tables, s, out->pid, false) == out->lock.key ||
		     futex_key(&c->tables, s, out->pid, true) == out->lock.key))
			wake_ids_share(&b->ids, out->pid, s->pid);
		pid_t memory = wake_ids_memory(&b->ids, s->pid);
		wake.word = futex_key(&c->tables, s, memory, false);
		wake.pair = futex_key(&c->tables, s, memory, true);
	}
	pairing_sampled(&b->pairing, s->tid, s->time);
	if (woken > 0)
		pairing_wake(&b->pairing, woken, &wake);
}

/* Return the number of the stack of S. */
static uint32_t stack_of(struct collect *c, const struct resolved_sample *s)
{
	enum { STACKS_MAX = 1 << 22, FRAMES_MAX = 1 << 26 };
	struct blame *b = c->blame;

	if (b->stacks.count < STACKS_MAX && b->stacks.frames < FRAMES_MAX)
		return chain_index_add(&b->index, s->frame, s->frames, s->end);
	uint32_t other = profile_named_frame(&collect_subject(c, NULL)->profile, WORD_OTHER_STACKS);
	return chain_index_add(&b->index, &other, 1, STACK_WHOLE);
}

void collect_blame_sample(struct collect *c, struct collect_ahead *raw, struct resolved_sample *s,
			  uint32_t labels, bool selected)
{
	struct blame *b = c->blame;
	enum blame_event kind = kind_of(c, s->event);

	if (!s->time)
		return;
	if (kind == BLAME_OTHER) {
		pairing_sampled(&b->pairing, s->tid, s->time);
		return;
	}
	collect_find_frames(c, raw, s);
	if (raw)
		resolver_data(c->resolver, c->in, &raw->sample, s);
	const struct wait_stack stack = wait_stack_of(&b->names, &c->tables, s->frame, s->frames);
	const struct delay_place at = { stack_of(c, s), labels };
	if (kind == BLAME_OUT)
		take_out(c, s, &stack, at, !selected);
	else if (kind == BLAME_SWITCH)
		take_switch(c, s, &stack, at, !selected);
	else
		take_wake(c, s, &stack, at);
}

void collect_blame_switch(struct collect *c, const struct record *rec, pid_t tid, uint64_t time)
{
	struct pairing *p = &c->blame->pairing;

	p->by_all |= rec->type == PERF_RECORD_SWITCH_CPU_WIDE;
	if (rec->misc & PERF_RECORD_MISC_SWITCH_OUT)
		pairing_switched(p, tid, time, rec->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	else
		pairing_runs(p, tid, time);
}

void collect_blame_thread(struct collect *c, const struct task_record *task, bool exits,
			  uint64_t time)
{
	struct blame *b = c->blame;
	const char *name = tasks_name_text(&c->labeler.tasks, task->tid);

	if (!exits) {
		pairing_new_thread(&b->pairing, task->tid);
		return;
	}
	uint32_t frame = profile_named_frame(&collect_subject(c, NULL)->profile, WORD_EXIT);
	pairing_exit(&b->pairing, &(struct pairing_wake){
		.time = time, .pid = task->pid, .tid = task->tid, .kind = ENDED_EXIT,
		.name = intern_text(&b->texts, name),
		.at.stack = chain_index_add(&b->index, &frame, 1, STACK_WHOLE) }, task->parent_pid);
}

void collect_blame_exec(struct collect *c, pid_t tid)
{
	pairing_new_thread(&c->blame->pairing, tid);
}

void collect_blame_forget(struct collect *c, pid_t tid)
{
	pairing_forget(&c->blame->pairing, tid);
}

void collect_relabel_blame(struct collect *c, const uint32_t *moved)
{
	pairing_relabel(&c->blame->pairing, moved);
}

/* Add the frames of stack ID to FRAME, which has COUNT.  Return the new count. */
static uint32_t add_frames(const struct blame *b, uint32_t id, uint32_t *frame, uint32_t count)
{
	const struct resolved_chain *chain = &b->stacks.chain[id];
	uint32_t room = RESOLVED_FRAMES_MAX - count;
	uint32_t frames = chain->frames < room ? chain->frames : room;

	memcpy(frame + count, b->stacks.frame + chain->first, frames * sizeof(*frame));
	return count + frames;
}

/* Write the frames of NODE and all before it to c->frame, the leaf first.  Return their number. */
static uint32_t path_frames(struct collect *c, struct profile *p, uint32_t node)
{
	static const char *const words[] = {
		[DELAY_WAITS_FOR] = WORD_KEPT_BY, [DELAY_WAITED_IN] = WORD_WAITED_IN,
		[DELAY_SCHEDULER] = WORD_SCHEDULER, [DELAY_EARLIER] = WORD_EARLIER_UNLOCKS };
	struct blame *b = c->blame;
	uint32_t count = 0;

	for (uint32_t i = node; i != TABLE_NONE; i = b->pairing.delays.node[i].parent) {
		const struct delay_node *n = &b->pairing.delays.node[i];
		if (n->link < DELAY_SCHEDULER)
			count = add_frames(b, n->at.stack, c->frame, count);
		if (n->link != DELAY_ROOT && count < RESOLVED_FRAMES_MAX)
			c->frame[count++] = profile_named_frame(p, words[n->link]);
	}
	return count;
}

/* Return the labels of the root of NODE. */
static uint32_t path_labels(const struct delays *d, uint32_t node)
{
	while (d->node[node].parent != TABLE_NONE)
		node = d->node[node].parent;
	return d->node[node].at.labels;
}

void collect_end_blame(struct collect *c, uint64_t time)
{
	struct blame *b = c->blame;
	const struct delays *d = &b->pairing.delays;
	struct profile *p = &collect_subject(c, NULL)->profile;

	if (c->events->count)
		kind_of(c, c->events->count - 1);
	pairing_end(&b->pairing, time);
	if (b->event == TABLE_NONE || !b->has_wakes)
		return;
	p->only = c->events->event[b->event].name;
	p->delays = true;
	profile_add_waits(p, NULL, 0, b->event, 0, 0);
	for (uint32_t i = 0; i < d->count; i++) {
		if (!d->node[i].count && !d->node[i].ns)
			continue;
		collect_limit_stacks(c, p);
		uint32_t frames = path_frames(c, p, i);
		struct chain_entry *chain = chains_add(&p->chains, c->frame, frames);
		profile_add_waits(p, chain, path_labels(d, i), b->event, d->node[i].count,
				  d->node[i].ns);
	}
}

bool collect_lacks_waits(const struct collect *c)
{
	return c->blame && (c->blame->event == TABLE_NONE || !c->blame->has_wakes);
}

void collect_report_blame(const struct collect *c, struct report *report)
{
	if (c->events->count && collect_lacks_waits(c))
		report_error(report, "the stream does not have both waits and wakes: record with "
			     "pmu-sample --waits");
	else
		pairing_report(&c->blame->pairing, report);
	if (c->blame->ids.is_inside)
		report_note(report, "this was recorded in a PID namespace, where the kernel does "
			    "not say which thread is woken: %" PRIu64 " of %" PRIu64 " wakes are "
			    "of unknown threads; record outside (docker run --pid=host)",
			    c->blame->ids.unknown, c->blame->ids.unknown + c->blame->ids.known);
}

void collect_release_blame(struct collect *c)
{
	struct blame *b = c->blame;

	if (!b)
		return;
	pairing_release(&b->pairing);
	chain_index_release(&b->index);
	free(b->stacks.chain);
	free(b->stacks.frame);
	free(b->names.hints);
	wake_ids_release(&b->ids);
	intern_release(&b->texts);
	free(b->kind);
	free(b);
}
