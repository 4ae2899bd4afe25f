/* SPDX-License-Identifier: Apache-2.0 */
#include "show/top.h"
#include "base/arena.h"
#include "base/intern.h"
#include "profile/frames.h"

#include <inttypes.h>

struct summing {
	const struct decoded *d;
	struct frames frames;		/* its numbers are rows */
	struct intern names;		/* of rows: ids are rows */
	struct top_row *row;
	size_t *seen_in;		/* by row: last sample counted in it, from 1 */
	size_t rows;
	bool *is_counted;		/* by location: it is in its row's addresses */
};

/* First byte of the name of an object's row: no function name starts with it. */
enum { OBJECT_MARK = '\1' };

static uint32_t row_named(void *summing, const char *name)
{
	struct summing *s = summing;
	uint32_t id = intern_text(&s->names, *name ? name : "?");

	for (; s->rows < s->names.count; s->rows++) {
		s->row = array_grow(s->row, s->rows, sizeof(*s->row));
		s->seen_in = array_grow(s->seen_in, s->rows, sizeof(*s->seen_in));
		s->row[s->rows] = (struct top_row){ .name = s->names.text[s->rows] };
		s->seen_in[s->rows] = 0;
	}
	return id;
}

/* Return the row of all addresses of an object that have no function. */
static uint32_t row_of_object(void *summing, const char *file)
{
	char name[512];
	const char *slash = strrchr(file, '/');

	if (!*file)
		file = "unknown";
	if (slash)
		file = slash + 1;
	int length = (int)strcspn(*file == '[' ? ++file : file, "]");
	snprintf(name, sizeof(name), "%c%.*s", OBJECT_MARK, length, file);
	return row_named(summing, name);
}

/* Name the row of an object: "[libfoo.so: 6,570 addresses]" */
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

static void count(struct summing *s, size_t row, size_t sample, int64_t value, bool is_leaf)
{
	struct top_row *r = &s->row[row];

	if (is_leaf)	/* what does not fit wraps, as in pprof */
		r->flat = (int64_t)((uint64_t)r->flat + (uint64_t)value);
	if (s->seen_in[row] != sample)
		r->cumulative = (int64_t)((uint64_t)r->cumulative + (uint64_t)value);
	s->seen_in[row] = sample;
}

static void sum_sample(struct summing *s, const struct decoded_sample *stack, size_t sample,
		       int64_t value)
{
	for (size_t i = 0; i < stack->locations; i++) {
		uint32_t location = stack->location[i];
		if (location == TABLE_NONE)
			continue;
		const struct frames_of *of = frames_of(&s->frames, location);
		for (uint32_t k = 0; k < of->count; k++)
			count(s, s->frames.name[of->first + k], sample, value, i == 0 && k == 0);
		if (of->is_address && !s->is_counted[location])
			s->row[s->frames.name[of->first]].addresses++;
		s->is_counted[location] = true;
	}
}

static uint64_t size_of(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* Order by absolute value, the largest first; if equal, gains before losses. */
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

static bool is_of_base(const struct decoded *d, const struct decoded_sample *sample)
{
	for (size_t i = 0; i < sample->labels; i++)
		if (!strcmp(decoded_string(d, sample->label[i].key), PROFILE_BASE))
			return true;
	return false;
}

/* Sum up all samples.  TOP->whole is the sum of absolute values, or those of a base if any. */
static void sum_samples(struct summing *s, size_t type, struct top *top)
{
	struct decoded_reader r = { .d = s->d };
	uint64_t all = 0, base = 0;

	while (decoded_next(&r)) {
		int64_t value = r.sample.value[type];
		bool of_base = is_of_base(s->d, &r.sample);
		top->total = (int64_t)((uint64_t)top->total + (uint64_t)value);
		top->is_difference |= of_base;
		all += size_of(value);
		base += of_base ? size_of(value) : 0;
		sum_sample(s, &r.sample, r.next, value);
	}
	decoded_reader_release(&r);
	top->whole = top->is_difference && base > 0 ? base : all;
}

/* Move the rows to TOP, named and sorted. */
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

struct top top_of(const struct decoded *d, size_t type, bool by_cumulative)
{
	struct summing s = { .d = d };
	struct top top = { 0 };

	s.is_counted = mem_zeroed(d->locations.count, sizeof(*s.is_counted));
	frames_init(&s.frames, d, row_named, row_of_object, &s);
	sum_samples(&s, type, &top);
	take_rows(&s, &top, by_cumulative);
	frames_release(&s.frames);
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
