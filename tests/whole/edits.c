/* SPDX-License-Identifier: Apache-2.0 */
/* What can happen to one record: its fields, its strings, its size. */
#include "whole.h"
#include "record/record.h"

#include <limits.h>
#include <string.h>

uint64_t dice_next(struct dice *d)
{
	uint64_t x = d->state += 0x9e3779b97f4a7c15ULL;	/* splitmix64, by S. Vigna */

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

uint64_t dice_below(struct dice *d, uint64_t limit)
{
	return dice_next(d) % limit;
}

bool dice_once_in(struct dice *d, uint64_t n)
{
	return dice_below(d, n) == 0;
}

/* The start or end of a mapping of the stream, or just beside it. */
static uint64_t mapped_address(const struct model *m, struct dice *d)
{
	size_t first = dice_below(d, m->count);

	for (size_t i = 0; i < m->count; i++) {
		const struct item *item = &m->item[(first + i) % m->count];
		if (item->type != PERF_RECORD_MMAP && item->type != PERF_RECORD_MMAP2)
			continue;
		uint64_t start = get64(m, item->body, 8), size = get64(m, item->body, 16);
		return start + (dice_once_in(d, 2) ? size : 0) + dice_below(d, 3) - 1;
	}
	return dice_next(d);
}

static uint64_t an_address(const struct model *m, uint64_t old, struct dice *d)
{
	static const uint64_t some[] = {
		0, 1, 4095, 4096, 0x400000, 0x7fffffffffff, 0x800000000000, 1ULL << 63,
		0xffffffff81000000, 0xffffffffff600000, 0xffffffffc0000000, UINT64_MAX,
		UINT64_MAX - 4095, (uint64_t)PERF_CONTEXT_USER, (uint64_t)PERF_CONTEXT_KERNEL,
		(uint64_t)PERF_CONTEXT_GUEST, 1ULL << 40, 0x8000000000000000 - 4096,
	};

	switch (dice_below(d, 4)) {
	case 0: return old + dice_below(d, 0x4000) - 0x2000;
	case 1: return some[dice_below(d, sizeof(some) / sizeof(*some))];
	default: return mapped_address(m, d);
	}
}

static uint64_t a_pid(const struct model *m, uint64_t old, struct dice *d)
{
	static const uint32_t some[] = { 0, 1, UINT32_MAX, INT_MAX, 0x80000000, 2, 65536 };

	if (dice_once_in(d, 3))
		return some[dice_below(d, sizeof(some) / sizeof(*some))];
	if (dice_once_in(d, 2))
		return old + dice_below(d, 5) - 2;
	return get32(m, m->item[dice_below(d, m->count)].body, dice_once_in(d, 2) ? 0 : 8);
}

uint64_t number_for(const struct model *m, enum meaning meaning, uint64_t old, struct dice *d)
{
	static const uint64_t some[] = {
		0, 1, 2, 7, 8, 9, 16, 63, 64, 127, 128, 255, 256, 4096, 65527, 65528, 65535, 65536,
		INT_MAX, 1ULL << 31, UINT32_MAX, 1ULL << 32, 1ULL << 60, 1ULL << 61, INT64_MAX,
		1ULL << 63, UINT64_MAX, UINT64_MAX - 7,
	};

	if (meaning == ADDRESS)
		return an_address(m, old, d);
	if (meaning == PID)
		return a_pid(m, old, d);
	if (meaning == TIME && dice_once_in(d, 2))
		return old + (dice_once_in(d, 2) ? 1 : UINT64_MAX) * (1ULL << dice_below(d, 45));
	switch (dice_below(d, 4)) {
	case 0: return old + dice_below(d, 5) - 2;
	case 1: return old ^ 1ULL << dice_below(d, 64);
	case 2: return dice_below(d, 2 + (old < 1 << 20 ? old : 100));
	default: return some[dice_below(d, sizeof(some) / sizeof(*some))];
	}
}

static void put_field(const struct model *m, struct item *item, struct field f, uint64_t value)
{
	if (f.size == 4)
		put32(m, item->body, f.at, (uint32_t)value);
	else
		put64(m, item->body, f.at, value);
}

static void edit_field(struct model *m, struct item *item, struct dice *d)
{
	struct field field[FIELDS_MAX];
	size_t count = fields_of(m, item, field);

	if (count == 0 || dice_once_in(d, 8)) {	/* some word, whatever it is */
		field[0] = (struct field){ dice_below(d, item->body.size / 4 + 1) * 4,
					   dice_once_in(d, 2) ? 4 : 8, ANY };
		count = 1;
	}
	struct field f = field[dice_below(d, count)];
	uint64_t old = f.size == 4 ? get32(m, item->body, f.at) : get64(m, item->body, f.at);
	put_field(m, item, f, number_for(m, f.meaning, old, d));
}

/* Where the text of a record begins. */
static size_t text_at(const struct item *item)
{
	switch (item->type) {
	case PERF_RECORD_COMM: return 8;
	case PERF_RECORD_MMAP: return 32;
	case PERF_RECORD_MMAP2: return 64;
	case PERF_RECORD_KSYMBOL: return 16;
	case RECORD_EVENT_UPDATE: return 16;
	case RECORD_BUILD_ID: return 28;
	case RECORD_FEATURE: return 12;
	default: return item->type >> 16 == 0x504d ? 4 : SIZE_MAX;
	}
}

static void edit_text(struct model *m, struct item *item, struct dice *d)
{
	static const char *const some[] = {
		"", "a", "//anon", "[vdso]", "[kernel.kallsyms]_text", "[ext4]", "/prog", "/lib.so",
		"[heap]", "\x1b[2J\x1b]0;x\x07", "a\nb c\t;d\r", "\xff\xfe\xc2",
		"\xed\xa0\x80 \xf4\x90\x80\x80",
		"\xe2\x80\xae\xc2\x9b", "/../../../x", "/dev/null", "deleted (deleted)",
		"/memfd:jit (deleted)", "jitted-1-1.so", "inlined at", "%s%n", "\"\\", "",
	};
	size_t at = text_at(item);

	if (at > item->body.size)
		return;
	const char *text = some[dice_below(d, sizeof(some) / sizeof(*some))];
	size_t length = strlen(text), ends = !dice_once_in(d, 8);
	size_t filled = dice_once_in(d, 10) ? dice_below(d, 65000) : 0;
	size_t rest = item->type < RECORD_ATTR && m->has_trailers ? 24 : 0;
	struct span old = item->body;
	rest = rest < old.size - at ? rest : 0;
	size_t padded = (length + filled + ends + 7) & ~(size_t)7;

	item->body = span_copy(m->arena, old, at + padded + rest);
	memset(item->body.at + at, 0, padded);
	memset(item->body.at + at, 'x', filled);
	memcpy(item->body.at + at + filled, text, length);
	if (!ends)
		memset(item->body.at + at + filled + length, 'y', padded - filled - length);
	memcpy(item->body.at + at + padded, old.at + old.size - rest, rest);
}

static void edit_size(struct model *m, struct item *item, struct dice *d)
{
	static const uint16_t some[] = { 0, 1, 7, 8, 9, 16, 65528, 65535 };
	size_t size = item->body.size;

	switch (dice_below(d, 4)) {
	case 0:
		item->claims = some[dice_below(d, 8)];
		break;
	case 1:
		item->claims = (uint16_t)(size + dice_below(d, 33) - 8);
		break;
	case 2:		/* longer */
		item->body = span_copy(m->arena, item->body, size + dice_below(d, 64));
		break;
	default:	/* cut */
		item->body.size = dice_below(d, size + 1);
	}
}

void edit_attr(struct model *m, struct item *item, struct dice *d)
{
	item->body = span_copy(m->arena, item->body, item->body.size);
	struct span attr = item->body;
	size_t own = get32(m, attr, 4);
	size_t word = 8 * dice_below(d, 14);

	switch (dice_below(d, 6)) {
	case 0:		/* a bit of sample_type */
		put64(m, attr, 24, get64(m, attr, 24) ^ 1ULL << dice_below(d, 26));
		break;
	case 1:		/* of read_format, the flags, what of branches */
		word = dice_once_in(d, 3) ? 32 : dice_once_in(d, 2) ? 40 : 72;
		put64(m, attr, word, get64(m, attr, word) ^ 1ULL << dice_below(d, 40));
		break;
	case 2:		/* ids: equal, zero, others, missing, more */
		if (own <= attr.size && attr.size >= own + 8)
			put64(m, attr, own + 8 * dice_below(d, (attr.size - own) / 8),
			      dice_once_in(d, 2) ? get64(m, attr, own) : dice_below(d, 3));
		break;
	case 3:
		item->body = span_copy(m->arena, attr, attr.size + 8 * dice_below(d, 5));
		break;
	case 4:
		put32(m, attr, 4, (uint32_t)number_for(m, SIZE32, own, d));
		break;
	default:
		put64(m, attr, word, number_for(m, ANY, get64(m, attr, word), d));
	}
}

void edit_item(struct model *m, struct item *item, struct dice *d)
{
	static const uint32_t types[] = {
		0, 1, 2, 3, 4, 5, 6, 7, 9, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 63, 64, 66,
		67, 68,
		69, 70, 71, 74, 78, 79, 80, 81, 83, 32769, 32774, 32777, 0x504d0000, 0x504d0001,
		0x504d0002, 0x504d0003, 0x504d0004, 0x504d0005, 0x504d0006, 0x504d0007,
		0x504d000b, 0x504d000c, 0x504d000d, UINT32_MAX,
	};

	if (item->type == RECORD_ATTR && !dice_once_in(d, 8)) {
		edit_attr(m, item, d);
		return;
	}
	item->body = span_copy(m->arena, item->body, item->body.size);
	switch (dice_below(d, 16)) {
	case 0: edit_size(m, item, d); break;
	case 1: item->type = types[dice_below(d, sizeof(types) / sizeof(*types))]; break;
	case 2: item->misc ^= (uint16_t)(1u << dice_below(d, 16)); break;
	case 3: item->misc = (uint16_t)dice_below(d, 8); break;
	case 4:
	case 5: edit_text(m, item, d); break;
	case 6: item->body = mutate_bytes(m->arena, item->body, d); break;
	case 7:
		if (item->type == RECORD_FEATURE && item->body.size > 8) {
			struct span message = { item->body.at + 8, item->body.size - 8 };
			message = mutate_message(m->arena, message, d);
			struct span body = span_copy(m->arena, item->body, 8 + message.size);
			memcpy(body.at + 8, message.at, message.size);
			item->body = body;
			break;
		}
		/* fall through */
	default: edit_field(m, item, d);
	}
}

struct span mutate_bytes(struct arena *arena, struct span from, struct dice *d)
{
	struct span s = span_copy(arena, from, from.size);

	for (uint64_t i = 0, n = 1 + dice_below(d, 6); i < n && s.size > 0; i++) {
		size_t at = dice_below(d, s.size), size = 1 + dice_below(d, 16);
		size = size < s.size - at ? size : s.size - at;
		switch (dice_below(d, 6)) {
		case 0: s.at[at] ^= (uint8_t)(1 << dice_below(d, 8)); break;
		case 1: s.at[at] = (uint8_t)dice_next(d); break;
		case 2: s.size -= dice_below(d, 20) ? 0 : size; break;
		case 3: memset(s.at + at, dice_once_in(d, 2) ? 0xff : 0, size); break;
		case 4: memmove(s.at + at, s.at + dice_below(d, s.size - size + 1), size); break;
		default: s.at[at] = (uint8_t)(s.at[at] + dice_below(d, 5) - 2);
		}
	}
	return s;
}
