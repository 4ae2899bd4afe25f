/* SPDX-License-Identifier: Apache-2.0 */
/* Rings made by hand: what the kernel writes, and what it must never write. */
#include "base/arena.h"
#include "counters/ring-merge.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

enum { SIZE = 4096, SECOND = 1000000000, STALE = 24 };

static const uint64_t base = 1000ULL * SECOND, never = 121ULL * 365 * 86400 * SECOND;
static struct stream_events events;
static struct ring ring[2];

/* Empty the rings; what comes next is at place AT. */
static void begin(uint64_t at)
{
	for (int i = 0; i < 2; i++) {
		free(ring[i].data);
		free(ring[i].scratch);
		ring[i] = (struct ring){ .fd = 1, .data = mem_resize(NULL, SIZE), .size = SIZE,
					 .head = at, .tail = at };
		memset(ring[i].data, 0xcc, SIZE);	/* stale bytes */
	}
}

static void put(struct ring *r, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		r->data[r->head++ % SIZE] = ((const uint8_t *)bytes)[i];
}

static void put_u64(struct ring *r, uint64_t value)
{
	put(r, &value, sizeof(value));
}

static void put_header(struct ring *r, uint32_t type, size_t size)
{
	put(r, &(struct perf_event_header){ type, 0, (uint16_t)size }, 8);
}

static void put_sample(struct ring *r, uint64_t time)
{
	put_header(r, PERF_RECORD_SAMPLE, 8 + 6 * 8);
	for (uint64_t i = 0; i < 6; i++)	/* id, ip, tid, time, CPU, period */
		put_u64(r, i == 3 ? time : i + 1);
}

/* A record of TYPE with these FIELDS, its sample_id, and EXTRA stale bytes in its size. */
static void put_record(struct ring *r, uint32_t type, const void *fields, size_t size,
		       uint64_t time, size_t extra)
{
	put_header(r, type, 8 + size + 4 * 8 + extra);
	put(r, fields, size);
	put_u64(r, 3);		/* tid, time, CPU, id */
	put_u64(r, time);
	put_u64(r, 5);
	put_u64(r, 1);
	/* In the stale bytes, what is where a time would be is a time in 121 years. */
	for (; extra >= 8; extra -= 8)
		put_u64(r, never);
}

static void put_ksymbol(struct ring *r, uint64_t time, size_t extra)
{
	static const char fields[16 + 24] = "................bpf_prog_0123456789";

	put_record(r, PERF_RECORD_KSYMBOL, fields, sizeof(fields), time, extra);
}

static void put_bpf_event(struct ring *r, uint64_t time, size_t extra)
{
	put_record(r, PERF_RECORD_BPF_EVENT, "................", 16, time, extra);
}

static void put_text_poke(struct ring *r, uint64_t time, size_t extra)
{
	static const uint8_t fields[24] = { 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 5, 0 };

	put_record(r, PERF_RECORD_TEXT_POKE, fields, sizeof(fields), time, extra);
}

static void put_fork(struct ring *r, uint64_t time)
{
	put_record(r, PERF_RECORD_FORK, (uint64_t[3]){ 1, 2, 3 }, 24, time, 0);
}

/*
 * Return the types and sizes of all records up to the horizon in order, as "type:size ", with "!"
 * before one that is older than the one before it.
 */
static const char *merged(uint64_t horizon, uint64_t latest, bool doubts_samples)
{
	const struct perf_event_header *record;
	static char text[2000];
	struct ring_merge m;
	uint64_t last = 0;
	size_t at = 0;

	text[0] = '\0';
	ring_merge_init(&m, ring, 2, &events.event[0].layout, horizon, latest,
			doubts_samples);
	while ((record = ring_merge_next(&m)) && at < sizeof(text) - 20) {
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u:%u ",
				       m.time < last ? "!" : "", record->type, record->size);
		last = m.time;
	}
	ring_merge_release(&m);
	return text;
}

static bool is(const char *got, const char *want)
{
	if (strcmp(got, want))
		printf("# %s, not %s\n", got, want);
	return !strcmp(got, want);
}

static bool merges(const char *want)
{
	return is(merged(base + SECOND, base + 2ULL * SECOND, false), want);
}

static bool merges_doubtful(const char *want)
{
	return is(merged(base + SECOND, base + 2ULL * SECOND, true), want);
}

static void test_overlong(void)
{
	bool good = true;

	/* at each place of the ring, so that each record wraps somewhere */
	for (uint64_t at = 0; at < SIZE; at += 8) {
		begin(at);
		put_ksymbol(&ring[0], base + 10, STALE);
		put_bpf_event(&ring[0], base + 20, 2 * STALE);
		put_text_poke(&ring[0], base + 30, STALE);
		put_sample(&ring[0], base + 40);
		put_sample(&ring[1], base + 15);
		put_sample(&ring[1], base + 35);
		good &= merges("17:80 9:56 18:56 20:64 9:56 9:56 ");
		good &= ring[0].tail == ring[0].head && ring[1].tail == ring[1].head;
	}
	tap(good, "KSYMBOL, BPF_EVENT and TEXT_POKE: by their own time, without stale bytes");
	begin(0);
	put_ksymbol(&ring[0], base + 10, 0);
	put_bpf_event(&ring[0], base + 20, 0);
	put_text_poke(&ring[0], base + 30, 0);
	tap(merges("17:80 18:56 20:64 "), "the same without stale bytes");
	begin(0);
	put_ksymbol(&ring[0], base + 3ULL * SECOND / 2, STALE);
	tap(merges("") && ring[0].tail == 0, "at or after the horizon, they wait");
}

static void test_times(void)
{
	begin(0);
	put_fork(&ring[0], base + 10);
	put_fork(&ring[0], never);
	put_fork(&ring[0], base + 30);
	put_sample(&ring[1], base + 5);
	put_sample(&ring[1], UINT64_MAX);
	put_sample(&ring[1], base + 20);
	tap(merges("9:56 9:56 7:64 7:64 9:56 7:64 "),
	    "a time after now holds nothing back, in any type of record");
	begin(0);
	put_fork(&ring[0], base + SECOND);
	put_fork(&ring[0], base + 10);
	tap(merges(""), "records at the horizon wait, and those after them in the ring");
	ring[0].overdue = true;
	tap(merges("7:64 7:64 "), "unless the ring was full for too long");
}

/* Samples have the time of another session's event.  Its clock is ahead of ours, or behind. */
static void test_doubtful(void)
{
	bool good = true;

	for (uint64_t at = 0; at < SIZE; at += 8) {
		begin(at);
		put_fork(&ring[0], base + 10);
		put_sample(&ring[0], base + 1000010);
		put_sample(&ring[0], base + 1000011);
		put_ksymbol(&ring[0], base + 30, STALE);
		put_fork(&ring[0], base + 30);
		put_text_poke(&ring[1], base + 28, 0);
		put_text_poke(&ring[1], base + 500, 0);
		/* their times are 30, of the FORK: the stale bytes of the KSYMBOL say nothing */
		good &= merges_doubtful("7:64 20:64 9:56 9:56 17:80 7:64 20:64 ");
	}
	tap(good, "a sample whose time is ahead of the records after it: none waits for it");
	begin(0);
	put_fork(&ring[0], base + 10);
	put_sample(&ring[0], 5);
	put_fork(&ring[0], base + 30);
	put_text_poke(&ring[1], base + 5, 0);
	tap(merges_doubtful("20:64 7:64 9:56 7:64 "),
	    "a sample whose time is too early keeps its place");
	begin(0);
	put_sample(&ring[0], base + 10);
	put_header(&ring[0], PERF_RECORD_SAMPLE, 8);
	put_sample(&ring[0], base + 1);
	tap(merges_doubtful("9:56 9:56 ") && ring[0].damaged == 1,
	    "a record without a time says nothing of those before it");
}

static void test_sizes(void)
{
	bool good = true;
	static const uint16_t sizes[] = { 0, 1, 7, 60, 4096, 65528, 65535 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		begin(SIZE - 64);
		put_fork(&ring[0], base + 10);
		put_header(&ring[0], PERF_RECORD_FORK, sizes[i]);
		put_fork(&ring[0], base + 20);
		put_fork(&ring[1], base + 30);
		good &= merges("7:64 7:64 ") && ring[0].discarded == 72 &&
			ring[0].head == ring[0].tail;
		put_fork(&ring[0], base + 40);
		good &= merges("7:64 ");
	}
	tap(good, "sizes that no record has: what is left is discarded, and reading goes on");
	for (uint64_t head = SIZE + 8; head; head = head > SIZE + 8 ? 0 : head * 1000 + 3) {
		begin(0);
		ring[0].head = head;
		put_fork(&ring[1], base + 10);
		good &= merges("7:64 ") && ring[0].discarded == head;
	}
	tap(good, "a head that the ring cannot have");
	begin(0);
	put_header(&ring[0], PERF_RECORD_SAMPLE, 8);
	put_header(&ring[0], PERF_RECORD_FORK, 8);
	put_header(&ring[0], PERF_RECORD_SWITCH, 8);
	put_record(&ring[0], PERF_RECORD_EXIT, "", 0, base, 0);
	put_record(&ring[0], PERF_RECORD_KSYMBOL, "", 0, base, 0);
	put_record(&ring[0], PERF_RECORD_TEXT_POKE, "........\377\377\377\377....", 16, base, 0);
	put_fork(&ring[0], base + 10);
	tap(merges("7:64 ") && ring[0].damaged == 6,
	    "records that are shorter than their fields are counted and left out");
}

static void test_stuck(void)
{
	begin(0);
	ring[0].head = SIZE - 64;
	bool good = !ring_is_stuck(&ring[0], base) &&
		    !ring_is_stuck(&ring[0], base + SECOND - 1) &&
		    ring_is_stuck(&ring[0], base + SECOND);
	ring[0].tail = ring[0].head;
	good &= !ring_is_stuck(&ring[0], base + 2ULL * SECOND);
	ring[0].head += SIZE - 64;
	good &= !ring_is_stuck(&ring[0], base + 3ULL * SECOND);
	tap(good, "a ring that stays full for a second is seen");
}

int main(void)
{
	const struct perf_event_attr attr = {
		.sample_id_all = 1, .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
	};
	const char *error;

	events_add(&events, &attr, sizeof(attr), (struct cursor){ 0 }, &error);
	test_overlong();
	test_times();
	test_doubtful();
	test_sizes();
	test_stuck();
	begin(0);
	for (int i = 0; i < 2; i++)
		free(ring[i].data);
	events_release(&events);
	return tap_done();
}
