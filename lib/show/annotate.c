/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the functions of an annotation, finds their lines and instructions, and counts. */
#include "show/annotate.h"
#include "base/byte-ids.h"
#include "compare/top.h"

#include <inttypes.h>
#include <stdlib.h>

/* A sum that does not fit wraps, as in pprof. */
static int64_t sum(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static uint32_t add_row(struct annotate *a)
{
	do {
		a->row = array_grow(a->row, a->rows, sizeof(*a->row));
		a->row[a->rows++] = (struct annotate_row){ .seen_in = 0 };
	} while (a->rows == 1);		/* row 0 is unused */
	return a->rows - 1;
}

/* Sort COUNT items; P may be NULL if there are none. */
static void sort(void *p, size_t count, size_t item, int (*compare)(const void *, const void *))
{
	if (count > 0)
		qsort(p, count, item, compare);
}

/* --- which functions --- */

static void add_function(struct annotate *a, struct byte_ids *ids, uint32_t index)
{
	struct decoded_function f = decoded_function(a->d, index);
	const char *name = decoded_string(a->d, f.name), *file = decoded_string(a->d, f.file);
	size_t length = strlen(name) + 1, size = length + strlen(file);
	char *key = mem_resize(NULL, size + 1);

	memcpy(key, name, length);
	memcpy(key + length, file, size - length);
	uint32_t count = ids->count, id = byte_ids_add(ids, key, size);
	free(key);
	a->function_of[index] = id;
	if (id < count)
		return;
	a->function = array_grow(a->function, a->functions, sizeof(*a->function));
	a->function[a->functions++] = (struct annotate_function){
		.name = name, .file = file, .row = add_row(a), .first = TABLE_NONE,
		.inlined_into = TABLE_NONE };
}

/* Find the functions whose names match in the way HOW. */
static void find_matches(struct annotate *a, const struct name_filter *filter, enum name_match how)
{
	const struct decoded *d = a->d;
	/* many functions may share a long name: it is matched once */
	uint8_t *is_match = mem_zeroed(d->strings, 1);
	struct byte_ids ids = { 0 };

	for (uint32_t i = 0; i < d->functions.count; i++) {
		uint32_t name = decoded_function(d, i).name;
		if (!is_match[name])
			is_match[name] = 1 + name_filter_matches(filter, decoded_string(d, name),
								 how);
		a->function_of[i] = TABLE_NONE;
		if (is_match[name] == 2)
			add_function(a, &ids, i);
	}
	a->matches = a->functions;
	byte_ids_release(&ids);
	free(is_match);
}

/* --- what a location is --- */

static uint32_t function_at(const struct annotate *a, const struct decoded_line *line)
{
	return line->function == TABLE_NONE ? TABLE_NONE : a->function_of[line->function];
}

static int compare_numbers(const void *a, const void *b)
{
	const struct annotate_number *x = a, *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

/* A line of a function, as a key. */
struct line_key {
	uint64_t function;
	int64_t line;
};

static uint32_t row_of_line(struct annotate *a, struct byte_ids *ids, uint32_t **rows,
			    struct line_key key)
{
	uint32_t count = ids->count, id = byte_ids_add(ids, &key, sizeof(key));
	struct annotate_function *f = &a->function[key.function];

	if (id < count)
		return (*rows)[id];
	*rows = array_grow(*rows, count, sizeof(**rows));
	(*rows)[id] = add_row(a);
	f->number = array_grow(f->number, f->numbers, sizeof(*f->number));
	f->number[f->numbers++] = (struct annotate_number){ key.line, (*rows)[id] };
	return (*rows)[id];
}

/* Find the functions and, unless IDS is NULL, the lines at location INDEX. */
static void find_location(struct annotate *a, uint32_t index, struct byte_ids *ids, uint32_t **rows)
{
	struct decoded_location l = decoded_location(a->d, index);
	struct annotate_location *at = &a->location[index];
	struct decoded_line line = { .function = TABLE_NONE };
	uint32_t innermost = a->entries;

	*at = (struct annotate_location){ .first = a->entries, .outermost = TABLE_NONE };
	for (bool is_leaf = true; decoded_next_line(a->d, &l, &line); is_leaf = false) {
		uint32_t f = function_at(a, &line);
		at->outermost = f;
		if (f == TABLE_NONE)
			continue;
		struct annotate_entry e = { .function = a->function[f].row, .is_leaf = is_leaf };
		if (ids)
			e.line = row_of_line(a, ids, rows, (struct line_key){ f, line.line });
		a->entry = array_grow(a->entry, a->entries, sizeof(*a->entry));
		a->entry[a->entries++] = e;
	}
	at->count = a->entries - innermost;
	for (uint32_t i = innermost; i < a->entries; i++)	/* function I has row I + 1 */
		if (a->entry[i].function != at->outermost + 1)
			a->function[a->entry[i].function - 1].inlined_into = line.function;
	if (at->outermost != TABLE_NONE && a->function[at->outermost].first == TABLE_NONE)
		a->function[at->outermost].first = index;
}

static void find_places(struct annotate *a, bool with_lines)
{
	struct byte_ids ids = { 0 };
	uint32_t *rows = NULL;

	if (!a->location)
		a->location = mem_zeroed((size_t)a->d->locations.count + 1, sizeof(*a->location));
	a->entries = 0;
	for (uint32_t i = 0; i < a->d->locations.count; i++)
		find_location(a, i, with_lines ? &ids : NULL, &rows);
	for (uint32_t i = 0; i < a->functions && with_lines; i++)
		sort(a->function[i].number, a->function[i].numbers,
		     sizeof(*a->function[i].number), compare_numbers);
	byte_ids_release(&ids);
	free(rows);
}

/* --- counting --- */

struct annotate_counting {
	struct annotate *a;
	struct bars *bars;	/* NULL: none */
	bool keeps_sums;	/* false: only the bars are wanted */
};

static void count_row(const struct annotate_counting *c, uint32_t row, int64_t value, bool is_leaf)
{
	if (row == 0)
		return;
	struct annotate_row *r = &c->a->row[row];
	bool is_new = r->seen_in != c->a->samples;
	r->seen_in = c->a->samples;
	if (is_leaf && c->bars)
		bars_count(c->bars, row, BARS_FLAT);
	if (is_new && c->bars)
		bars_count(c->bars, row, BARS_CUMULATIVE);
	if (is_leaf && c->keeps_sums)
		r->value[BARS_FLAT] = sum(r->value[BARS_FLAT], value);
	if (is_new && c->keeps_sums)
		r->value[BARS_CUMULATIVE] = sum(r->value[BARS_CUMULATIVE], value);
}

static void count_sample(const struct annotate_counting *c, const struct decoded_sample *s,
			 int64_t value)
{
	struct annotate *a = c->a;

	a->samples++;
	for (size_t i = 0; i < s->locations; i++) {
		if (s->location[i] == TABLE_NONE)
			continue;
		const struct annotate_location *at = &a->location[s->location[i]];
		for (uint32_t k = 0; k < at->count; k++) {
			const struct annotate_entry *e = &a->entry[at->first + k];
			count_row(c, e->function, value, i == 0 && e->is_leaf);
			count_row(c, e->line, value, i == 0 && e->is_leaf);
		}
		count_row(c, at->code, value, i == 0);
	}
	if (!c->keeps_sums)
		return;
	uint64_t size = top_size(value);
	a->total = sum(a->total, value);
	a->whole = a->whole > UINT64_MAX - size ? UINT64_MAX : a->whole + size;
}

static void count_samples(const struct annotate_counting *c, size_t type)
{
	struct decoded_reader r = { .d = c->a->d };
	uint32_t samples = c->bars ? c->bars->samples : r.d->samples;

	for (uint32_t i = 0; i < samples; i++) {
		r.next = c->bars ? c->bars->order[i] : i;
		decoded_next(&r);
		if (!c->bars || bars_next_sample(c->bars, &r.sample, i))
			count_sample(c, &r.sample, r.sample.value[type]);
	}
	decoded_reader_release(&r);
}

/* --- choosing --- */

static int by_value(const void *a, const void *b)
{
	const struct annotate_function *x = a, *y = b;

	for (int kind = 0; kind < BARS_KINDS; kind++) {
		uint64_t i = top_size(x->value[kind]), j = top_size(y->value[kind]);
		if (i != j)
			return i < j ? 1 : -1;
	}
	int order = strcmp(x->name, y->name);
	return order ? order : strcmp(x->file, y->file);
}

/* Keep the first COUNT functions, without rows.  Their numbers change. */
static void keep_functions(struct annotate *a, uint64_t count)
{
	uint32_t *to = mem_zeroed((size_t)a->rows + 1, sizeof(*to));

	for (uint32_t i = 0; i < a->functions; i++)	/* function I had row I + 1 */
		to[a->function[i].row] = i < count ? i + 1 : 0;
	for (uint32_t i = 0; i < a->d->functions.count; i++)
		if (a->function_of[i] != TABLE_NONE)
			a->function_of[i] = to[a->function_of[i] + 1] - 1;
	a->functions = count < a->functions ? (uint32_t)count : a->functions;
	a->rows = 0;
	for (uint32_t i = 0; i < a->functions; i++)
		a->function[i].row = add_row(a);
	free(to);
}

bool annotate_choose(struct annotate *a, const struct name_filter *filter, size_t type,
		     uint64_t most)
{
	const struct annotate_counting c = { .a = a, .keeps_sums = true };
	uint32_t used = 0;

	a->function_of = mem_resize(NULL, ((size_t)a->d->functions.count + 1) *
					  sizeof(*a->function_of));
	for (int how = 0; how < NAME_MATCHES && a->functions == 0; how++)
		find_matches(a, filter, how);
	find_places(a, false);
	count_samples(&c, type);
	a->total = 0;
	a->whole = 0;
	for (uint32_t i = 0; i < a->functions; i++)
		memcpy(a->function[i].value, a->row[a->function[i].row].value,
		       sizeof(a->function[i].value));
	sort(a->function, a->functions, sizeof(*a->function), by_value);
	while (used < a->functions && (a->function[used].value[BARS_FLAT] ||
				       a->function[used].value[BARS_CUMULATIVE]))
		used++;
	a->matches = used;
	keep_functions(a, most < used ? most : used);
	return used > 0;
}

/* --- instructions --- */

static int compare_blocks(const void *a, const void *b)
{
	const struct code_block *x = &((const struct annotate_block *)a)->block;
	const struct code_block *y = &((const struct annotate_block *)b)->block;

	if (x->file != y->file)
		return strcmp(code_block_path(x), code_block_path(y));
	return x->start < y->start ? -1 : x->start > y->start;
}

/* Add BLOCK, disassembled, to F.  Return NULL if it cannot be disassembled. */
static struct annotate_block *add_block(struct annotate *a, struct annotate_function *f,
					const struct code_block *block)
{
	f->block = array_grow(f->block, f->blocks, sizeof(*f->block));
	struct annotate_block *b = &f->block[f->blocks++];
	*b = (struct annotate_block){ .block = *block };
	if (block->same > 1)
		report_note(a->report, "'%.200s' was compiled %" PRIu32 " times to the same "
			    "address: the last code is shown", f->name, block->same);
	if (!disassemble(&b->code, &block->code, &a->disassembler, a->report))
		return NULL;
	b->row = mem_zeroed(b->code.count, sizeof(*b->row));
	return b;
}

/* Return the block of F that AT is in; add it if it is new.  NULL: no code was found. */
static struct annotate_block *block_at(struct annotate *a, struct annotate_function *f,
				       const struct code_address *at)
{
	enum { BLOCKS_MAX = 64 };	/* objdump is run for each */
	struct code_block block;

	for (uint32_t i = 0; i < f->blocks; i++)
		if (code_block_is_at(&f->block[i].block, at))
			return f->block[i].code.count ? &f->block[i] : NULL;
	if (f->blocks == BLOCKS_MAX && !f->is_scattered)
		report_note(a->report, "the code of '%.200s' is in more than %d places: the "
			    "others are left out", f->name, BLOCKS_MAX);
	f->is_scattered |= f->blocks == BLOCKS_MAX;
	return !f->is_scattered && code_files_block(a->code, at, f->name, &block)
		? add_block(a, f, &block) : NULL;
}

/* Find the instruction of location INDEX, of the function F. */
static void find_instruction(struct annotate *a, struct annotate_function *f, uint32_t index)
{
	struct code_address at;
	struct annotate_block *to = code_files_find(a->code, index, f->name, &at)
		? block_at(a, f, &at) : NULL;
	uint32_t i = to && code_block_has(&to->block, &at)
		? disassembly_find(&to->code, at.address) : UINT32_MAX;

	if (i == UINT32_MAX)
		return;
	if (!to->row[i])
		to->row[i] = add_row(a);
	a->location[index].code = to->row[i];
}

static void find_instructions(struct annotate *a)
{
	for (uint32_t i = 0; i < a->d->locations.count && !is_stopped(a->disassembler.stop); i++)
		if (a->location[i].outermost != TABLE_NONE)
			find_instruction(a, &a->function[a->location[i].outermost], i);
	bool any = false;
	for (uint32_t i = 0; i < a->functions; i++) {
		struct annotate_function *f = &a->function[i];
		for (uint32_t k = 0; k < f->blocks; k++)
			any |= f->block[k].code.count > 0;
		sort(f->block, f->blocks, sizeof(*f->block), compare_blocks);
	}
	if (!any && !is_stopped(a->disassembler.stop))
		report_error(a->report, "no function has instructions to show; --show source "
			     "shows its lines");
}

/* --- all --- */

static void count_with_bars(void *context, size_t type, struct bars *bars)
{
	const struct annotate_counting c = { .a = context, .bars = bars };

	bars_init(bars, c.a->d, type, NULL);
	count_samples(&c, type);
	bars_finish(bars, c.a->rows);
}

void annotate_count(struct annotate *a, size_t type)
{
	struct annotate_counting c = { .a = a, .keeps_sums = true,
				       .bars = a->no_bars ? NULL : &a->bars };

	find_places(a, true);
	if (a->what != ANNOTATE_SOURCE)
		find_instructions(a);
	if (c.bars)
		bars_init(c.bars, a->d, type, NULL);
	count_samples(&c, type);
	if (!c.bars)
		return;
	bars_finish(c.bars, a->rows);
	bars_make(c.bars);
	a->has_bars = !c.bars->why_not;
}

bool annotate_add_ratio(struct annotate *a, struct ratio_column *c, size_t x, size_t y)
{
	return ratios_add_counted(c, x, y, count_with_bars, a);
}

double annotate_share(const struct annotate *a, uint32_t row, enum bars_of kind)
{
	if (a->has_bars)
		return a->bars.row[row].bar[kind].share;
	return a->whole ? (double)a->row[row].value[kind] / (double)a->whole : 0;
}

void annotate_release(struct annotate *a)
{
	for (uint32_t i = 0; i < a->functions; i++) {
		struct annotate_function *f = &a->function[i];
		for (uint32_t k = 0; k < f->blocks; k++) {
			disassembly_release(&f->block[k].code);
			free(f->block[k].row);
		}
		free(f->block);
		free(f->number);
	}
	free(a->function);
	free(a->function_of);
	free(a->location);
	free(a->entry);
	free(a->row);
	if (!a->no_bars)
		bars_release(&a->bars);
}
