/* SPDX-License-Identifier: Apache-2.0 */
#include "pprof/row-profile.h"
#include "base/saturate.h"

enum { NANOSECONDS = 1000000000 };

/* What a row says, apart from its stack. */
struct row_facts {
	uint32_t type, host, service, set;
	int64_t time, duration, value, samples;
};

void row_profile_init(struct row_profile *p)
{
	*p = (struct row_profile){ .type = NULL };
	row_parts_init(&p->parts);
}

/* Return the index of the type of ROW.  TABLE_NONE: p->parts.wrong says what is wrong. */
static uint32_t type_of(struct row_profile *p, const struct row_line *row)
{
	uint32_t type = row_parts_string(&p->parts, row->value[ROW_TYPE]);
	uint32_t unit = row_parts_string(&p->parts, row->value[ROW_UNIT]);

	if (type == TABLE_NONE || unit == TABLE_NONE)
		return TABLE_NONE;
	for (uint32_t i = 0; i < p->types; i++)
		if (p->type[i].type == type && p->type[i].unit == unit)
			return i;
	if (p->types == ROW_TYPES_MAX) {
		p->parts.wrong = "there are too many sample types";
		return TABLE_NONE;
	}
	p->type = array_grow(p->type, p->types, sizeof(*p->type));
	p->type[p->types] = (struct row_type){ .type = type, .unit = unit };
	return p->types++;
}

/* Read the numbers of ROW.  Return NULL, or what is wrong. */
static const char *read_numbers(const struct row_line *row, struct row_facts *f)
{
	const struct row_value *v = row->value;
	int64_t ns;

	if (v[ROW_VALUE].size == 0)
		return "it has no value";
	if (!row_number(v[ROW_VALUE], &f->value))
		return "its value is not a whole number of 64 bits";
	f->samples = 0;
	if (v[ROW_SAMPLES].size > 0 && !row_number(v[ROW_SAMPLES], &f->samples))
		return "'samples' is not a whole number of 64 bits";
	if (!row_number_to(v[ROW_TIME], INT64_MAX / NANOSECONDS - 1, &f->time))
		return "'time' is not a whole number of seconds since 1970";
	if (!row_number_to(v[ROW_TIME_NS], NANOSECONDS - 1, &ns))
		return "'time_ns' is not a part of a second";
	if (!row_number_to(v[ROW_DURATION], INT64_MAX, &f->duration))
		return "'duration_ns' is not a whole number of nanoseconds";
	f->time = f->time * NANOSECONDS + ns;
	return NULL;
}

/* Read the texts of ROW.  Return false if one is wrong. */
static bool read_texts(struct row_profile *p, const struct row_line *row, struct row_facts *f)
{
	f->set = row_parts_set(&p->parts, row);
	f->host = row_parts_string(&p->parts, row->value[ROW_HOST]);
	f->service = row_parts_string(&p->parts, row->value[ROW_SERVICE]);
	if (f->set == TABLE_NONE || f->host == TABLE_NONE || f->service == TABLE_NONE)
		return false;
	if (f->service == p->parts.set[f->set].process)
		f->service = ROW_NO_TEXT;	/* it comes from there */
	f->type = type_of(p, row);
	return f->type != TABLE_NONE;
}

static void see_origin(struct row_origin *origin, uint32_t text)
{
	if (!origin->is_known)
		origin->text = text;
	origin->is_known = true;
	origin->differs |= text != origin->text;
}

/* Remember when, where and for how long the row's profile was recorded. */
static void see_recording(struct row_profile *p, const struct row_facts *f)
{
	const struct row_recording new = { .host = f->host, .service = f->service,
		.is_base = p->parts.set[f->set].is_base, .time = f->time };
	uint32_t count = p->recordings.count;
	uint32_t id = byte_ids_add(&p->recordings, &new, offsetof(struct row_recording, duration));

	see_origin(&p->host, f->host);
	see_origin(&p->service, f->service);
	if (id == count) {
		p->recording = array_grow(p->recording, id, sizeof(*p->recording));
		p->recording[id] = new;
	}
	if (f->duration > p->recording[id].duration)
		p->recording[id].duration = f->duration;
}

static struct row_sample *sample_of(struct row_profile *p, uint32_t stack,
				    const struct row_facts *f)
{
	const struct row_sample new = { stack, f->set, f->host, f->service, TABLE_NONE };
	const size_t identity = offsetof(struct row_sample, cell);
	uint64_t hash = hash_bytes(&new, identity);
	uint32_t id = TABLE_FIND(&p->table, hash, i, !memcmp(&p->sample[i], &new, identity));

	if (id == TABLE_NONE) {
		id = p->samples++;
		p->sample = array_grow(p->sample, id, sizeof(*p->sample));
		p->sample[id] = new;
		table_add(&p->table, hash, id);
	}
	return &p->sample[id];
}

static struct row_cell *cell_of(struct row_profile *p, struct row_sample *sample, uint32_t type)
{
	uint32_t *link = &sample->cell;

	while (*link != TABLE_NONE && p->cell[*link].type != type)
		link = &p->cell[*link].next;
	if (*link != TABLE_NONE)
		return &p->cell[*link];
	uint32_t id = *link = p->cells++;
	p->cell = array_grow(p->cell, id, sizeof(*p->cell));	/* LINK may be invalid now */
	p->cell[id] = (struct row_cell){ .type = type, .next = TABLE_NONE };
	return &p->cell[id];
}

const char *row_profile_add(struct row_profile *p, const struct row_line *row)
{
	struct row_facts f;

	if (row->value[ROW_STACK].size == 0 || row->value[ROW_TYPE].size == 0)
		return row->value[ROW_TYPE].size ? "it has no stack" : "it has no type";
	const char *wrong = read_numbers(row, &f);
	if (wrong)
		return wrong;
	uint32_t stack = row_parts_stack(&p->parts, row);
	if (stack == TABLE_NONE || !read_texts(p, row, &f))
		return p->parts.wrong;
	see_recording(p, &f);
	struct row_cell *cell = cell_of(p, sample_of(p, stack, &f), f.type);
	p->cut += !saturate_add(&cell->value, f.value);
	p->cut += !saturate_add(&cell->samples, f.samples);
	p->type[f.type].is_counted |= row->value[ROW_SAMPLES].size > 0;
	p->type[f.type].is_uncounted |= row->value[ROW_SAMPLES].size == 0;
	return NULL;
}

void row_profile_release(struct row_profile *p)
{
	row_parts_release(&p->parts);
	free(p->type);
	free(p->sample);
	table_release(&p->table);
	free(p->cell);
	byte_ids_release(&p->recordings);
	free(p->recording);
}
