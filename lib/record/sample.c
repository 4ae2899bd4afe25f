/* SPDX-License-Identifier: Apache-2.0 */
#include "record/sample.h"
#include "record/ibs.h"
#include "record/bit-fields.h"
#include "record/label-payload.h"

/* Return the u64 at OFFSET of BODY, or 0 if it is absent. */
static uint64_t optional_u64(const uint8_t *body, uint16_t offset)
{
	return offset == ABSENT ? 0 : load_u64(body + offset);
}

/* Return the period of the sample with BODY. */
static uint64_t period_of(const struct stream_event *event, const uint8_t *body)
{
	if (event->layout.period != ABSENT)
		return optional_u64(body, event->layout.period);
	return event->attr.freq ? 1 : event->attr.sample_period;
}

#define inlined static inline __attribute__((always_inline))

/*
 * A walk over the fields after the fixed ones.  The same code decodes the fields, or converts
 * them from the other byte order (then BYTES.swap is set), so the order of fields is defined
 * once.  It is inlined twice, with a constant IN_PLACE: conversion does not slow down decoding.
 */
struct sample_walk {
	struct cursor bytes;
	bool in_place;		/* convert the bytes in place; they must be writable */
};

inlined uint64_t take_u64(struct sample_walk *w)
{
	uint8_t *at = (uint8_t *)w->bytes.at;
	uint64_t v = cursor_u64(&w->bytes);

	if (w->in_place && !w->bytes.failed)
		memcpy(at, &v, sizeof(v));
	return v;
}

inlined uint32_t take_u32(struct sample_walk *w)
{
	uint8_t *at = (uint8_t *)w->bytes.at;
	uint32_t v = cursor_u32(&w->bytes);

	if (w->in_place && !w->bytes.failed)
		memcpy(at, &v, sizeof(v));
	return v;
}

inlined uint64_t take_if(struct sample_walk *w, uint64_t asked)
{
	return asked ? take_u64(w) : 0;
}

/* Take COUNT words.  Any count that does not fit makes the walk fail. */
inlined struct words take_words(struct sample_walk *w, uint64_t count)
{
	struct words words = { .at = w->bytes.at, .count = count };

	if (count > cursor_left(&w->bytes) / 8) {
		w->bytes.failed = true;
		return (struct words){ 0 };
	}
	if (!w->in_place)
		cursor_bytes(&w->bytes, 8 * count);
	for (uint64_t i = 0; w->in_place && i < count; i++)
		take_u64(w);
	return words;
}

inlined struct bytes take_bytes(struct sample_walk *w, uint64_t size)
{
	struct bytes b = { .at = w->bytes.at, .size = size };

	if (size > cursor_left(&w->bytes)) {
		w->bytes.failed = true;
		return (struct bytes){ 0 };
	}
	cursor_bytes(&w->bytes, size);
	return b;
}

/*
 * struct read_format: without GROUP { value, enabled?, running?, id?, lost? },
 * with GROUP { nr, enabled?, running?, { value, id?, lost? }[nr] }.
 */
inlined struct words take_read(struct sample_walk *w, uint64_t format)
{
	uint64_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			 !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);

	if (!(format & PERF_FORMAT_GROUP))
		return take_words(w, times + each);
	struct cursor peek = w->bytes;
	uint64_t count = cursor_u64(&peek);
	if (count > cursor_left(&w->bytes) / 8)	/* so that the product cannot overflow */
		w->bytes.failed = true;
	return take_words(w, w->bytes.failed ? 0 : 1 + times + count * each);
}

/* u64 abi; then, unless that is 0 (none), one word per bit of MASK. */
inlined struct words take_regs(struct sample_walk *w, uint64_t mask, uint64_t *abi)
{
	*abi = take_u64(w);
	return take_words(w, *abi ? (uint64_t)__builtin_popcountll(mask) : 0);
}

/* u64 size; bytes[size]; then, if size is not 0, u64: how many of the bytes are valid. */
inlined struct bytes take_user_stack(struct sample_walk *w)
{
	struct bytes stack = take_bytes(w, take_u64(w));

	if (stack.size > 0) {
		uint64_t used = take_u64(w);
		if (used < stack.size)
			stack.size = used;
	}
	return stack;
}

/* u64 nr; u64 hw_idx if asked for; { from, to, flags }[nr]; u64 counters[nr] if asked for */
inlined struct words take_branches(struct sample_walk *w, uint64_t branch_sample_type)
{
	uint64_t count = take_u64(w);

	take_if(w, branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX);
	if (count > cursor_left(&w->bytes) / 24)
		w->bytes.failed = true;
	struct words entries = take_words(w, w->bytes.failed ? 0 : 3 * count);
	for (uint64_t i = 0; w->in_place && i < entries.count; i += 3) {
		uint64_t flags = bit_fields_swap(BRANCH_FIELDS, word_at(entries, i + 2));
		memcpy((uint8_t *)entries.at + 8 * (i + 2), &flags, sizeof(flags));
	}
	if (branch_sample_type & SAMPLE_BRANCH_COUNTERS)
		take_words(w, count);
	return entries;
}

/* Flags of the fields after the fixed ones, except the callchain. */
static const uint64_t variable = ~(uint64_t)(
	PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
	PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN);

/* Walk over the fields after the fixed ones, in the order of linux/perf_event.h. */
inlined void walk_fields(const struct perf_event_attr *attr, struct sample_walk *w,
			 struct sample *out)
{
	const uint64_t chain = PERF_SAMPLE_CALLCHAIN;
	uint64_t type = attr->sample_type;

	if ((type & (variable | chain)) == chain) {	/* what most samples have */
		out->callchain = take_words(w, take_u64(w));
		return;
	}
	if (type & PERF_SAMPLE_READ)
		out->read = take_read(w, attr->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		out->callchain = take_words(w, take_u64(w));
	if (type & PERF_SAMPLE_RAW)
		out->raw = take_bytes(w, take_u32(w));
	if (type & PERF_SAMPLE_BRANCH_STACK)
		out->branches = take_branches(w, attr->branch_sample_type);
	if (type & PERF_SAMPLE_REGS_USER)
		out->user_regs = take_regs(w, attr->sample_regs_user, &out->user_regs_abi);
	if (type & PERF_SAMPLE_STACK_USER)
		out->user_stack = take_user_stack(w);
	out->weight = take_if(w, type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT));
	out->data_src = take_if(w, type & PERF_SAMPLE_DATA_SRC);
	out->transaction = take_if(w, type & PERF_SAMPLE_TRANSACTION);
	if (type & PERF_SAMPLE_REGS_INTR)
		out->intr_regs = take_regs(w, attr->sample_regs_intr, &out->intr_regs_abi);
	out->phys_addr = take_if(w, type & PERF_SAMPLE_PHYS_ADDR);
	out->cgroup = take_if(w, type & PERF_SAMPLE_CGROUP);
	out->data_page_size = take_if(w, type & PERF_SAMPLE_DATA_PAGE_SIZE);
	out->code_page_size = take_if(w, type & PERF_SAMPLE_CODE_PAGE_SIZE);
	if (type & PERF_SAMPLE_AUX)
		out->aux = take_bytes(w, take_u64(w));
}

/*
 * Clear the fields that walk_fields() may set, and the labels.  They are cleared one by one,
 * because to clear a whole struct of this size, compilers use an instruction that takes as long as
 * everything else here.
 */
static void clear_variable(struct sample *out)
{
	const struct words no_words = { 0 };
	const struct bytes no_bytes = { 0 };

	out->read = no_words;
	out->callchain = no_words;
	out->raw = no_bytes;
	out->branches = no_words;
	out->user_regs = no_words;
	out->user_regs_abi = 0;
	out->user_stack = no_bytes;
	out->weight = out->data_src = out->transaction = 0;
	out->intr_regs = no_words;
	out->intr_regs_abi = 0;
	out->phys_addr = out->cgroup = 0;
	out->data_page_size = out->code_page_size = 0;
	out->aux = no_bytes;
	out->labels = (struct sample_labels){ .is_known = false };
}

bool sample_decode(const struct stream_event *event, uint32_t index, const struct record *rec,
		   struct sample *out, uint64_t *needed)
{
	const struct sample_layout *l = &event->layout;
	const uint8_t *body = rec->body.at;
	struct sample_walk w = { rec->body, false };

	*needed = l->size;
	if (!cursor_bytes(&w.bytes, l->size))
		return false;
	clear_variable(out);
	out->event = index;
	out->misc = rec->misc;
	out->pid = l->tid != ABSENT ? (pid_t)load_u32(body + l->tid) : -1;
	out->tid = l->tid != ABSENT ? (pid_t)load_u32(body + l->tid + 4) : -1;
	out->cpu = l->cpu != ABSENT ? load_u32(body + l->cpu) : 0;
	out->ip = optional_u64(body, l->ip);
	out->time = optional_u64(body, l->time);
	out->addr = optional_u64(body, l->addr);
	out->id = optional_u64(body, l->id);
	out->stream_id = optional_u64(body, l->stream_id);
	out->period = period_of(event, body);
	if (l->more)
		walk_fields(&event->attr, &w, out);
	if (event->ibs.is_op && !w.bytes.failed)
		ibs_complete(event, out);
	*needed = (uint64_t)(w.bytes.at - body) + 8;
	return !w.bytes.failed;
}

/*
 * Return whether REC is intact, and its only field of variable size is a callchain.  Set *CHAIN to
 * the callchain.
 */
inlined bool is_plain(const struct stream_event *event, const struct record *rec,
		      struct words *chain)
{
	const struct sample_layout *l = &event->layout;
	size_t size = cursor_left(&rec->body), fixed = l->size;

	*chain = (struct words){ 0 };
	if (event->attr.sample_type & variable || size < fixed)
		return false;
	if (!l->more)
		return true;
	size_t words = (size - fixed) / 8;	/* words of the callchain, including the count
						   before them */
	if (words == 0)
		return false;
	*chain = (struct words){ rec->body.at + fixed + 8, optional_u64(rec->body.at, l->size) };
	return chain->count <= words - 1;
}

size_t sample_choose_registers(uint8_t *to, struct words registers, uint64_t have, uint64_t wanted)
{
	size_t size = 0;
	uint64_t at = 0;

	for (uint64_t left = have; left && at < registers.count; left &= left - 1, at++) {
		if (!(wanted & left & -left))
			continue;
		uint64_t value = word_at(registers, at);
		memcpy(to + size, &value, sizeof(value));
		size += sizeof(value);
	}
	return size;
}

bool sample_decode_brief(const struct stream_event *event, uint32_t index,
			 const struct record *rec, struct sample_brief *out)
{
	struct words chain;

	if (!is_plain(event, rec, &chain))
		return false;
	out->event = index;
	out->time = optional_u64(rec->body.at, event->layout.time);
	out->period = period_of(event, rec->body.at);
	return true;
}

bool sample_decode_plain(const struct stream_event *event, const struct record *rec,
			 struct sample_plain *out)
{
	const struct sample_layout *l = &event->layout;
	const uint8_t *body = rec->body.at;

	if (!is_plain(event, rec, &out->callchain))
		return false;
	out->pid = l->tid != ABSENT ? (pid_t)load_u32(body + l->tid) : -1;
	out->tid = l->tid != ABSENT ? (pid_t)load_u32(body + l->tid + 4) : -1;
	out->ip = optional_u64(body, l->ip);
	out->time = optional_u64(body, l->time);
	out->period = period_of(event, body);
	return true;
}

/* Convert the fixed fields of a labels record, RAW of EVENT (record/label-payload.h). */
static void swap_labels(const struct stream_event *event, struct bytes raw)
{
	uint8_t *at = (uint8_t *)raw.at;

	if (!event->is_labels || raw.size < LABEL_PAYLOAD_HEAD)
		return;
	struct sample_walk w = { { .at = at, .end = at + LABEL_PAYLOAD_HEAD, .swap = true }, true };
	take_u32(&w);		/* magic */
	cursor_bytes(&w.bytes, 4);
	take_u64(&w);		/* event */
	take_u64(&w);		/* address */
	take_u32(&w);		/* bytes of the pairs */
	take_u32(&w);		/* labels */
}

void sample_swap(const struct stream_event *event, uint8_t *body, size_t size)
{
	const struct sample_layout *l = &event->layout;
	struct sample_walk w = { { .at = body, .end = body + size, .swap = true }, true };
	struct sample fields = { .raw = { .size = 0 } };

	for (uint16_t offset = 0; offset < l->size && !w.bytes.failed; offset += 8) {
		if (offset == l->tid || offset == l->cpu) {
			take_u32(&w);
			take_u32(&w);
		} else {
			take_u64(&w);
		}
	}
	if (l->more && !w.bytes.failed)
		walk_fields(&event->attr, &w, &fields);
	swap_labels(event, fields.raw);
}
