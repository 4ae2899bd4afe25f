/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/top.h"
#include "base/arena.h"
#include "base/digest.h"
#include "base/text.h"
#include "compare/wait-frames.h"
#include "names/object-name.h"
#include "pprof/label-kinds.h"
#include "pprof/sample-type.h"
#include "record/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* First byte of the name of an object's row: no function name starts with it. */
enum { OBJECT_MARK = '\1' };

struct summing {
	struct top *top;
	const struct decoded *d;
	struct frames frames;		/* its numbers are rows */
	bool *is_counted;		/* by location: it is in its row's addresses */
	uint32_t base, label, state;	/* strings of these label keys; TABLE_NONE: not used */
};

/* A sum that does not fit wraps, as in pprof. */
static int64_t sum(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* A sum of sizes that does not fit is the largest number: a wrapped one would make shares huge. */
static uint64_t sum_sizes(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint32_t row_of(struct top *t, const char *name)
{
	uint32_t id = intern_text(&t->names, *name ? name : "?");

	for (; t->rows < t->names.count; t->rows++) {
		t->row = array_grow(t->row, t->rows, sizeof(*t->row));
		t->row[t->rows] = (struct top_row){ .flat = 0 };
	}
	return id;
}

static uint32_t row_of_function(void *top, const char *name)
{
	struct top *t = top;

	return t->how.stacks ? intern_text(&t->frames, *name ? name : "?") : row_of(t, name);
}

void top_name_object(const char *path, char *name, size_t size)
{
	*name = OBJECT_MARK;
	object_name(path, false, name + 1, size - 1);
}

/* Return the row of all addresses of an object that have no function. */
static uint32_t row_of_object(void *top, const char *file)
{
	struct top *t = top;
	char name[512];

	if (t->how.stacks) {
		char brackets[sizeof(name) + 2];
		object_name(file, false, name, sizeof(name));
		snprintf(brackets, sizeof(brackets), "[%s]", name);
		return intern_text(&t->frames, brackets);
	}
	if (t->how.by == FRAMES_BY_OBJECT)
		object_name(file, true, name, sizeof(name));
	else
		top_name_object(file, name, sizeof(name));
	return row_of(t, name);
}

/* Add OBJECT, a string of T, to the objects of ROW. */
static void add_object(struct top *t, struct top_row *row, uint32_t object)
{
	if (row->object && object && row->object != object)
		object = intern_text(&t->objects, WORD_SEVERAL);
	row->object = object ? object : row->object;
}

/* Note that COUNT rows belong to the object that LOCATION is in. */
static void find_objects(struct summing *s, uint32_t location, const uint32_t *row, uint32_t count)
{
	struct decoded_location l = decoded_location(s->d, location);
	const char *file = "";
	char name[512];

	if (l.mapping != TABLE_NONE)
		file = decoded_string(s->d, decoded_mapping(s->d, l.mapping).file);
	if (!*file)
		return;
	object_name(file, true, name, sizeof(name));
	uint32_t object = intern_text(&s->top->objects, name);
	for (uint32_t k = 0; k < count; k++)
		add_object(s->top, &s->top->row[row[k]], object);
}

const char *top_object(const struct top *t, uint32_t row)
{
	return t->row[row].object ? t->objects.text[t->row[row].object] : "";
}

bool top_is_object(const struct top_row *row, const char *object)
{
	return row->addresses > 0 && object_name_is_of(row->name, object);
}

/* Return the name of ROW. */
static const char *name_of_row(struct top *t, uint32_t row)
{
	const char *name = t->names.text[row];
	char text[600];

	if (*name != OBJECT_MARK)
		return name;
	object_name_addresses(name + 1, t->row[row].addresses, text, sizeof(text));
	return arena_text(&t->shown, text, strlen(text));
}

static void count(struct top *t, uint32_t row, int64_t value, bool is_leaf)
{
	struct top_row *r = &t->row[row];

	if (is_leaf)
		r->flat = sum(r->flat, value);
	if (r->seen_in != t->samples)
		r->cumulative = sum(r->cumulative, value);
	if (t->bars && is_leaf)
		bars_count(t->bars, row, BARS_FLAT);
	if (t->bars && r->seen_in != t->samples)
		bars_count(t->bars, row, BARS_CUMULATIVE);
	r->seen_in = t->samples;
}

static struct top_call *find_call(struct top *t, uint32_t caller, uint32_t callee)
{
	uint64_t hash = hash_u64((uint64_t)caller << 32 | callee);
	uint32_t id = TABLE_FIND(&t->call_table, hash, i, t->call[i].caller == caller &&
				 t->call[i].callee == callee);

	if (id != TABLE_NONE)
		return &t->call[id];
	t->call = array_grow(t->call, t->calls, sizeof(*t->call));
	t->call[t->calls] = (struct top_call){ .caller = caller, .callee = callee };
	table_add(&t->call_table, hash, t->calls);
	return &t->call[t->calls++];
}

/* A row that calls itself does not count as a call, as in pprof. */
static void count_call(struct top *t, uint32_t caller, uint32_t callee, int64_t value)
{
	if (caller == TABLE_NONE || callee == TABLE_NONE || caller == callee)
		return;
	struct top_call *call = find_call(t, caller, callee);
	if (call->seen_in != t->samples)
		call->value = sum(call->value, value);
	call->seen_in = t->samples;
}

/*
 * Count the kernel's frames of a wait, from location FIRST on, as one row.  Return how many
 * locations these are.
 */
static size_t count_wait(struct summing *s, const struct decoded_sample *stack, size_t first,
			 int64_t value)
{
	struct top *t = s->top;
	char name[256];
	size_t locations = wait_frames(s->d, stack, first, name, sizeof(name));

	if (locations == 0)
		return 0;
	uint32_t row = row_of(t, name);
	count(t, row, value, first == 0);
	t->has_functions = true;
	if (t->how.objects)
		find_objects(s, stack->location[first + locations - 1], &row, 1);
	return locations;
}

/* Count the stack of a sample, from the leaf on. */
static void count_stack(struct summing *s, const struct decoded_sample *stack, int64_t value)
{
	struct top *t = s->top;
	bool all = !t->how.leaves;
	uint32_t callee = TABLE_NONE;
	size_t i = t->how.waits ? count_wait(s, stack, 0, value) : 0;

	for (; i < stack->locations && (i == 0 || all); i++) {
		uint32_t location = stack->location[i];
		if (location == TABLE_NONE)
			continue;
		const struct frames_of *of = frames_of(&s->frames, location);
		for (uint32_t k = 0; k < of->count && (k == 0 || all); k++) {
			uint32_t row = s->frames.name[of->first + k];
			count(t, row, value, i == 0 && k == 0);
			if (t->how.calls)
				count_call(t, row, callee, value);
			callee = row;
		}
		t->has_functions |= !of->is_address || t->how.by == FRAMES_BY_OBJECT;
		if (t->how.objects && !s->is_counted[location])
			find_objects(s, location, &s->frames.name[of->first], of->count);
		if (of->is_address && !s->is_counted[location])
			t->row[s->frames.name[of->first]].addresses++;
		s->is_counted[location] = true;
		const char *name = t->names.text[s->frames.name[of->first]];
		if (t->how.waits && all && wait_frames_divided_by(name))
			i += count_wait(s, stack, i + 1, value);
	}
}

enum {
	STACK_NAME = 4096,		/* bytes of a stack's name; the rest is a number */
	STACK_NAMES = 256 << 20,	/* bytes of all; further stacks are one row */
};

/* "leaf < caller < its caller", and a digest of the callers that do not fit; 0: all fit. */
struct stack_name {
	char text[STACK_NAME + 32];
	size_t size;
	uint64_t rest;
};

static void add_frame(struct stack_name *name, const char *frame)
{
	const char *between = name->size ? " < " : "";
	size_t length = strlen(frame);

	if (name->rest || name->size + strlen(between) + length > STACK_NAME) {
		name->rest = digest_more(name->rest, digest_bytes(frame, length)) | 1;
		return;
	}
	name->size += (size_t)snprintf(name->text + name->size, sizeof(name->text) - name->size,
				       "%s%s", between, frame);
}

static uint32_t row_of_stack(struct summing *s, const struct decoded_sample *stack)
{
	struct stack_name name;
	struct top *t = s->top;

	name.text[0] = '\0';
	name.size = name.rest = 0;
	for (size_t i = 0; i < stack->locations; i++) {
		if (stack->location[i] == TABLE_NONE)
			continue;
		const struct frames_of *of = frames_of(&s->frames, stack->location[i]);
		for (uint32_t k = 0; k < of->count; k++)
			add_frame(&name, t->frames.text[s->frames.name[of->first + k]]);
		t->has_functions |= !of->is_address;
	}
	if (name.rest)
		snprintf(name.text + name.size, sizeof(name.text) - name.size,
			 " < [%016" PRIx64 "]", name.rest);
	if (t->stack_bytes > STACK_NAMES)
		return row_of(t, WORD_OTHER_STACKS);
	uint32_t rows = t->rows, row = row_of(t, name.text);
	t->stack_bytes += t->rows > rows ? name.size : 0;
	return row;
}

static bool has_key(const struct decoded_sample *sample, uint32_t key)
{
	for (size_t i = 0; key != TABLE_NONE && i < sample->labels; i++)
		if (sample->label[i].key == key)
			return true;
	return false;
}

/* Count a sample by the values of its label. */
static void count_labels(struct summing *s, const struct decoded_sample *sample, int64_t value)
{
	char text[600];
	bool found = false;

	for (size_t i = 0; i < sample->labels; i++) {
		const struct decoded_label *l = &sample->label[i];
		if (l->key != s->label)
			continue;
		const char *unit = l->unit == l->key ? "" : decoded_string(s->d, l->unit);
		if (l->text)
			snprintf(text, sizeof(text), "%.500s", decoded_string(s->d, l->text));
		else
			snprintf(text, sizeof(text), "%" PRId64 "%s%.100s", l->number,
				 *unit ? " " : "", unit);
		text_make_safe(text);	/* the cut may be inside a character */
		count(s->top, row_of(s->top, text), value, true);
		found = true;
	}
	s->top->has_label |= found;
	if (found)
		return;
	bool is_unknown = has_key(sample, s->state);
	snprintf(text, sizeof(text), is_unknown ? "[%.100s not known]" : "[no %.100s]",
		 s->top->how.label);
	count(s->top, row_of(s->top, text), value, true);
}

static uint32_t string_of(const struct decoded *d, const char *text)
{
	for (uint32_t i = 1; text && i < d->strings; i++)
		if (!strcmp(decoded_string(d, i), text))
			return i;
	return TABLE_NONE;
}

static void add_sample(struct summing *s, const struct decoded_sample *sample, int64_t value)
{
	struct top *t = s->top;
	bool of_base = has_key(sample, s->base);

	t->samples++;
	t->total = sum(t->total, value);
	t->is_difference |= of_base;
	t->all = sum_sizes(t->all, top_size(value));
	t->base = sum_sizes(t->base, of_base ? top_size(value) : 0);
	if (t->how.label)
		count_labels(s, sample, value);
	else if (t->how.stacks)
		count(t, row_of_stack(s, sample), value, true);
	else
		count_stack(s, sample, value);
}

static void add_samples(struct summing *s, size_t type)
{
	/* two locations suffice to see whether there is one */
	struct decoded_reader r = { .d = s->d, .most = s->top->how.leaves ? 2 : 0 };
	struct bars *bars = s->top->bars;
	uint32_t samples = bars ? bars->samples : s->d->samples;

	for (uint32_t i = 0; i < samples; i++) {
		r.next = bars ? bars->order[i] : i;
		decoded_next(&r);
		if (!bars || bars_next_sample(bars, &r.sample, i))
			add_sample(s, &r.sample, r.sample.value[type]);
	}
	decoded_reader_release(&r);
}

void top_add(struct top *t, const struct decoded *d, size_t type)
{
	struct summing s = { .top = t, .d = d, .base = string_of(d, PROFILE_BASE),
			     .label = string_of(d, t->how.label),
			     .state = string_of(d, LABELS_STATE) };

	s.is_counted = mem_zeroed(d->locations.count, sizeof(*s.is_counted));
	frames_init(&s.frames, d, row_of_function, row_of_object, t);
	s.frames.by = t->how.by;
	add_samples(&s, type);
	frames_release(&s.frames);
	free(s.is_counted);
}

void top_add_with_bars(struct top *t, const struct decoded *d, size_t type, struct bars *bars,
		       const struct bars_run *run)
{
	bars_init(bars, d, type, run);
	t->bars = bars;
	top_add(t, d, type);
	bars_finish(bars, t->rows);
}

static void add_row(struct top *t, uint32_t row, const struct top *of, uint32_t number)
{
	struct top_row *to = &t->row[row];
	const struct top_row *from = &of->row[number];

	to->flat = sum(to->flat, from->flat);
	to->cumulative = sum(to->cumulative, from->cumulative);
	to->seen_in = to->seen_in > from->seen_in ? to->seen_in : from->seen_in;
	/* the same addresses come again: this is how many there are at least */
	if (from->addresses > to->addresses)
		to->addresses = from->addresses;
	if (from->object)
		add_object(t, to, intern_text(&t->objects, top_object(of, number)));
}

/* Add FROM's rows and calls.  Those of rows that KEEP (NULL: of all) is not set for are [other]. */
static void add_rows(struct top *t, const struct top *from, const bool *keep)
{
	uint32_t *row = mem_zeroed(from->rows, sizeof(*row));

	for (uint32_t i = 1; i < from->rows; i++) {
		row[i] = row_of(t, keep && !keep[i] ? WORD_OTHER : from->names.text[i]);
		add_row(t, row[i], from, i);
	}
	for (uint32_t i = 0; i < from->calls; i++) {
		uint32_t caller = row[from->call[i].caller], callee = row[from->call[i].callee];
		if (caller == callee)
			continue;
		struct top_call *call = find_call(t, caller, callee);
		call->value = sum(call->value, from->call[i].value);
	}
	free(row);
}

void top_merge(struct top *t, const struct top *from)
{
	add_rows(t, from, NULL);
	t->total = sum(t->total, from->total);
	t->all = sum_sizes(t->all, from->all);
	t->base = sum_sizes(t->base, from->base);
	t->is_difference |= from->is_difference;
	t->has_functions |= from->has_functions;
	t->has_label |= from->has_label;
	t->samples += from->samples;
}

void top_limit(struct top *t, uint32_t most)
{
	if (t->rows <= most)
		return;
	struct top small = *t;
	bool *keep = mem_zeroed(t->rows, sizeof(*keep));

	top_sort(t, true);
	for (uint32_t i = 0; i < most / 2; i++)
		keep[t->order[i]] = true;
	small.names = small.objects = (struct intern){ 0 };
	small.call_table = (struct table){ 0 };
	small.shown = (struct arena){ 0 };
	small.row = NULL;
	small.call = NULL;
	small.order = NULL;
	small.rows = small.calls = small.count = 0;
	add_rows(&small, t, keep);
	free(keep);
	top_release(t);
	*t = small;
}

bool top_is_of_waits(const char *name)
{
	return !strcmp(name, TYPE_OFF_CPU) || sample_type_is_of_contentions(name);
}

const char *top_row_kind(const struct top_how *how)
{
	return how->label ? "value" : how->stacks ? "stack" : frames_by_name[how->by];
}

uint64_t top_whole(const struct top *t)
{
	return t->is_difference && t->base > 0 ? t->base : t->all;
}

/* Order by absolute value, the largest first; if equal, gains before losses. */
static int by_size(int64_t a1, int64_t b1, int64_t a2, int64_t b2)
{
	if (top_size(a1) != top_size(b1))
		return top_size(a1) < top_size(b1) ? 1 : -1;
	if (top_size(a2) != top_size(b2))
		return top_size(a2) < top_size(b2) ? 1 : -1;
	return a1 == b1 ? 0 : a1 < b1 ? 1 : -1;
}

static int by_flat(const struct top_row *x, const struct top_row *y)
{
	return by_size(x->flat, y->flat, x->cumulative, y->cumulative);
}

static int by_cumulative(const struct top_row *x, const struct top_row *y)
{
	return by_size(x->cumulative, y->cumulative, x->flat, y->flat);
}

struct sorting {
	const struct top_row *row;
	int (*compare)(const struct top_row *x, const struct top_row *y);
};

static int compare_rows(const void *a, const void *b, void *sorting)
{
	const struct sorting *s = sorting;
	const struct top_row *x = &s->row[*(const uint32_t *)a], *y = &s->row[*(const uint32_t *)b];
	int order = s->compare(x, y);

	return order ? order : strcmp(x->name, y->name);
}

void top_sort(struct top *t, bool cumulative)
{
	struct sorting how = { t->row, cumulative ? by_cumulative : by_flat };

	arena_release(&t->shown);
	free(t->order);
	t->count = 0;
	t->order = mem_zeroed(t->rows, sizeof(*t->order));
	for (uint32_t i = 1; i < t->rows; i++) {	/* row 0 is the intern's empty string */
		const struct top_row *row = &t->row[i];
		t->row[i].name = name_of_row(t, i);
		/* what only ran, beside waits, is not in their table */
		if (row->seen_in && (!t->how.waits || row->flat || row->cumulative))
			t->order[t->count++] = i;
	}
	qsort_r(t->order, t->count, sizeof(*t->order), compare_rows, &how);
}

void top_release(struct top *t)
{
	intern_release(&t->names);
	intern_release(&t->objects);
	intern_release(&t->frames);
	table_release(&t->call_table);
	arena_release(&t->shown);
	free(t->row);
	free(t->call);
	free(t->order);
	*t = (struct top){ .how = t->how };
}
