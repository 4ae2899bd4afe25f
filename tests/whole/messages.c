/* SPDX-License-Identifier: Apache-2.0 */
/* What can happen to a profile: any message of protocol buffers, at any depth. */
#include "base/cursor.h"
#include "pprof/wire.h"
#include "whole.h"

#include <limits.h>
#include <string.h>

/* One field of a message (protobuf.dev/programming-guides/encoding). */
struct part {
	uint64_t number;
	unsigned wire;		/* 0 a number, 2 bytes; others are taken as they are */
	uint64_t value;
	struct span bytes;
	int64_t claims;		/* added to its length */
};

struct message {
	struct arena *arena;
	struct part *part;
	size_t count;
};

enum { PARTS_MAX = 200000 };

/* False: these bytes are no message. */
static bool take_message(struct message *m, struct span from)
{
	struct cursor c = { .at = from.at, .end = from.at + from.size };
	size_t room = 16;

	m->part = arena_alloc(m->arena, room * sizeof(*m->part));
	for (m->count = 0; cursor_left(&c) > 0 && m->count < PARTS_MAX; m->count++) {
		uint64_t tag = cursor_uleb(&c);
		struct part p = { .number = tag >> 3, .wire = tag & 7 };
		if (p.wire == 0)
			p.value = cursor_uleb(&c);
		else if (p.wire == 2)
			p.bytes.size = cursor_uleb(&c);
		else
			return false;
		p.bytes.at = (uint8_t *)(uintptr_t)c.at;
		if (p.wire == 2 && p.bytes.size <= cursor_left(&c))
			cursor_bytes(&c, p.bytes.size);
		else if (p.wire == 2)
			return false;
		if (c.failed || p.number == 0 || p.number > 200)
			return false;
		if (m->count == room) {
			struct part *old = m->part;
			m->part = arena_alloc(m->arena, 2 * room * sizeof(*old));
			memcpy(m->part, old, room * sizeof(*old));
			room *= 2;
		}
		m->part[m->count] = p;
	}
	return m->count > 0;
}

static struct span write_message(const struct message *m)
{
	size_t size = 1;

	for (size_t i = 0; i < m->count; i++)
		size += 2 * WIRE_VARINT_MAX + m->part[i].bytes.size;
	struct span to = { arena_alloc(m->arena, size), 0 };
	uint8_t *at = to.at;
	for (size_t i = 0; i < m->count; i++) {
		const struct part *p = &m->part[i];
		at = wire_varint(at, p->number << 3 | p->wire);
		if (p->wire == 0) {
			at = wire_varint(at, p->value);
		} else if (p->wire == 2) {
			at = wire_varint(at, p->bytes.size + (uint64_t)p->claims);
			at = p->bytes.size ? mempcpy(at, p->bytes.at, p->bytes.size) : at;
		}
	}
	to.size = (size_t)(at - to.at);
	return to;
}

static uint64_t a_value(uint64_t old, struct dice *d)
{
	static const uint64_t some[] = {
		0, 0, 1, 2, 3, 5, 8, 100, INT_MAX, UINT32_MAX, 1ULL << 32, INT64_MAX, 1ULL << 63,
		UINT64_MAX, UINT64_MAX - 1, 1ULL << 40,
	};

	switch (dice_below(d, 3)) {
	case 0: return old + dice_below(d, 5) - 2;
	case 1: return dice_below(d, 20);
	default: return some[dice_below(d, sizeof(some) / sizeof(*some))];
	}
}

/* Numbers in one field become one field each. */
static void unpack(struct message *m, size_t at)
{
	struct part p = m->part[at];
	struct cursor c = { .at = p.bytes.at, .end = p.bytes.at + p.bytes.size };
	size_t count = 0, tail = m->count - at - 1;

	while (cursor_left(&c) > 0) {
		cursor_uleb(&c);
		count++;
	}
	if (c.failed)
		return;
	struct part *part = arena_alloc(m->arena, (m->count + count) * sizeof(p));
	memcpy(part, m->part, at * sizeof(p));
	c = (struct cursor){ .at = p.bytes.at, .end = p.bytes.at + p.bytes.size };
	for (size_t i = 0; i < count; i++)
		part[at + i] = (struct part){ .number = p.number, .value = cursor_uleb(&c) };
	memcpy(part + at + count, m->part + at + 1, tail * sizeof(p));
	m->part = part;
	m->count = at + count + tail;
}

/* A number becomes a field of packed ones. */
static void pack(struct message *m, size_t at)
{
	struct part *p = &m->part[at];

	p->bytes.at = arena_alloc(m->arena, WIRE_VARINT_MAX);
	p->bytes.size = (size_t)(wire_varint(p->bytes.at, p->value) - p->bytes.at);
	p->wire = 2;
}

static void repeat(struct message *m, size_t at, size_t times)
{
	struct part *part = arena_alloc(m->arena, (m->count + times) * sizeof(*part));

	memcpy(part, m->part, at * sizeof(*part));
	for (size_t i = 0; i < times; i++)
		part[at + i] = m->part[at];
	memcpy(part + at + times, m->part + at, (m->count - at) * sizeof(*part));
	m->part = part;
	m->count += times;
}

static struct span a_text(struct arena *arena, struct dice *d)
{
	static const char *const some[] = {
		"", "samples", "count", "nanoseconds", "\x1b[31m\a", "\xff\xc0\x80", "a;b c\n5",
		"/x", "pprof::base", "[kernel.kallsyms]", "\xe2\x80\xae", "\xc2\x85", "pid",
		"../..",
	};
	const char *text = some[dice_below(d, sizeof(some) / sizeof(*some))];
	struct span s = { (uint8_t *)(uintptr_t)text, strlen(text) };

	return span_copy(arena, s, s.size + (dice_once_in(d, 20) ? dice_below(d, 100000) : 0));
}

static void change_bytes(struct message *m, size_t at, struct dice *d)
{
	struct part *p = &m->part[at];

	switch (dice_below(d, 8)) {
	case 0: p->bytes = a_text(m->arena, d); break;
	case 1: p->claims = (int64_t)a_value(0, d); break;
	case 2: unpack(m, at); break;
	case 3: p->bytes = mutate_bytes(m->arena, p->bytes, d); break;
	default: p->bytes = mutate_message(m->arena, p->bytes, d);
	}
}

/* A field of the same number takes its place: the same id again. */
static void equal_one(struct message *m, size_t at, struct dice *d)
{
	size_t first = dice_below(d, m->count);

	for (size_t i = 0; i < m->count; i++) {
		const struct part *other = &m->part[(first + i) % m->count];
		if (other->number == m->part[at].number && other != &m->part[at]) {
			m->part[at] = *other;
			return;
		}
	}
}

static void mutate_part(struct message *m, struct dice *d)
{
	size_t at = dice_below(d, m->count), other = dice_below(d, m->count);
	struct part *p = &m->part[at];

	switch (dice_below(d, 16)) {
	case 0:
		memmove(p, p + 1, (--m->count - at) * sizeof(*p));
		break;
	case 1:
		repeat(m, at, dice_once_in(d, 16) && p->bytes.size < 400 ? dice_below(d, 2000)
		       : dice_below(d, 4));
		break;
	case 2: {
		struct part kept = *p;
		*p = m->part[other];
		m->part[other] = kept;
		break;
	}
	case 3: p->number = 1 + dice_below(d, 16); break;
	case 4: equal_one(m, at, d); break;
	default:
		if (p->wire == 2)
			change_bytes(m, at, d);
		else if (dice_once_in(d, 8))
			pack(m, at);
		else
			p->value = a_value(p->value, d);
	}
}

struct span mutate_message(struct arena *arena, struct span from, struct dice *d)
{
	struct message m = { .arena = arena };

	if (!take_message(&m, from))
		return mutate_bytes(arena, from, d);
	for (uint64_t i = 0, n = 1 + dice_below(d, 2); i < n && m.count > 0; i++)
		mutate_part(&m, d);
	return write_message(&m);
}
