/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trim: a sample says the same without the unused end of its stack, however much is used; and with
 * fewer registers and no stack, the rest of it.
 */
#include "record/sample.h"
#include "relay/internal.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

enum { STACK = 64, TYPE = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN |
			  PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT };

static const struct perf_event_attr attr = {
	.size = sizeof(attr), .sample_type = TYPE, .sample_regs_user = 3,
	.sample_stack_user = STACK,
};

static uint8_t *put(uint8_t *at, uint64_t word)
{
	memcpy(at, &word, sizeof(word));
	return at + sizeof(word);
}

/* Make a SAMPLE with a stack of RESERVED bytes, USED of them valid; returns its size. */
static size_t make(uint8_t *record, uint64_t reserved, uint64_t used)
{
	struct perf_event_header header = { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 0 };
	uint8_t *at = put(put(record + sizeof(header), 0x1000), 77);

	at = put(put(put(at, 2), (uint64_t)PERF_CONTEXT_USER), 0x1000);
	at = put(put(put(at, PERF_SAMPLE_REGS_ABI_64), 11), 12);
	at = put(at, reserved);
	for (uint64_t i = 0; i < reserved; i++)
		*at++ = (uint8_t)(i + 1);
	if (reserved)
		at = put(at, used);
	at = put(at, 99);
	header.size = (uint16_t)(at - record);
	memcpy(record, &header, sizeof(header));
	return header.size;
}

static struct sample decode(const uint8_t *record, const struct stream_event *event)
{
	struct sample sample = { 0 };
	struct record rec;
	uint64_t needed;

	record_frame(&rec, record, false);
	tap(sample_decode(event, 0, &rec, &sample, &needed) &&
	    (size_t)(rec.body.end - record) >= needed, "the record has all its fields");
	return sample;
}

static bool same(const struct sample *a, const struct sample *b)
{
	return a->ip == b->ip && a->time == b->time && a->weight == b->weight &&
	       a->callchain.count == b->callchain.count && a->user_regs_abi == b->user_regs_abi &&
	       word_at(a->user_regs, 1) == word_at(b->user_regs, 1) &&
	       a->user_stack.size == b->user_stack.size &&
	       !memcmp(a->user_stack.at, b->user_stack.at, a->user_stack.size);
}

static void test_used(const struct stream_event *event, uint64_t reserved, uint64_t used)
{
	uint8_t made[512];
	size_t size = make(made, reserved, used);
	uint64_t kept = used < reserved ? (used + 7) & ~7ULL : reserved;
	size_t want = size - (reserved - kept) - (reserved && !kept ? 8 : 0);
	uint8_t *record = malloc(size), *copy = malloc(size);

	memcpy(record, made, size);
	size_t trimmed = trim_copy(copy, (void *)record, event, false);
	uint8_t *exact = malloc(want);	/* so that a byte too far is noticed */
	tap(trimmed == want && ((struct perf_event_header *)(void *)copy)->size == want,
	    "the copy has the bytes in use, rounded up to 8, and no others");
	memcpy(exact, copy, want);
	struct sample before = decode(record, event), after = decode(exact, event);
	tap(same(&before, &after), "the copy says what the sample said");
	free(record);
	free(copy);
	free(exact);
}

static void test_without(const struct stream_event *event, uint64_t used)
{
	uint8_t made[512];
	size_t size = make(made, STACK, used);
	uint8_t *record = malloc(size), *copy = malloc(size);

	memcpy(record, made, size);
	size_t trimmed = trim_copy(copy, (void *)record, event, true);
	uint8_t *exact = malloc(trimmed);
	memcpy(exact, copy, trimmed);
	struct sample before = decode(record, event), after = decode(exact, event);
	tap(trimmed == size - STACK - 8 && after.user_stack.size == 0, "no stack is left");
	before.user_stack.size = 0;
	tap(same(&before, &after), "the copy says the rest of what the sample said");
	free(record);
	free(copy);
	free(exact);
}

static void test_registers(const struct stream_event *event, const struct stream_event *trimmed,
			   uint64_t reserved, uint64_t mask)
{
	uint8_t made[512];
	size_t size = make(made, reserved, reserved / 2);
	uint8_t *record = malloc(size), *copy = malloc(size);

	memcpy(record, made, size);
	size_t left = trim_to_registers(copy, (void *)record, event, mask);
	uint8_t *exact = malloc(left);
	memcpy(exact, copy, left);
	struct sample before = decode(record, event), after = decode(exact, trimmed);
	tap(left == size - 8 - reserved - (reserved ? 8 : 0) - (mask == 2 ? 8 : 0),
	    "no stack is left, and as many registers as were asked for");
	tap(before.ip == after.ip && before.weight == after.weight &&
	    after.callchain.count == 2 && after.user_regs_abi == PERF_SAMPLE_REGS_ABI_64 &&
	    word_at(after.user_regs, after.user_regs.count - 1) == 12, "the rest is the same");
	free(record);
	free(copy);
	free(exact);
}

/* Add to EVENTS that of samples with the registers in MASK and without a stack. */
static const struct stream_event *add_trimmed(struct stream_events *events, uint64_t mask)
{
	struct perf_event_attr less = attr;
	const char *error;

	less.sample_type &= ~(uint64_t)PERF_SAMPLE_STACK_USER;
	less.sample_regs_user = mask;
	less.sample_stack_user = 0;
	tap(events_add(events, &less, sizeof(less), (struct cursor){ 0 }, &error), "less of it");
	return &events->event[events->count - 1];
}

int main(void)
{
	struct stream_events events = { 0 }, others = { 0 };
	const char *error;

	tap(events_add(&events, &attr, sizeof(attr), (struct cursor){ 0 }, &error), "the event");
	for (uint64_t mask = 2; mask <= 3; mask++) {
		const struct stream_event *less = add_trimmed(&others, mask);
		for (uint64_t reserved = 0; reserved <= STACK; reserved += 8)
			test_registers(&events.event[0], less, reserved, mask);
	}
	for (uint64_t used = 0; used <= STACK; used++)
		test_used(&events.event[0], STACK, used);
	test_used(&events.event[0], STACK, STACK + 8);	/* more than there is: all is kept */
	test_used(&events.event[0], 0, 0);
	test_without(&events.event[0], 0);
	test_without(&events.event[0], STACK / 2 + 1);
	test_without(&events.event[0], STACK);
	events_release(&events);
	events_release(&others);
	return tap_done();
}
