/* SPDX-License-Identifier: Apache-2.0 */
/* What can happen to the records of a stream. */
#include "whole.h"
#include "record/record.h"

#include <string.h>

/* A piece of the stream, most often a short one. */
struct piece {
	size_t at, count;
};

static struct piece some_piece(const struct model *m, struct dice *d)
{
	size_t most = dice_once_in(d, 4) ? m->count : 4;
	struct piece p = { dice_below(d, m->count), 1 + dice_below(d, most) };

	if (p.count > m->count - p.at)
		p.count = m->count - p.at;
	return p;
}

static void copy_piece(struct model *m, const struct item *from, size_t count, struct dice *d)
{
	const struct item *copy = memcpy(arena_alloc(m->arena, count * sizeof(*from)), from,
					 count * sizeof(*from));

	memcpy(model_insert(m, dice_below(d, m->count + 1), count), copy, count * sizeof(*from));
}

static void drop(struct model *m, struct piece p)
{
	memmove(m->item + p.at, m->item + p.at + p.count,
		(m->count - p.at - p.count) * sizeof(*m->item));
	m->count -= p.count;
}

static void duplicate(struct model *m, struct dice *d)
{
	struct piece p = some_piece(m, d);

	copy_piece(m, m->item + p.at, p.count, d);
}

static void drop_some(struct model *m, struct dice *d)
{
	struct piece p = some_piece(m, d);

	if (p.count < m->count)
		drop(m, p);
}

static void move(struct model *m, struct dice *d)
{
	struct piece p = some_piece(m, d);
	struct item *copy = memcpy(arena_alloc(m->arena, p.count * sizeof(*copy)), m->item + p.at,
				   p.count * sizeof(*copy));

	drop(m, p);
	memcpy(model_insert(m, dice_below(d, m->count + 1), p.count), copy,
	       p.count * sizeof(*copy));
}

static void split(struct model *m, struct dice *d)
{
	size_t at = dice_below(d, m->count);
	struct item *item = model_insert(m, at + 1, 1) - 1;
	size_t first = dice_below(d, item->body.size + 1);

	item[1] = item[0];
	item[1].body = (struct span){ item->body.at + first, item->body.size - first };
	item[0].body.size = first;
}

static void join(struct model *m, struct dice *d)
{
	size_t at = dice_below(d, m->count);
	struct item *item = m->item + at;

	if (at + 1 == m->count)
		return;
	size_t first = item->body.size;
	struct span body = span_copy(m->arena, item->body, first + item[1].body.size);
	if (item[1].body.size)
		memcpy(body.at + first, item[1].body.at, item[1].body.size);
	item->body = body;
	drop(m, (struct piece){ at + 1, 1 });
}

/* A record that was not there: its fields are numbers that matter. */
static void make(struct model *m, struct dice *d)
{
	static const struct { uint32_t type; uint16_t size, misc; } some[] = {
		{ PERF_RECORD_FORK, 24, 0 }, { PERF_RECORD_EXIT, 24, 0 },
		{ PERF_RECORD_COMM, 24, 0 }, { PERF_RECORD_COMM, 24, PERF_RECORD_MISC_COMM_EXEC },
		{ PERF_RECORD_MMAP, 40, 2 }, { PERF_RECORD_MMAP2, 72, 2 },
		{ PERF_RECORD_MMAP2, 72, 1 }, { PERF_RECORD_LOST, 16, 0 },
		{ PERF_RECORD_LOST_SAMPLES, 8, 0 }, { PERF_RECORD_SWITCH, 0, 0x2000 },
		{ PERF_RECORD_SWITCH, 0, 0 }, { PERF_RECORD_KSYMBOL, 32, 0 },
		{ PERF_RECORD_READ, 40, 0 }, { RECORD_FINISHED_ROUND, 0, 0 },
		{ RECORD_EVENT_UPDATE, 24, 0 }, { RECORD_ID_INDEX, 40, 0 },
		{ RECORD_BUILD_ID, 40, 2 }, { RECORD_FEATURE, 32, 0 },
		{ PERF_RECORD_SAMPLE, 120, 2 }, { PERF_RECORD_THROTTLE, 24, 0 },
		{ PERF_RECORD_SWITCH_CPU_WIDE, 8, 0x2000 }, { RECORD_TRACING_DATA, 4, 0 },
	};
	size_t which = dice_below(d, sizeof(some) / sizeof(*some));
	size_t trailer = m->has_trailers && some[which].type < RECORD_ATTR ? 24 : 0;
	size_t at = dice_below(d, m->count + 1);
	struct item *item = model_insert(m, at, 1);

	*item = (struct item){ .type = some[which].type, .misc = some[which].misc, .claims = -1,
			       .body = span_copy(m->arena, (struct span){ 0 },
						 some[which].size + trailer) };
	struct field field[FIELDS_MAX];
	size_t count = fields_of(m, item, field);
	for (size_t i = 0; i < count; i++) {
		uint64_t value = number_for(m, field[i].meaning, 1000, d);
		if (field[i].size == 4)
			put32(m, item->body, field[i].at, (uint32_t)value);
		else
			put64(m, item->body, field[i].at, value);
	}
}

/* Hundreds to thousands of the same record, or of a few, in which one field goes on. */
static void multiply(struct model *m, struct dice *d)
{
	struct piece p = some_piece(m, d);
	struct field field[FIELDS_MAX];

	p.count = p.count < 3 ? p.count : 3;
	size_t fields = fields_of(m, m->item + p.at, field);
	struct field f = fields ? field[dice_below(d, fields)] : (struct field){ 0 };
	uint64_t step = number_for(m, COUNT, 0x1000, d) * (dice_once_in(d, 2) ? 1 : UINT64_MAX);
	size_t each = 0, room = INPUT_MAX / 2;
	for (size_t i = 0; i < p.count; i++)
		each += 8 + m->item[p.at + i].body.size;
	size_t times = 1 + dice_below(d, dice_once_in(d, 4) ? 20000 : 300);
	times = times < room / each ? times : room / each;
	model_insert(m, p.at + p.count, times * p.count);
	for (size_t t = 1; t <= times; t++) {
		struct item *item = m->item + p.at + t * p.count;
		memcpy(item, m->item + p.at, p.count * sizeof(*item));
		item->body = span_copy(m->arena, item->body, item->body.size);
		if (f.size == 4)
			put32(m, item->body, f.at,
			      get32(m, item->body, f.at) + (uint32_t)(t * step));
		else if (f.size == 8)
			put64(m, item->body, f.at, get64(m, item->body, f.at) + t * step);
	}
}

/* Times that go back, stand still, or jump, from some record on. */
static void shift_times(struct model *m, struct dice *d)
{
	struct piece p = some_piece(m, d);
	int64_t shift = (int64_t)number_for(m, TIME, 0, d);
	bool same = dice_once_in(d, 3);
	struct field field[FIELDS_MAX];

	for (size_t i = p.at; i < p.at + p.count; i++) {
		size_t count = fields_of(m, m->item + i, field);
		for (size_t k = 0; k < count; k++) {
			if (field[k].meaning != TIME || field[k].size != 8)
				continue;
			m->item[i].body = span_copy(m->arena, m->item[i].body,
						    m->item[i].body.size);
			struct span body = m->item[i].body;
			put64(m, body, field[k].at, same ? (uint64_t)shift
			      : get64(m, body, field[k].at) + (uint64_t)shift);
		}
	}
}

static void splice(struct model *m, const struct model *other, struct dice *d)
{
	if (!other || other->count == 0)
		return;
	struct piece p = some_piece(other, d);
	copy_piece(m, other->item + p.at, p.count, d);
}

/* How all of it is written. */
static void change_writing(struct model *m, struct dice *d)
{
	switch (dice_below(d, 6)) {
	case 0:
	case 1: m->is_file = !m->is_file; break;
	case 2:
	case 3: m->compressed = !m->compressed; break;
	case 4: m->wrapping = (enum wrapping)dice_below(d, WRAPPINGS); break;
	default:
		m->is_file = true;
		m->header[1 + dice_below(d, 12)] = (int64_t)number_for(m, COUNT, 0, d);
	}
}

/* Mostly one type; the others are rare. */
static size_t item_of_rare_type(const struct model *m, struct dice *d)
{
	size_t first = dice_below(d, m->count);

	for (size_t i = 0; i < m->count; i++) {
		size_t at = (first + i) % m->count;
		if (m->item[at].type != PERF_RECORD_SAMPLE)
			return at;
	}
	return first;
}

void mutate_records(struct model *m, const struct model *other, struct dice *d)
{
	if (m->count == 0)
		return;
	size_t which = dice_once_in(d, 2) ? item_of_rare_type(m, d) : dice_below(d, m->count);

	switch (dice_below(d, 24)) {
	case 0: duplicate(m, d); break;
	case 1: drop_some(m, d); break;
	case 2: move(m, d); break;
	case 3: split(m, d); break;
	case 4: join(m, d); break;
	case 5:
	case 6:
	case 7: make(m, d); break;
	case 8: shift_times(m, d); break;
	case 9:
	case 10: splice(m, other, d); break;
	case 11: change_writing(m, d); break;
	case 12:
		if (dice_once_in(d, 8))
			multiply(m, d);
		break;
	default: edit_item(m, m->item + which, d);
	}
	model_learn(m);
}
