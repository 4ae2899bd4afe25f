/* SPDX-License-Identifier: Apache-2.0 */
#include "show/top.h"
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
	bool *is_counted;		/* by index of the location: among its row's addresses */
};

/* Before the name of an object whose addresses are a row: no function is called so. */
enum { OBJECT_MARK = '\1' };

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

/* The row of all addresses of an object that have no function. */
static size_t row_of_address(struct summing *s, uint32_t location)
{
	const Perftools__Profiles__Location *l = s->p->location[location];
	const char *file = "unknown";
	char name[512];
	uint32_t m;

	BY_ID_FIND(m, s->mappings, s->p->mapping, l->mapping_id);
	if (m != TABLE_NONE)
		file = profile_string(s->p, s->p->mapping[m]->filename);
	const char *slash = strrchr(file, '/');
	if (slash)
		file = slash + 1;
	int length = (int)strcspn(*file == '[' ? ++file : file, "]");
	snprintf(name, sizeof(name), "%c%.*s", OBJECT_MARK, length, file);
	size_t row = row_named(s, name);
	s->row[row].addresses += !s->is_counted[location];
	s->is_counted[location] = true;
	return row;
}

/* "[libfoo.so: 6,570 addresses]" */
static void name_object(struct top_row *row, struct arena *names)
{
	char name[600], digits[32], number[48] = "";
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, row->addresses), at = 0;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			number[at++] = ',';
		number[at++] = digits[i];
	}
	number[at] = '\0';
	n = (size_t)snprintf(name, sizeof(name), "[%s: %s address%s]", row->name + 1, number,
			     row->addresses == 1 ? "" : "es");
	row->name = arena_copy(names, name, n + 1);
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
	struct top_row *r = &s->row[row];

	if (is_leaf)	/* what does not fit wraps, as in pprof */
		r->flat = (int64_t)((uint64_t)r->flat + (uint64_t)value);
	if (s->seen_in[row] != sample + 1)
		r->cumulative = (int64_t)((uint64_t)r->cumulative + (uint64_t)value);
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
			count(s, row_of_address(s, index), sample, value, i == 0);
	}
}

static uint64_t size_of(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* The larger first, whatever the sign: then gains and losses of a difference. */
static int by_size(int64_t a1, int64_t b1, int64_t a2, int64_t b2, const char *a, const char *b)
{
	if (size_of(a1) != size_of(b1))
		return size_of(a1) < size_of(b1) ? 1 : -1;
	if (size_of(a2) != size_of(b2))
		return size_of(a2) < size_of(b2) ? 1 : -1;
	if (a1 != b1)
		return a1 < b1 ? 1 : -1;
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

static bool is_of_base(const Perftools__Profiles__Profile *p, size_t sample)
{
	for (size_t i = 0; i < p->sample[sample]->n_label; i++)
		if (!strcmp(profile_string(p, p->sample[sample]->label[i]->key), PROFILE_BASE))
			return true;
	return false;
}

/* All samples; what shares are of is the sum of sizes, of a difference its base's. */
static void sum_samples(struct summing *s, size_t type, struct top *top)
{
	uint64_t all = 0, base = 0;

	for (size_t i = 0; i < s->p->n_sample; i++) {
		int64_t value = s->p->sample[i]->value[type];
		bool of_base = is_of_base(s->p, i);
		top->total = (int64_t)((uint64_t)top->total + (uint64_t)value);
		top->is_difference |= of_base;
		all += size_of(value);
		base += of_base ? size_of(value) : 0;
		sum_sample(s, i, value);
	}
	top->whole = top->is_difference && base > 0 ? base : all;
}

/* Hand the rows over, sorted. */
static void take_rows(struct summing *s, struct top *top, bool by_cumulative)
{
	top->names = mem_zeroed(1, sizeof(*top->names));
	*top->names = s->names.arena;	/* rows point into it */
	s->names.arena = (struct arena){ 0 };
	if (s->rows == 0)
		return;
	/* row 0 is the intern's empty string */
	memmove(s->row, s->row + 1, (s->rows - 1) * sizeof(*s->row));
	top->row = s->row;
	top->rows = s->rows - 1;
	for (size_t i = 0; i < top->rows; i++)
		if (top->row[i].addresses > 0)
			name_object(&top->row[i], top->names);
		else
			top->has_functions = true;
	qsort(top->row, top->rows, sizeof(*top->row),
	      by_cumulative ? compare_cumulative : compare_flat);
}

struct top top_of(const Perftools__Profiles__Profile *p, size_t type, bool by_cumulative)
{
	struct summing s = { .p = p, .is_counted = mem_zeroed(p->n_location, sizeof(bool)) };
	struct top top = { 0 };

	BY_ID_INDEX(s.locations, p->location, p->n_location);
	BY_ID_INDEX(s.functions, p->function, p->n_function);
	BY_ID_INDEX(s.mappings, p->mapping, p->n_mapping);
	sum_samples(&s, type, &top);
	take_rows(&s, &top, by_cumulative);
	table_release(&s.locations);
	table_release(&s.functions);
	table_release(&s.mappings);
	intern_release(&s.names);
	free(s.seen_in);
	free(s.is_counted);
	return top;
}

void top_release(struct top *top)
{
	arena_release(top->names);
	free(top->names);
	free(top->row);
	*top = (struct top){ 0 };
}
