/* SPDX-License-Identifier: Apache-2.0 */
#include "access/accesses.h"
#include "access/internal.h"
#include "base/text.h"
#include "record/data-source.h"
#include "record/words.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_SIZE = 512 };	/* bytes of a name; longer ones are cut */

void accesses_init(struct accesses *a, const struct accesses_how *how)
{
	*a = (struct accesses){ .how = *how, .slices.most = 2 * ACCESS_SLICES };
	intern_text(&a->names, "");
}

bool access_is_contended(const struct access_row *row)
{
	return row->is_shared && (row->sums.stores > 0 || row->sums.elsewhere > 0);
}

/* Return the id of TEXT as it is printed.  A stream may have any number of names. */
static uint32_t find_name(struct accesses *a, const char *text)
{
	enum { NAMES_KEPT = 1 << 18 };
	char safe[NAME_SIZE];

	snprintf(safe, sizeof(safe), "%s", text);
	text_make_safe(safe);	/* the cut may be inside a character */
	if (a->names.count < NAMES_KEPT)
		return intern_text(&a->names, safe);
	uint32_t known = intern_find(&a->names, safe);
	return known != TABLE_NONE ? known : intern_text(&a->names, WORD_OTHER);
}

/* The same, fast for a text whose address was used before: most names come again and again. */
static uint32_t name_of(struct accesses *a, const char *text)
{
	if (!*text)
		return 0;
	uint32_t *known = &a->known[hash_u64((uintptr_t)text) % ACCESS_NAMES_KNOWN];
	if (!*known || strcmp(a->names.text[*known], text) != 0)
		*known = find_name(a, text);
	return *known;
}

/* --- sums --- */

void access_sums_add(struct access_sums *to, const struct access_sums *more)
{
	to->samples += more->samples;
	to->loads += more->loads;
	to->stores += more->stores;
	to->elsewhere += more->elsewhere;
	to->weighed += more->weighed;
	if (__builtin_add_overflow(to->weight, more->weight, &to->weight))
		to->weight = UINT64_MAX;
	to->total += more->total;
	to->squares += more->squares;
	to->total_elsewhere += more->total_elsewhere;
	to->squares_elsewhere += more->squares_elsewhere;
	to->total_weighed += more->total_weighed;
	to->squares_weighed += more->squares_weighed;
	to->cost += more->cost;
	to->cost_elsewhere += more->cost_elsewhere;
}

/* Return the sums of a single access. */
static struct access_sums sums_of(const struct access_sample *access)
{
	double period = (double)access->period;
	bool elsewhere = access->has_source && data_source_is_modified(access->source);
	double cost = access->has_weight ? period * (double)access->weight : 0;

	return (struct access_sums){
		.samples = 1, .loads = access->kind == ACCESS_LOAD,
		.stores = access->kind == ACCESS_STORE, .elsewhere = elsewhere,
		.weighed = access->has_weight, .weight = access->has_weight ? access->weight : 0,
		.total = period, .squares = period * period,
		.total_elsewhere = elsewhere ? period : 0,
		.squares_elsewhere = elsewhere ? period * period : 0,
		.total_weighed = access->has_weight ? period : 0,
		.squares_weighed = access->has_weight ? period * period : 0,
		.cost = cost, .cost_elsewhere = elsewhere ? cost : 0,
	};
}

/* --- slices of time --- */

/* Each slice now has 2^SHIFT of the earlier ones. */
static void join_slices(struct access_times *t, unsigned shift)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < t->count; i++) {
		struct access_slice s = t->slice[i];
		s.number = shift < 64 ? s.number >> shift : 0;
		if (kept && t->slice[kept - 1].number == s.number) {
			t->slice[kept - 1].total += s.total;
			t->slice[kept - 1].elsewhere += s.elsewhere;
		} else {
			t->slice[kept++] = s;
		}
	}
	t->count = kept;
}

/* Add SUMS to the slice NUMBER.  Samples may come a little out of order. */
static void count_in_slice(struct access_times *t, uint64_t number, const struct access_sums *sums)
{
	uint32_t at = t->count;

	while (at > 0 && t->slice[at - 1].number > number)
		at--;
	if (at == 0 || t->slice[at - 1].number != number) {
		t->slice = array_grow(t->slice, t->count, sizeof(*t->slice));
		memmove(t->slice + at + 1, t->slice + at, (t->count - at) * sizeof(*t->slice));
		t->slice[at++] = (struct access_slice){ .number = number };
		t->count++;
	}
	t->slice[at - 1].total += sums->total;
	t->slice[at - 1].elsewhere += sums->total_elsewhere;
}

/* Make the slices reach ACCESS. */
static void reach(struct accesses *a, const struct access_sample *access)
{
	unsigned shift = slices_reach(&a->slices, access->time, access->pid);

	if (!shift)
		return;
	join_slices(&a->times, shift);
	for (uint32_t i = 0; i < a->rows; i++)
		join_slices(&a->row[i].times, shift);
}

/* --- rows --- */

/* Return the name of the member that ACCESS is to: "table[].lock". */
static uint32_t field_of(struct accesses *a, const struct access_sample *access)
{
	char text[NAME_SIZE];

	snprintf(text, sizeof(text), "%s%s", access->object,
		 !access->is_variable ? ": not a variable"
		 : access->member ? access->member : "." WORD_UNKNOWN);
	return name_of(a, text);
}

/* Return the row that ACCESS belongs to, as a new one. */
static struct access_row row_of(struct accesses *a, const struct access_sample *access)
{
	struct access_row row = { .pid = 0 };

	switch (a->how.by) {
	case ACCESS_BY_OBJECT:
		row.name = name_of(a, access->object);
		row.file = name_of(a, access->file);
		break;
	case ACCESS_BY_FIELD:
		row.name = field_of(a, access);
		row.file = name_of(a, access->file);
		break;
	case ACCESS_BY_LINE:
		row.is_physical = access->physical != 0;
		row.key = (row.is_physical ? access->physical : access->address) / a->how.line;
		row.pid = row.is_physical || access->in_kernel ? 0 : access->pid;
		row.tid = access->tid;
		break;
	case ACCESS_BY_SOURCE:
		row.key = access->has_source ? data_source_place(access->source) : 0;
		break;
	case ACCESS_BY_THREAD:
	case ACCESS_WAYS:
		row.name = name_of(a, access->thread);
		row.pid = access->pid;
		row.tid = access->tid;
		break;
	}
	return row;
}

/* Return whether X and Y are the same row, which a line is by any of its threads. */
static bool is_same_row(const struct accesses *a, const struct access_row *x,
			const struct access_row *y)
{
	return x->key == y->key && x->pid == y->pid && x->is_physical == y->is_physical &&
	       (a->how.by == ACCESS_BY_LINE ||
		(x->name == y->name && x->file == y->file && x->tid == y->tid));
}

uint64_t access_row_hash(const struct accesses *a, const struct access_row *row)
{
	uint64_t hash = hash_more(hash_u64(row->key), (uint32_t)row->pid << 1 | row->is_physical);

	if (a->how.by == ACCESS_BY_LINE)
		return hash;
	hash = hash_more(hash, (uint64_t)row->name << 32 | row->file);
	return hash_more(hash, (uint32_t)row->tid);
}

/* Return the index of the row of ACCESS. */
static uint32_t find_row(struct accesses *a, const struct access_sample *access)
{
	struct access_row row = row_of(a, access);
	uint64_t hash = access_row_hash(a, &row);
	uint32_t at = TABLE_FIND(&a->row_table, hash, i, is_same_row(a, &a->row[i], &row));

	if (at != TABLE_NONE)
		return at;
	if (a->rows == ACCESS_ROWS_MAX)
		accesses_make_room(a);
	a->row = array_grow(a->row, a->rows, sizeof(*a->row));
	a->row[a->rows] = row;
	table_add(&a->row_table, hash, a->rows);
	return a->rows++;
}

/* --- parts --- */

static struct access_part part_of(struct accesses *a, uint32_t row,
				  const struct access_sample *access)
{
	struct access_part part = { .row = row };

	if (a->how.by == ACCESS_BY_THREAD)
		part.object = name_of(a, access->object);
	else
		part.function = name_of(a, access->function);
	if (a->how.by != ACCESS_BY_LINE)
		return part;
	part.object = name_of(a, access->object);
	part.object_offset = access->offset;
	part.has_offset = access->has_offset;
	part.offset = access->address % a->how.line;
	part.pid = access->pid;
	part.tid = access->tid;
	part.thread = name_of(a, access->thread);
	return part;
}

static bool is_same_part(const struct access_part *x, const struct access_part *y)
{
	return x->row == y->row && x->function == y->function && x->object == y->object &&
	       x->offset == y->offset && x->pid == y->pid && x->tid == y->tid;
}

uint64_t access_part_hash(const struct access_part *p)
{
	uint64_t hash = hash_u64((uint64_t)p->row << 32 | p->function);

	hash = hash_more(hash, (uint64_t)p->object << 32 | (uint32_t)p->tid);
	return hash_more(hash, p->offset << 32 | (uint32_t)p->pid);
}

/* Return the part of ROW that ACCESS belongs to.  There is room for it. */
static struct access_part *find_part(struct accesses *a, uint32_t row,
				     const struct access_sample *access)
{
	struct access_part part = part_of(a, row, access);
	uint64_t hash = access_part_hash(&part);
	uint32_t at = TABLE_FIND(&a->part_table, hash, i, is_same_part(&a->part[i], &part));

	if (at != TABLE_NONE)
		return &a->part[at];
	a->part = array_grow(a->part, a->parts, sizeof(*a->part));
	a->part[a->parts] = part;
	table_add(&a->part_table, hash, a->parts);
	return &a->part[a->parts++];
}

/* --- weights --- */

enum { EXACT_BITS = 10, STEP_BITS = 9 };	/* weights below 2^10 are exact; then 2^9 steps */

uint32_t access_weight_bin(uint64_t weight)
{
	if (weight < 1U << EXACT_BITS)
		return (uint32_t)weight;
	unsigned shift = 63 - (unsigned)__builtin_clzll(weight) - STEP_BITS;
	return (shift << STEP_BITS) + (uint32_t)(weight >> shift);
}

uint64_t access_weight_least(uint32_t bin)
{
	if (bin < 1U << EXACT_BITS)
		return bin;
	unsigned shift = (bin >> STEP_BITS) - 1;
	return ((uint64_t)bin - ((uint64_t)shift << STEP_BITS)) << shift;
}

uint64_t access_weight_hash(const struct access_weight *w)
{
	return hash_u64((uint64_t)w->row << 32 | w->bin);
}

/* Count ACCESS among the weights of ROW.  There is room for it. */
static void count_weight(struct accesses *a, uint32_t row, const struct access_sample *access)
{
	struct access_weight w = { .row = row, .bin = access_weight_bin(access->weight) };
	uint64_t hash = access_weight_hash(&w);
	uint32_t at = TABLE_FIND(&a->weight_table, hash, i,
				 a->weight[i].row == row && a->weight[i].bin == w.bin);

	if (at == TABLE_NONE) {
		a->weight = array_grow(a->weight, a->weights, sizeof(*a->weight));
		a->weight[a->weights] = w;
		table_add(&a->weight_table, hash, at = a->weights++);
	}
	a->weight[at].samples++;
	a->weight[at].total += (double)access->period;
}

void accesses_add(struct accesses *a, const struct access_sample *access)
{
	struct access_sums sums = sums_of(access);

	if (a->parts >= ACCESS_PARTS_MAX || a->weights >= ACCESS_WEIGHTS_MAX)
		accesses_make_room(a);
	if (access->time)
		reach(a, access);
	uint32_t at = find_row(a, access);
	struct access_row *row = &a->row[at];
	access_sums_add(&a->all, &sums);
	access_sums_add(&row->sums, &sums);
	row->is_shared |= access->tid != row->tid;
	if (access->time) {
		uint64_t slice = slices_at(&a->slices, access->time);
		count_in_slice(&a->times, slice, &sums);
		count_in_slice(&row->times, slice, &sums);
	}
	access_sums_add(&find_part(a, at, access)->sums, &sums);
	if (a->how.weights && access->has_weight)
		count_weight(a, at, access);
}

void accesses_release(struct accesses *a)
{
	for (uint32_t i = 0; i < a->rows; i++)
		free(a->row[i].times.slice);
	free(a->times.slice);
	free(a->row);
	free(a->part);
	free(a->weight);
	table_release(&a->row_table);
	table_release(&a->part_table);
	table_release(&a->weight_table);
	intern_release(&a->names);
	*a = (struct accesses){ .rows = 0 };
}
