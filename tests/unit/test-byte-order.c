/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that machines of both orders write: the same numbers come out, whatever the order of the
 * machine that runs this.
 */
#include "base/digest.h"
#include "record/bit-fields.h"
#include "record/origin.h"
#include "record/recorded.h"
#include "record/swap.h"
#include "tests/unit/host.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

enum { FLAGS = 40, ATTR_SIZE = 136 };

/*
 * The flags of an attr: disabled, inherit, enable_on_exec, task, precise_ip = 1, sample_id_all,
 * mmap2, comm_exec, use_clockid, build_id, defer_callchain; and of one with precise_ip = 2.
 */
static const struct image {
	uint8_t little[8], big[8];
	uint64_t number;
	bool build_id;
	unsigned precise;
} images[] = {
	{ .little = { 0x03, 0xb0, 0x84, 0x03, 0x44 }, .big = { 0xc0, 0x0c, 0xa1, 0xc0, 0x22 },
	  .number = 0x440384b003, .build_id = true, .precise = 1 },
	{ .little = { 0x03, 0x30, 0x85, 0x03, 0x44 }, .big = { 0xc0, 0x0d, 0x21, 0xc0, 0x22 },
	  .number = 0x4403853003, .build_id = true, .precise = 2 },
	{ .little = { 0x02 }, .big = { 0x40 }, .number = 2 },
};

/* Return the flags of an attr whose flags have these bytes, as numbers; set *ATTR. */
static uint64_t flags_of(const uint8_t *flags, bool swap, struct perf_event_attr *attr)
{
	uint8_t *bytes = calloc(1, ATTR_SIZE);
	uint64_t word;

	memcpy(bytes + FLAGS, flags, sizeof(word));
	if (swap)
		swap_attr(bytes, ATTR_SIZE);
	memcpy(attr, bytes, sizeof(*attr) < ATTR_SIZE ? sizeof(*attr) : ATTR_SIZE);
	memcpy(&word, bytes + FLAGS, sizeof(word));
	free(bytes);
	return bit_fields_number(ATTR_FIELDS, word);
}

static void test_flags(void)
{
	bool same = true;

	for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++) {
		const struct image *m = &images[i];
		struct perf_event_attr little, big;
		same &= flags_of(m->little, host_is_big, &little) == m->number;
		same &= flags_of(m->big, !host_is_big, &big) == m->number;
		same &= little.precise_ip == m->precise && big.precise_ip == m->precise;
		same &= little.build_id == m->build_id && big.build_id == m->build_id;
		same &= little.inherit && big.inherit && !big.pinned;
	}
	tap(same, "flags of attrs from machines of both byte orders are the same numbers");
	same = bit_fields_from_top(ATTR_FIELDS, bit_fields_to_top(ATTR_FIELDS, 0x440384b003)) ==
	       0x440384b003;
	for (int bit = 0; bit < 64; bit++) {
		uint64_t word = 1ULL << bit, top = bit_fields_to_top(ATTR_FIELDS, word);
		unsigned at = bit == 15 || bit == 16 ? (unsigned)bit + 32 : 63 - (unsigned)bit;
		same &= top == 1ULL << at && bit_fields_from_top(ATTR_FIELDS, top) == word;
	}
	tap(same, "each flag has its place at the other end of the word, precise_ip its two bits");
}

static void test_branches(void)
{
	/* predicted, 300 cycles, a call (type 3), in the user's code (priv 1) */
	const uint64_t little = 2 | 300 << 4 | 3 << 20 | 1ULL << 30;
	const uint64_t big = 1ULL << 62 | 300ULL << 44 | 3ULL << 40 | 1ULL << 31;

	tap(bit_fields_to_top(BRANCH_FIELDS, little) == big &&
	    bit_fields_from_top(BRANCH_FIELDS, big) == little, "the fields of branches, too");
}

static void test_symbols(void)
{
	static const uint8_t big[] =
		"\0\0\0\x29" "/a\0" "\0\0\0\2" "\0\0\0\0\0\0\x10\0" "\0\0\0\1"
		"\0\0\0\0\0\0\x12\x34" "\0\0\0\x20" "f\0" "\0\0\0\0\0\0\x20";	/* and a NUL */
	struct recorded_file file;
	struct recorded_symbol symbol;
	uint8_t bytes[sizeof(big)];

	memcpy(bytes, big, sizeof(big));
	if (!host_is_big)
		swap_feature(FEATURE_FILE, bytes, sizeof(bytes));
	struct cursor as_is = { .at = big, .end = big + sizeof(big), .swap = !host_is_big };
	struct cursor turned = { .at = bytes, .end = bytes + sizeof(bytes) };
	struct cursor *c[] = { &as_is, &turned };
	bool good = true;
	for (int i = 0; i < 2; i++)
		good &= recorded_next(c[i], &file) && file.least_address == 0x1000 &&
			file.kind == RECORDED_ELF && file.least_offset == 0x2000 &&
			recorded_symbol(&file, &symbol) && symbol.address == 0x1234 &&
			symbol.size == 0x20 && !strcmp(symbol.name, "f");
	tap(good, "symbols that the recorder wrote are read, and converted");
}

int main(void)
{
	test_flags();
	test_branches();
	test_symbols();
	tap(digest_bytes("a digest of it", 14) == 0xbea8e2d3fc0739d6,
	    "a digest is the same on all machines");
	return tap_done();
}
