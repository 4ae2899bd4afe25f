/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/relay.h"
#include "base/arena.h"
#include "base/clock.h"
#include "relay/internal.h"
#include "stream/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

enum {
	WAITING_MAX = 32 << 20,	/* bytes; beyond that, records leave unchanged */
	LOOK_MS = 20,		/* between checks of a helper for which we wait */
	SHOWN = 16,		/* of so many samples the helper sees one, if it needs few */
};

/* A record that waits: its bytes follow here, or the helper has them. */
struct relayed_record {
	uint64_t question;	/* its number; EXCHANGE_NO_QUESTION: the record follows */
	uint64_t position;	/* of the question in the exchange, after its entry */
	uint64_t size;		/* of the record, in bytes */
};

void relay_use(struct relay *r, struct helper *helper)
{
	r->helper = helper;
	r->made = (struct output){ .report = r->report, .file = "memory", .fd = -1,
				   .buffer = mem_resize(NULL, OUTPUT_BUFFER) };
}

bool relay_wants_helper(const struct relay *r)
{
	return r->helper && !r->helper->pid && r->start_due && monotonic_ns() >= r->start_due;
}

/* Set the time when to start another helper, and return the seconds until then. */
static unsigned plan_start(struct relay *r)
{
	enum { DOUBLED_MOST = 8 };
	const uint64_t second = 1000000000, hour = 3600 * second;
	uint64_t now = monotonic_ns();

	if (!r->hour_start || now - r->hour_start >= hour) {
		r->hour_start = now;
		r->starts = 0;
	}
	unsigned pause = 1U << (r->starts < DOUBLED_MOST ? r->starts : DOUBLED_MOST);
	r->starts++;
	r->start_due = now + pause * second;
	return pause;
}

void relay_replace(struct relay *r, struct helper *helper)
{
	if (!helper) {
		plan_start(r);
		return;
	}
	timeradd(&r->used, &r->helper->used.ru_utime, &r->used);
	timeradd(&r->used, &r->helper->used.ru_stime, &r->used);
	helper_free(r->helper);
	r->helper = helper;
	r->start_due = 0;
	r->all_starts++;
}

static struct exchange *exchange_of(struct relay *r)
{
	return r->helper && r->helper->pid ? &r->helper->exchange : NULL;
}

/* Append W, and the bytes of its record unless the helper has them. */
static void append(struct relay *r, struct relayed_record w, const void *record)
{
	size_t bytes = w.question == EXCHANGE_NO_QUESTION ? w.size : 0;
	size_t needed = sizeof(w) + bytes;

	if (r->first == r->end)
		r->first = r->end = 0;
	if (r->end + needed > r->room && r->first > r->room / 2) {
		memmove(r->waiting, r->waiting + r->first, r->end - r->first);
		r->end -= r->first;
		r->first = 0;
	}
	while (r->end + needed > r->room) {
		r->room = r->room ? 2 * r->room : OUTPUT_BUFFER;
		r->waiting = mem_resize(r->waiting, r->room);
	}
	memcpy(r->waiting + r->end, &w, sizeof(w));
	if (bytes)
		memcpy(r->waiting + r->end + sizeof(w), record, bytes);
	r->end += needed;
}

/* Return whether a sample that is not unwound leaves without its dump. */
static bool leaves_out_dumps(struct relay *r)
{
	return r->registers || (r->has_frame_pointers && exchange_of(r));
}

/* Copy RECORD, a sample of EVENT that was not unwound, to TO, as it leaves.  Return its size. */
static size_t copy_as_it_leaves(struct relay *r, uint8_t *to,
				const struct perf_event_header *record,
				const struct stream_event *event)
{
	return r->registers ? trim_to_registers(to, record, event, r->registers)
			    : trim_copy(to, record, event, leaves_out_dumps(r));
}

/* Count DUMPS that leave unchanged, by the reason. */
static void count_kept(struct relay *r, uint64_t dumps)
{
	if (exchange_of(r))
		r->kept += dumps;
	else
		r->without += dumps;
}

/*
 * Write the question W, which was not unwound, and count it.  IS_ANSWERED: the helper answered that
 * it stays as it is.
 */
static void write_as_it_is(struct relay *r, const struct relayed_record *w, bool is_answered)
{
	const struct exchange *x = &r->helper->exchange;
	uint64_t at = w->position - sizeof(struct exchange_entry);
	const struct exchange_entry *entry = (const void *)(x->record_bytes + (at & (x->size - 1)));
	const struct perf_event_header *record = (const void *)(entry + 1);

	if (leaves_out_dumps(r)) {
		output_commit(r->out, copy_as_it_leaves(r, output_room(r->out, w->size), record,
							&r->events->event[entry->event]));
		*(is_answered ? &r->beyond : &r->late) += 1;
	} else {
		output_write(r->out, record, w->size);
		count_kept(r, !is_answered);
	}
}

/* Write the answer to W, or its record as it is. */
static void write_question(struct relay *r, const struct relayed_record *w)
{
	struct exchange *x = &r->helper->exchange;
	uint8_t *room = output_room(r->out, RECORD_MAX_SIZE);
	bool is_answered = exchange_is_answered(x, w->question);
	size_t size = exchange_take(x, w->question, room);
	struct perf_event_header header = { 0 };

	/* The copy in ROOM is ours: the helper cannot change it any more. */
	if (size >= sizeof(header))
		memcpy(&header, room, sizeof(header));
	if (header.type == PERF_RECORD_SAMPLE && header.size == size && size % 8 == 0) {
		output_commit(r->out, size);
		r->unwound++;
	} else {
		write_as_it_is(r, w, is_answered);
	}
	r->questions--;
}

/* Write records that wait: all, or those up to the first that is not ready. */
static void write_waiting(struct relay *r, bool all)
{
	struct relayed_record w;

	while (relay_waits(r)) {
		memcpy(&w, r->waiting + r->first, sizeof(w));
		bool is_question = w.question != EXCHANGE_NO_QUESTION;
		if (is_question && !all &&
		    !exchange_is_answered(&r->helper->exchange, w.question))
			break;
		if (is_question)
			write_question(r, &w);
		else
			output_write(r->out, r->waiting + r->first + sizeof(w), w.size);
		r->first += sizeof(w) + (is_question ? 0 : w.size);
		if (is_question && r->helper)
			exchange_release(&r->helper->exchange, w.position + w.size);
	}
	if (r->helper && r->questions == 0)
		exchange_release(&r->helper->exchange, r->helper->exchange.head);
}

/* The helper has ended early, or missed a mapping: continue without it, for some time. */
static void give_up(struct relay *r, const char *why)
{
	char fault[sizeof(r->helper->fault)];

	snprintf(fault, sizeof(fault), "%s", why);
	helper_stop(r->helper, fault);
	write_waiting(r, true);
	report_note(r->report, "the process that unwinds stacks %s: it is started again in %u s; "
		    "until then stacks are %s", fault, plan_start(r),
		    r->registers ? "followed by frame pointers"
				 : "recorded as they are: put pmu-unwind after pmu-sample");
}

/* Give the helper time to answer from now on; after a request to stop, only once. */
static void await(struct relay *r)
{
	if (!r->is_stopping)
		helper_await(r->helper);
	r->is_stopping = r->stop && *r->stop;
}

/* Write the answered records.  Stop a helper that claims to have read all, but answers less. */
static void take_answers(struct relay *r)
{
	struct exchange *x = &r->helper->exchange;
	bool all_read = exchange_progress(x) == x->head;	/* before we look at the answers */

	write_waiting(r, false);
	if (all_read && r->questions)
		helper_stop(r->helper, "does not answer");
}

/*
 * Write the records that are ready; if the helper does not work, write all.  IS_WAIT: the time for
 * all answers began with the wait.  Otherwise each answer gives the helper new time.
 */
static void write_ready(struct relay *r, bool is_wait)
{
	if (!exchange_of(r)) {
		write_waiting(r, true);
		return;
	}
	uint64_t taken = r->helper->exchange.taken;
	take_answers(r);
	if (!is_wait && r->helper->exchange.taken != taken)
		await(r);
	bool works = helper_works(r->helper, is_wait ? LOOK_MS : 0, r->questions > 0);
	write_waiting(r, !works);
	r->hung |= !works && r->helper->pid;
	if (!r->helper->pid)
		give_up(r, r->helper->fault);
}

/* Wait until all records that the helper has are written. */
static void wait_for_all(struct relay *r)
{
	if (relay_waits(r) && exchange_of(r))
		await(r);
	while (relay_waits(r)) {
		if (exchange_of(r))
			helper_wake(r->helper);
		write_ready(r, true);
	}
}

/* Return room in the exchange for SIZE bytes; if the relay may wait, wait for it. */
static void *room_for(struct relay *r, size_t size, bool is_question)
{
	struct exchange *x = exchange_of(r);
	void *room = x ? exchange_room(x, size, is_question) : NULL;

	if (room || !x || !r->may_wait)
		return room;
	wait_for_all(r);
	return exchange_of(r) ? exchange_room(x, size, is_question) : NULL;
}

/* Show RECORD to the helper, if it is about mappings or about the start or end of threads. */
static void show_helper(struct relay *r, const struct perf_event_header *record)
{
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case RECORD_FINISHED_ROUND:
		break;
	default:
		return;
	}
	void *room = room_for(r, record->size, false);
	if (room) {
		memcpy(room, record, record->size);
		exchange_put(exchange_of(r), record->size, 0, false);
	} else if (exchange_of(r)) {
		give_up(r, "hangs");
	}
}

void relay_write(struct relay *r, const struct perf_event_header *record)
{
	if (r->helper)
		show_helper(r, record);
	if (relay_waits(r))
		append(r, (struct relayed_record){ EXCHANGE_NO_QUESTION, 0, record->size }, record);
	else
		output_write(r->out, record, record->size);
	if (r->end - r->first > WAITING_MAX)
		write_waiting(r, true);
}

/* Write RECORD without its unused bytes or its dump, after the records that wait. */
static void write_trimmed(struct relay *r, const struct perf_event_header *record,
			  const struct stream_event *event)
{
	uint8_t *room = output_room(relay_waits(r) ? &r->made : r->out, record->size);
	size_t size = copy_as_it_leaves(r, room, record, event);

	if (relay_waits(r))
		append(r, (struct relayed_record){ EXCHANGE_NO_QUESTION, 0, size }, room);
	else
		output_commit(r->out, size);
	if (r->end - r->first > WAITING_MAX)
		write_waiting(r, true);
}

/* Return whether the helper need not see a sample. */
static bool is_spared(struct relay *r)
{
	struct exchange *x = r->has_frame_pointers ? exchange_of(r) : NULL;

	return x && exchange_spares(x) && ++r->unseen % SHOWN;
}

void relay_sample(struct relay *r, const struct perf_event_header *record, uint32_t index)
{
	const struct stream_event *event = &r->events->event[index];
	bool spares = is_spared(r);
	uint8_t *room = r->helper && !spares ? room_for(r, record->size, true) : NULL;

	if (!room) {
		if (leaves_out_dumps(r))
			*(spares ? &r->spared : &r->late) += 1;
		else
			count_kept(r, r->helper != NULL);
		write_trimmed(r, record, event);
		return;
	}
	struct exchange *x = exchange_of(r);
	size_t size = trim_copy(room, record, event, false);
	uint64_t position = x->head + sizeof(struct exchange_entry);
	if (r->questions++ == 0) {
		r->helper->progress_at = 0;	/* the helper had no work so far */
		await(r);
	}
	append(r, (struct relayed_record){ exchange_put(x, size, index, true), position, size },
	       NULL);
	/* Let the helper work while the round continues. */
	if (r->questions == 1 || x->head - exchange_progress(x) > x->size / 2)
		helper_wake(r->helper);
}

struct output *relay_begin(struct relay *r)
{
	return r->helper ? &r->made : r->out;
}

void relay_end(struct relay *r)
{
	if (!r->helper)
		return;
	for (size_t at = 0; at < r->made.used; ) {
		const struct perf_event_header *record = (const void *)(r->made.buffer + at);
		at += record->size;
		relay_write(r, record);
	}
	r->made.used = 0;
}

void relay_show(struct relay *r, const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; r->helper && at < size; ) {
		const struct perf_event_header *record = (const void *)(bytes + at);
		at += record->size;
		show_helper(r, record);
	}
}

void relay_round(struct relay *r, bool is_last)
{
	static const struct perf_event_header round = { RECORD_FINISHED_ROUND, 0, sizeof(round) };

	if (!r->helper)
		return;
	show_helper(r, &round);
	if (exchange_of(r))
		helper_wake(r->helper);
	write_ready(r, false);
	if (is_last)
		wait_for_all(r);
}

void relay_stop(struct relay *r)
{
	if (!r->helper)
		return;
	bool is_bad = exchange_of(r) && !helper_works(r->helper, 0, false);
	helper_end(r->helper, is_bad);
}

void relay_release(struct relay *r)
{
	if (r->helper)
		helper_end(r->helper, true);
	helper_free(r->helper);
	free(r->made.buffer);
	free(r->waiting);
}
