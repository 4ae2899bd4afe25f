/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/top.h"
#include "base/arena.h"
#include "base/intern.h"
#include "profile/by-id.h"

#include <inttypes.h>

struct summing {
	const Perftools__Profiles__Profile *p;
	struct table locations, functions, mappings;	/* by id: indices into P's arrays */
	struct intern names;		/* of rows: the same ids */
	struct top_row *row;
	size_t *seen_in;		/* by row: 1 + the last sample it was counted for */
	size_t rows;
};

static size_t row_named(struct summing *s, const char *name)
{
	uint32_t id = intern_text(&s->names, *name ? name : "?");

	for (; s->rows < s->names.count; s->rows++) {
		s->row = array_grow(s->row, s->rows, sizeof(*s->row));
		s->seen_in = array_grow(s->seen_in, s->rows, sizeof(*s->seen_in));
		s->row[s->rows] = (struct top_row){ .name = s->names.text[s->rows] };
		s->seen_in[s->rows] = 0;
	}
	return id;
}

/* "libc.so.6+0x2711a": the place of a location that has no function. */
static size_t row_of_address(struct summing *s, const Perftools__Profiles__Location *l)
{
	const char *file = "?";
	char name[512];
	uint32_t m;

	BY_ID_FIND(m, s->mappings, s->p->mapping, l->mapping_id);
	if (m != TABLE_NONE)
		file = profile_string(s->p, s->p->mapping[m]->filename);
	const char *slash = strrchr(file, '/');
	snprintf(name, sizeof(name), "%s+0x%" PRIx64, slash ? slash + 1 : file, l->address);
	return row_named(s, name);
}

static size_t row_of_line(struct summing *s, const Perftools__Profiles__Line *line)
{
	uint32_t f;

	BY_ID_FIND(f, s->functions, s->p->function, line->function_id);
	return row_named(s, f == TABLE_NONE ? "?"
			    : profile_string(s->p, s->p->function[f]->name));
}

static void count(struct summing *s, size_t row, size_t sample, int64_t value, bool is_leaf)
{
	if (is_leaf)
		s->row[row].flat += value;
	if (s->seen_in[row] != sample + 1)
		s->row[row].cumulative += value;
	s->seen_in[row] = sample + 1;
}

static void sum_sample(struct summing *s, size_t sample, int64_t value)
{
	const Perftools__Profiles__Sample *stack = s->p->sample[sample];
	uint32_t index;

	for (size_t i = 0; i < stack->n_location_id; i++) {
		BY_ID_FIND(index, s->locations, s->p->location, stack->location_id[i]);
		if (index == TABLE_NONE)
			continue;
		const Perftools__Profiles__Location *l = s->p->location[index];
		for (size_t k = 0; k < l->n_line; k++)
			count(s, row_of_line(s, l->line[k]), sample, value, i == 0 && k == 0);
		if (l->n_line == 0)
			count(s, row_of_address(s, l), sample, value, i == 0);
	}
}

static int by_size(int64_t a1, int64_t b1, int64_t a2, int64_t b2, const char *a, const char *b)
{
	if (a1 != b1)
		return a1 < b1 ? 1 : -1;
	if (a2 != b2)
		return a2 < b2 ? 1 : -1;
	return strcmp(a, b);
}

static int compare_flat(const void *a, const void *b)
{
	const struct top_row *x = a, *y = b;

	return by_size(x->flat, y->flat, x->cumulative, y->cumulative, x->name, y->name);
}

static int compare_cumulative(const void *a, const void *b)
{
	const struct top_row *x = a, *y = b;

	return by_size(x->cumulative, y->cumulative, x->flat, y->flat, x->name, y->name);
}

struct top top_of(const Perftools__Profiles__Profile *p, size_t type, bool by_cumulative)
{
	struct summing s = { .p = p };
	struct top top = { 0 };

	BY_ID_INDEX(s.locations, p->location, p->n_location);
	BY_ID_INDEX(s.functions, p->function, p->n_function);
	BY_ID_INDEX(s.mappings, p->mapping, p->n_mapping);
	for (size_t i = 0; i < p->n_sample; i++) {
		int64_t value = p->sample[i]->value[type];
		top.total += value;
		sum_sample(&s, i, value);
	}
	top.names = mem_zeroed(1, sizeof(*top.names));
	*top.names = s.names.arena;	/* rows point into it */
	s.names.arena = (struct arena){ 0 };
	if (s.rows > 0) {	/* row 0 is the intern's empty string */
		memmove(s.row, s.row + 1, (s.rows - 1) * sizeof(*s.row));
		top.row = s.row;
		top.rows = s.rows - 1;
		qsort(top.row, top.rows, sizeof(*top.row),
		      by_cumulative ? compare_cumulative : compare_flat);
	}
	table_release(&s.locations);
	table_release(&s.functions);
	table_release(&s.mappings);
	intern_release(&s.names);
	free(s.seen_in);
	return top;
}

void top_release(struct top *top)
{
	arena_release(top->names);
	free(top->names);
	free(top->row);
	*top = (struct top){ 0 };
}
