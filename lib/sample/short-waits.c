/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/short-waits.h"
#include "base/arena.h"
#include "record/sample.h"
#include "sample/waiting.h"

#include <stdlib.h>
#include <string.h>

/* What happened to a thread; if at the same time, in this order. */
enum switch_kind { SWITCH_SAMPLED, SWITCH_PREEMPTED, SWITCH_IN };

struct switch_seen {
	uint64_t time;		/* ns */
	pid_t tid;
	enum switch_kind kind;
};

void short_waits_begin(struct short_waits *w)
{
	w->count = 0;
}

void short_waits_look(struct short_waits *w, const struct perf_event_header *record,
		      const struct sample_layout *layout, bool is_wait)
{
	struct switch_seen s = { .kind = SWITCH_SAMPLED };

	if (record->type == PERF_RECORD_SAMPLE && !is_wait)
		return;
	if (!waiting_read_switch(record, layout, &s.tid, &s.time))
		return;
	if (record->type != PERF_RECORD_SAMPLE) {
		bool is_out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
		if (is_out && !(record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT))
			return;
		s.kind = is_out ? SWITCH_PREEMPTED : SWITCH_IN;
	}
	if (w->count == w->room) {
		w->room = w->room ? 2 * w->room : 1024;
		w->seen = mem_resize(w->seen, w->room * sizeof(*w->seen));
	}
	w->seen[w->count++] = s;
}

static int compare_places(const struct switch_seen *a, const struct switch_seen *b)
{
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (a->time > b->time) - (a->time < b->time);
}

static int compare(const void *a, const void *b)
{
	const struct switch_seen *x = a, *y = b;
	int places = compare_places(x, y);

	return places ? places : (x->kind > y->kind) - (x->kind < y->kind);
}

static int compare_waits(const void *a, const void *b)
{
	return compare_places(a, b);
}

void short_waits_find(struct short_waits *w)
{
	size_t found = 0;

	if (w->count)
		qsort(w->seen, w->count, sizeof(*w->seen), compare);
	for (size_t i = 0; i + 1 < w->count; i++) {
		const struct switch_seen *s = &w->seen[i], *next = s + 1;
		if (s->kind == SWITCH_SAMPLED && next->kind == SWITCH_IN && next->tid == s->tid &&
		    next->time - s->time < w->least)
			w->seen[found++] = *s;
	}
	w->count = found;
}

static void put(struct short_waits *w, const void *bytes, size_t size)
{
	buffer_add(&w->record, bytes, size);
}

/* Write SAMPLE, which is RECORD, without its callchain, registers and stack. */
static void make(struct short_waits *w, const struct perf_event_header *record,
		 const struct sample *sample)
{
	static const uint64_t chain[] = { 2, (uint64_t)PERF_CONTEXT_KERNEL, SHORT_WAITS_ADDRESS };
	static const uint64_t none;
	const struct perf_event_attr *attr = &w->event->attr;
	const uint8_t *from = (const uint8_t *)record;
	uint64_t size = 0;

	w->record.size = 0;
	if (attr->sample_type & PERF_SAMPLE_CALLCHAIN) {
		put(w, from, (size_t)(sample->callchain.at - sizeof(uint64_t) - from));
		put(w, chain, sizeof(chain));
		from = sample->callchain.at + 8 * sample->callchain.count;
	}
	if (attr->sample_type & PERF_SAMPLE_REGS_USER) {
		put(w, from, (size_t)(sample->user_regs.at - sizeof(uint64_t) - from));
		put(w, &none, sizeof(none));	/* the ABI */
		from = sample->user_regs.at + 8 * sample->user_regs.count;
	}
	if (attr->sample_type & PERF_SAMPLE_STACK_USER) {
		const uint8_t *stack = sample->user_stack.at;
		memcpy(&size, stack - sizeof(size), sizeof(size));
		put(w, from, (size_t)(stack - sizeof(size) - from));
		put(w, &none, sizeof(none));	/* the size */
		from = stack + size + (size ? sizeof(size) : 0);
	}
	put(w, from, (size_t)((const uint8_t *)record + record->size - from));
}

const struct perf_event_header *short_waits_replace(struct short_waits *w,
						    const struct perf_event_header *record,
						    const struct sample_layout *layout)
{
	const uint64_t address = SHORT_WAITS_ADDRESS;
	struct perf_event_header header = *record;
	struct switch_seen place;
	struct sample sample;
	struct record view;
	uint64_t needed;

	if (!w->count || !waiting_read_switch(record, layout, &place.tid, &place.time) ||
	    !bsearch(&place, w->seen, w->count, sizeof(place), compare_waits))
		return record;
	record_frame(&view, (const uint8_t *)record, false);
	if (!sample_decode(w->event, 0, &view, &sample, &needed))
		return record;
	make(w, record, &sample);
	header.misc = PERF_RECORD_MISC_KERNEL;
	header.size = (uint16_t)w->record.size;
	memcpy(w->record.at, &header, sizeof(header));
	memcpy(w->record.at + sizeof(header) + w->event->layout.ip, &address, sizeof(address));
	w->replaced++;
	return (const void *)w->record.at;
}

void short_waits_release(struct short_waits *w)
{
	free(w->seen);
	free(w->record.at);
	*w = (struct short_waits){ .least = 0 };
}
