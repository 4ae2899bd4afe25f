/* SPDX-License-Identifier: Apache-2.0 */
/* Every decoder of records, given each of them cut at each byte: none reads beyond. */
#include "record/sample.h"
#include "record/swap.h"
#include "resolved/resolved.h"
#include "show/describe.h"
#include "tests/unit/host.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

enum { SIZE = 2000 };

typedef bool (*decoder)(const struct record *rec);

static bool mmap_decodes(const struct record *rec)
{
	struct mmap_record m;

	return record_mmap(rec, &m);
}

static bool comm_decodes(const struct record *rec)
{
	struct comm_record c;

	return record_comm(rec, &c);
}

static bool task_decodes(const struct record *rec)
{
	struct task_record t;

	return record_task(rec, &t);
}

static bool lost_decodes(const struct record *rec)
{
	struct lost_record lost;

	return record_lost(rec, &lost);
}

static bool read_decodes(const struct record *rec)
{
	struct read_record read;

	return record_read(rec, PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			   PERF_FORMAT_ID, &read);
}

static bool ksymbol_decodes(const struct record *rec)
{
	struct ksymbol_record k;

	return record_ksymbol(rec, &k);
}

static bool build_id_decodes(const struct record *rec)
{
	struct build_id_record b;

	return record_build_id(rec, &b);
}

/* Fields of 8 bytes: this many, then a text if there is one. */
static const struct {
	uint32_t type;
	uint16_t misc;
	int words;
	bool text;
	decoder decode;
} cases[] = {
	{ PERF_RECORD_MMAP, 0, 4, true, mmap_decodes },
	{ PERF_RECORD_MMAP2, 0, 8, true, mmap_decodes },
	{ PERF_RECORD_COMM, 0, 1, true, comm_decodes },
	{ PERF_RECORD_FORK, 0, 3, false, task_decodes },
	{ PERF_RECORD_EXIT, 0, 3, false, task_decodes },
	{ PERF_RECORD_LOST, 0, 2, false, lost_decodes },
	{ PERF_RECORD_LOST_SAMPLES, 0, 1, false, lost_decodes },
	{ PERF_RECORD_READ, 0, 5, false, read_decodes },
	{ PERF_RECORD_KSYMBOL, 0, 2, true, ksymbol_decodes },
};

/* REC of BYTES, cut to SIZE, in memory of just that size: a sanitizer sees what is read beyond. */
static uint8_t *cut(const uint8_t *bytes, size_t size, struct record *rec)
{
	uint8_t *exact = malloc(size ? size : 1);

	memcpy(exact, bytes, size);
	rec->body = (struct cursor){ .at = exact, .end = exact + size };
	return exact;
}

/*
 * Return whether REC, of SIZE bytes of body at BYTES, decodes when whole and not when cut
 * anywhere.
 */
static bool is_checked(struct record rec, const uint8_t *bytes, size_t size, decoder decode)
{
	bool good = true;

	for (size_t n = 0; n <= size; n++) {
		uint8_t *exact = cut(bytes, n, &rec);
		if (decode(&rec) != (n == size)) {
			printf("# cut at %zu of %zu\n", n, size);
			good = false;
		}
		free(exact);
	}
	return good;
}

static void test_simple(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct record rec = { .type = cases[i].type, .misc = cases[i].misc };
		uint8_t bytes[SIZE] = { 0 };
		size_t size = 8 * (size_t)cases[i].words;
		char name[64];
		if (cases[i].text) {
			memcpy(bytes + size, "text", 5);
			size += 5;
		}
		snprintf(name, sizeof(name), "%s, cut at each byte", record_type_name(rec.type));
		tap(is_checked(rec, bytes, size, cases[i].decode), name);
	}
	struct record build_id = { .type = RECORD_BUILD_ID, .misc = 1 << 15 };
	uint8_t bytes[SIZE] = { [24] = 20, [28] = '/', [29] = 'x' };
	tap(is_checked(build_id, bytes, 31, build_id_decodes), "BUILD_ID, cut at each byte");
	bytes[24] = 21;
	uint8_t *exact = cut(bytes, 31, &build_id);
	tap(!build_id_decodes(&build_id), "a build ID longer than there are");
	free(exact);
}

/* Ranges that end beyond all addresses. */
static void test_ranges(void)
{
	struct record rec = { .type = PERF_RECORD_MMAP };
	uint64_t words[6] = { 0, UINT64_MAX - 10, 11, 0, 'x' };

	rec.body = (struct cursor){ .at = (uint8_t *)words, .end = (uint8_t *)(words + 5) };
	tap(!mmap_decodes(&rec), "a mapping that ends beyond the last address");
	words[2] = 10;
	tap(mmap_decodes(&rec), "one that ends at it");
	uint64_t ksymbol[3] = { UINT64_MAX - 10, HALVES(11, 0), 'x' };
	rec.type = PERF_RECORD_KSYMBOL;
	rec.body = (struct cursor){ .at = (uint8_t *)ksymbol, .end = (uint8_t *)(ksymbol + 3) };
	tap(!ksymbol_decodes(&rec), "code of the kernel that does so");
}

static struct stream_event sampled;

static bool sample_decodes(const struct record *rec)
{
	struct sample s;
	uint64_t needed;

	return sample_decode(&sampled, 0, rec, &s, &needed);
}

/* Every field there is; the counts of what comes in numbers are 2. */
static size_t full_sample(uint8_t bytes[SIZE], struct stream_events *events)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = (1ULL << 25) - 1, .read_format = 0x1f,
		.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | SAMPLE_BRANCH_COUNTERS,
		.sample_regs_user = 5, .sample_regs_intr = 3, .sample_stack_user = 16,
	};
	static const uint64_t words[] = {
		1, 2, 3, 4, 5, 6, 7, 8, 9,		/* identifier .. period */
		2, 10, 11, 1, 2, 3, 4, 5, 6,		/* read: nr, times, { value, id, lost } */
		2, 0x401000, 0x401001,			/* callchain */
		HALVES(12, 1), 2,			/* raw: u32 size, bytes */
		2, 0, 1, 2, 3, 4, 5, 6, 7, 8,		/* branches, hw_idx, counters */
		2, 1, 2,				/* user registers */
		16, 1, 2, 16,				/* user stack */
		1, 2, 3,				/* weight, data source, transaction */
		2, 1, 2,				/* registers at the interrupt */
		1, 2, 3, 4,				/* phys_addr, cgroup, page sizes */
		8, 1,					/* AUX */
	};
	const char *error;

	attr.sample_type &= ~(uint64_t)PERF_SAMPLE_WEIGHT;	/* WEIGHT_STRUCT is in its place */
	events_add(events, &attr, sizeof(attr), (struct cursor){ 0 }, &error);
	memcpy(bytes, words, sizeof(words));
	return sizeof(words);
}

static void test_sample(void)
{
	struct record rec = { .type = PERF_RECORD_SAMPLE };
	struct stream_events events = { 0 };
	uint8_t bytes[SIZE];
	size_t size = full_sample(bytes, &events);
	struct sample s;
	uint64_t needed;

	sampled = events.event[0];
	tap(is_checked(rec, bytes, size, sample_decodes),
	    "SAMPLE of every field, cut at each byte");
	uint8_t *exact = cut(bytes, size, &rec);
	sample_decode(&sampled, 0, &rec, &s, &needed);
	tap(s.callchain.count == 2 && word_at(s.callchain, 1) == 0x401001 && s.raw.size == 12 &&
	    s.branches.count == 6 && word_at(s.branches, 5) == 6 && s.user_regs.count == 2 &&
	    s.user_stack.size == 16 && s.weight == 1 && s.transaction == 3 &&
	    word_at(s.intr_regs, 1) == 2 && s.code_page_size == 4, "and each field is found");
	free(exact);
	for (size_t i = 0; i < size / 8; i++) {
		uint8_t wrong[SIZE];
		memcpy(wrong, bytes, size);
		memset(wrong + 8 * i, 0xff, 8);		/* 2^64 - 1 of it, where it is a count */
		exact = cut(wrong, size, &rec);
		sample_decode(&sampled, 0, &rec, &s, &needed);
		free(exact);
	}
	tap(true, "absurd counts in it end in no crash");
	events_release(&events);
}

/* The record that swap_record() is given is as large as it says. */
static void test_swap(void)
{
	struct stream_events events = { 0 };
	uint8_t bytes[SIZE], full[SIZE];
	size_t size = full_sample(full, &events);

	for (uint32_t type = 0; type < 90; type++)
		for (size_t n = 0; n <= size; n++) {
			uint8_t *exact = malloc(8 + n);
			uint32_t turned = __builtin_bswap32(type);
			memcpy(exact, &turned, 4);
			memset(exact + 4, 0, 4);
			memcpy(exact + 8, full, n);
			swap_record(&events, exact, 8 + n);
			free(exact);
		}
	for (uint64_t feature = 0; feature < 140; feature++)
		for (size_t n = 0; n <= size; n++) {
			uint8_t *exact = malloc(n + 1);
			memcpy(exact, full, n);
			swap_feature(feature, exact, n);
			free(exact);
		}
	for (size_t n = 64; n < 200; n++) {
		memset(bytes, 0x55, n);
		swap_attr(bytes, n);
	}
	events_release(&events);
	tap(true, "records of the other byte order, cut at each byte, end in no crash");
}

int main(void)
{
	test_simple();
	test_ranges();
	test_sample();
	test_swap();
	return tap_done();
}
