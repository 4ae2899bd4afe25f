/* SPDX-License-Identifier: Apache-2.0 */
#include "record/sample.h"

static uint64_t load_u64(const uint8_t *body, uint16_t offset)
{
	uint64_t v = 0;

	if (offset != ABSENT)
		memcpy(&v, body + offset, 8);
	return v;
}

static uint32_t load_u32(const uint8_t *body, uint16_t offset)
{
	uint32_t v;

	memcpy(&v, body + offset, 4);
	return v;
}

/* COUNT words; a count that does not fit fails, however large it is. */
static struct words take_words(struct cursor *c, uint64_t count)
{
	struct words w = { .at = c->at, .count = count };

	if (count > cursor_left(c) / 8) {
		c->failed = true;
		return (struct words){ 0 };
	}
	cursor_bytes(c, 8 * count);
	return w;
}

static struct bytes take_bytes(struct cursor *c, uint64_t size)
{
	struct bytes b = { .at = c->at, .size = size };

	if (size > cursor_left(c)) {
		c->failed = true;
		return (struct bytes){ 0 };
	}
	cursor_bytes(c, size);
	return b;
}

/*
 * struct read_format: without GROUP { value, enabled?, running?, id?, lost? },
 * with GROUP { nr, enabled?, running?, { value, id?, lost? }[nr] }.
 */
static struct words take_read(struct cursor *c, uint64_t format)
{
	uint64_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			 !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);

	if (!(format & PERF_FORMAT_GROUP))
		return take_words(c, times + each);
	struct cursor peek = *c;
	uint64_t count = cursor_u64(&peek);
	if (count > cursor_left(c) / 8)	/* so that the product cannot overflow */
		c->failed = true;
	return take_words(c, c->failed ? 0 : 1 + times + count * each);
}

/* u64 abi; then, unless that is 0 (none), one word per bit of MASK. */
static struct words take_regs(struct cursor *c, uint64_t mask, uint64_t *abi)
{
	*abi = cursor_u64(c);
	return take_words(c, *abi ? (uint64_t)__builtin_popcountll(mask) : 0);
}

/* u64 size; bytes[size]; if there are any, u64 how many of them are data. */
static struct bytes take_user_stack(struct cursor *c)
{
	struct bytes stack = take_bytes(c, cursor_u64(c));

	if (stack.size > 0) {
		uint64_t used = cursor_u64(c);
		if (used < stack.size)
			stack.size = used;
	}
	return stack;
}

/* u64 nr; u64 hw_idx where asked for; { from, to, flags }[nr]; u64 counters[nr] likewise */
static struct words take_branches(struct cursor *c, uint64_t branch_sample_type)
{
	uint64_t count = cursor_u64(c);

	if (branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		cursor_u64(c);
	if (count > cursor_left(c) / 24)
		c->failed = true;
	struct words entries = take_words(c, c->failed ? 0 : 3 * count);
	if (branch_sample_type & SAMPLE_BRANCH_COUNTERS)
		take_words(c, count);
	return entries;
}

static uint64_t take_u64(struct cursor *c, uint64_t asked)
{
	return asked ? cursor_u64(c) : 0;
}

/* The fields behind the fixed ones, in the order of linux/perf_event.h. */
static void decode_more(const struct perf_event_attr *attr, struct cursor *c, struct sample *out)
{
	uint64_t type = attr->sample_type;

	if (type & PERF_SAMPLE_READ)
		out->read = take_read(c, attr->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		out->callchain = take_words(c, cursor_u64(c));
	if (type & PERF_SAMPLE_RAW)
		out->raw = take_bytes(c, cursor_u32(c));
	if (type & PERF_SAMPLE_BRANCH_STACK)
		out->branches = take_branches(c, attr->branch_sample_type);
	if (type & PERF_SAMPLE_REGS_USER)
		out->user_regs = take_regs(c, attr->sample_regs_user, &out->user_regs_abi);
	if (type & PERF_SAMPLE_STACK_USER)
		out->user_stack = take_user_stack(c);
	out->weight = take_u64(c, type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT));
	out->data_src = take_u64(c, type & PERF_SAMPLE_DATA_SRC);
	out->transaction = take_u64(c, type & PERF_SAMPLE_TRANSACTION);
	if (type & PERF_SAMPLE_REGS_INTR)
		out->intr_regs = take_regs(c, attr->sample_regs_intr, &out->intr_regs_abi);
	out->phys_addr = take_u64(c, type & PERF_SAMPLE_PHYS_ADDR);
	out->cgroup = take_u64(c, type & PERF_SAMPLE_CGROUP);
	out->data_page_size = take_u64(c, type & PERF_SAMPLE_DATA_PAGE_SIZE);
	out->code_page_size = take_u64(c, type & PERF_SAMPLE_CODE_PAGE_SIZE);
	if (type & PERF_SAMPLE_AUX)
		out->aux = take_bytes(c, cursor_u64(c));
}

bool sample_decode(const struct stream_event *event, uint32_t index, const struct record *rec,
		   struct sample *out, uint64_t *needed)
{
	const struct sample_layout *l = &event->layout;
	const uint8_t *body = rec->body.at;
	struct cursor c = rec->body;

	*needed = l->size;
	if (!cursor_bytes(&c, l->size))
		return false;
	*out = (struct sample){
		.event = index, .misc = rec->misc, .pid = -1, .tid = -1,
		.ip = load_u64(body, l->ip), .time = load_u64(body, l->time),
		.addr = load_u64(body, l->addr), .id = load_u64(body, l->id),
		.stream_id = load_u64(body, l->stream_id),
		.cpu = l->cpu != ABSENT ? load_u32(body, l->cpu) : 0,
		.period = l->period != ABSENT ? load_u64(body, l->period)
			: event->attr.freq ? 1 : event->attr.sample_period,
	};
	if (l->tid != ABSENT) {
		out->pid = (pid_t)load_u32(body, l->tid);
		out->tid = (pid_t)load_u32(body, l->tid + 4);
	}
	if (l->more)
		decode_more(&event->attr, &c, out);
	*needed = (uint64_t)(c.at - body) + 8;
	return !c.failed;
}
