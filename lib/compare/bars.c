/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/bars.h"
#include "base/arena.h"
#include "compare/bars-internal.h"
#include "pprof/figures.h"
#include "record/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SLICES_MAX = 40,		/* per run; neighbouring slices are joined above this */
	WORK_MAX = 1 << 28,		/* rows times blocks: above it, blocks are not used */
	FEWEST_EFFECTIVE = 5,		/* samples of equal weight; fewer say nothing */
	FEW_EFFECTIVE = 30,		/* fewer may have missed larger weights */
};

/* A slice of a run. */
struct slice_of_run {
	uint32_t run;		/* string; 0: none */
	/* first the number of samples; after set_starts() the index in ORDER of the next one */
	uint32_t samples;
	int64_t slice;		/* from 1 on; 0: none */
};

/* A sample of the profile, which may aggregate several samples of the event. */
struct item {
	uint32_t span;		/* index of its slice in struct items */
	bool is_lost;		/* it stands for lost samples */
	double count;		/* number of samples that it aggregates */
};

/* All samples, and the slices that they are in ("spans"). */
struct items {
	struct item *item;	/* by sample */
	struct slice_of_run *span;
	uint32_t spans, last;	/* number of spans; span of the last sample */
	struct table table;	/* over SPAN, by run and slice */
};

/*
 * Read the figures of the event from the profile's facts: of RUN, or of all runs that were
 * merged.  Return how many samples the event has by them; 0: unknown.
 */
static double read_figures(struct bars *b, const struct bars_run *run)
{
	const char *value = decoded_string(b->d, b->d->type[b->value].type), *fact;
	struct figures_text room;
	struct figures f;
	double samples = 0;
	bool any = false, complete = true;

	for (uint32_t i = 0; (fact = decoded_fact(b->d, i)); i++) {
		bool of_base = !strncmp(fact, FIGURES_OF_BASE, strlen(FIGURES_OF_BASE));
		/* comments, where older profiles have facts, do not say whose they are */
		if (i < b->d->facts && of_base != b->is_base)
			continue;
		if (!figures_read(fact + (of_base ? strlen(FIGURES_OF_BASE) : 0), &f, &room) ||
		    (strcmp(f.value, value) && strcmp(f.count, value)) ||
		    (run && run->name && strcmp(f.run, run->name)))
			continue;
		uint32_t count = bars_type_named(b->d, f.count, "");
		if (count == TABLE_NONE)
			continue;
		any = true;
		b->count = count;
		complete &= f.is_complete;
		b->is_group |= f.is_group;
		samples += (double)f.samples;
		b->lost += (double)f.lost;
		b->exact += b->count == b->value ? (double)f.samples : f.squares;
	}
	b->whole.is_complete = b->is_waiting || (any && complete);
	return samples;
}

/* Return whether the profile has a period for type VALUE, and all values are multiples of it. */
static bool has_period(const struct decoded *d, uint32_t value)
{
	struct decoded_reader r = { .d = d };
	bool good = d->period > 0 && d->period_type.type == d->type[value].type;

	while (good && decoded_next(&r))
		good = r.sample.value[value] % d->period == 0;
	decoded_reader_release(&r);
	return good;
}

/* --- blocks of time --- */

static int compare_spans(const void *a, const void *b, void *items)
{
	const struct slice_of_run *span = ((const struct items *)items)->span;
	const struct slice_of_run *x = &span[*(const uint32_t *)a];
	const struct slice_of_run *y = &span[*(const uint32_t *)b];

	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	return x->slice < y->slice ? -1 : x->slice > y->slice;
}

/* Return the span for SLICE of RUN.  Create it if it is new. */
static uint32_t span_at(struct items *t, uint32_t run, int64_t slice)
{
	const struct slice_of_run *last = t->spans ? &t->span[t->last] : NULL;

	if (last && last->run == run && last->slice == slice)
		return t->last;
	uint64_t hash = hash_u64(hash_u64(run) ^ (uint64_t)slice);
	t->last = TABLE_FIND(&t->table, hash, i,
			     t->span[i].run == run && t->span[i].slice == slice);
	if (t->last != TABLE_NONE)
		return t->last;
	t->span = array_grow(t->span, t->spans, sizeof(*t->span));
	t->span[t->spans] = (struct slice_of_run){ .run = run, .slice = slice };
	table_add(&t->table, hash, t->last = t->spans++);
	return t->last;
}

/* Compare by text: several strings may have the same text. */
static bool has_text(const struct decoded *d, uint32_t string, const char *text)
{
	return !strcmp(decoded_string(d, string), text);
}

static bool stands_for_lost(const struct bars *b, const struct decoded_sample *s)
{
	return s->locations == 1 && s->location[0] != TABLE_NONE && b->is_lost[s->location[0]];
}

/* Return the value of S of sample type TYPE.  In a difference a base's are negative. */
static int64_t value_of(const struct bars *b, const struct decoded_sample *s, uint32_t type)
{
	return b->is_base ? (int64_t)(0 - (uint64_t)s->value[type]) : s->value[type];
}

/* Return the part of S's value that was measured: in time that includes waits, the waits. */
static int64_t measured_of(const struct bars *b, const struct decoded_sample *s)
{
	int64_t value = value_of(b, s, b->value), waits;

	if (b->waits == TABLE_NONE)
		return 0;
	waits = value_of(b, s, b->waits);
	return waits < 0 ? 0 : waits < value ? waits : value;
}

static double count_of(const struct bars *b, const struct decoded_sample *s)
{
	int64_t value = value_of(b, s, b->value) - measured_of(b, s);
	int64_t count = b->period ? value / b->period : value_of(b, s, b->count);

	if (b->waits != TABLE_NONE && value == 0)
		return 0;
	/* a contention is counted once, and its time may be in several samples */
	return count > 0 ? (double)count : value > 0 && !b->has_contentions;
}

static struct item item_of(const struct bars *b, const struct decoded_sample *s, struct items *t)
{
	struct item item = { .is_lost = stands_for_lost(b, s),
			     .count = b->why_not ? 0 : count_of(b, s) };
	uint32_t run = 0;
	int64_t slice = 0;

	for (size_t i = 0; i < s->labels; i++) {
		const struct decoded_label *l = &s->label[i];
		if (l->text && has_text(b->d, l->key, LABEL_RUN))
			run = l->text;
		else if (!l->text && has_text(b->d, l->key, LABEL_SLICE))
			slice = l->number;
	}
	item.span = span_at(t, run, run && slice > 0 ? slice : 0);
	t->span[item.span].samples++;
	return item;
}

static void add_block(struct bars *b, uint32_t run, uint32_t number)
{
	b->block = array_grow(b->block, b->blocks, sizeof(*b->block));
	b->block[b->blocks++] = (struct bars_block){ .run = run, .number = number };
}

/* Make the blocks of one run, which has the COUNT spans in ORDER.  Set BLOCK_OF by span. */
static void add_run(struct bars *b, const struct items *t, const uint32_t *order, size_t count,
		    uint32_t *block_of)
{
	uint64_t first = (uint64_t)t->span[order[0]].slice;
	uint64_t slices = (uint64_t)t->span[order[count - 1]].slice - first + 1;
	unsigned shift = 0;

	while (slices >> shift > SLICES_MAX)
		shift++;
	for (size_t i = 0; i < count; i++) {
		uint64_t slice = (uint64_t)t->span[order[i]].slice - first;
		uint32_t number = (uint32_t)(slice >> shift);
		if (i == 0 || b->block[b->blocks - 1].number != number)
			add_block(b, b->whole.runs, number);
		block_of[order[i]] = b->blocks - 1;
	}
	b->whole.runs++;
}

static void add_blocks(struct bars *b, const struct items *t, const uint32_t *order,
		       uint32_t *block_of)
{
	for (size_t i = 0, end; i < t->spans; i = end) {
		uint32_t run = t->span[order[i]].run;
		for (end = i; end < t->spans && t->span[order[end]].run == run; end++)
			;
		if (t->span[order[i]].slice == 0)
			i++;	/* its samples are in no block */
		if (i < end)
			add_run(b, t, order + i, end - i, block_of);
	}
}

/* Set T to the samples of RUN, or to all samples if RUN is NULL. */
static void find_items(struct bars *b, const struct bars_run *run, struct items *t)
{
	/* two locations suffice to find samples with exactly one: see stands_for_lost() */
	struct decoded_reader r = { .d = b->d, .most = 2 };
	bool any_value = false;

	b->samples = run ? run->samples : b->d->samples;
	*t = (struct items){ .item = mem_zeroed(b->samples, sizeof(*t->item)) };
	for (uint32_t i = 0; i < b->samples; i++) {
		r.next = run ? run->sample[i] : i;
		decoded_next(&r);
		t->item[i] = item_of(b, &r.sample, t);
		any_value |= value_of(b, &r.sample, b->value) > 0 && !t->item[i].is_lost;
		if (value_of(b, &r.sample, b->value) < 0 && !b->why_not)
			b->why_not = "some values are negative: a difference has no error bars";
	}
	for (uint32_t i = 0; i < t->spans; i++)
		b->has_slices |= t->span[i].slice > 0;
	if (!any_value && !b->why_not)
		b->why_not = "there are no samples";
	decoded_reader_release(&r);
}

/* Turn the sample count of each span into the index at which its samples start. */
static void set_starts(struct items *t, const uint32_t *order, const uint32_t *block_of)
{
	uint32_t at = 0;

	/* spans without a block first, so that each block's samples are contiguous */
	for (int blocks = 0; blocks < 2; blocks++)
		for (uint32_t i = 0; i < t->spans; i++) {
			struct slice_of_run *p = &t->span[order[i]];
			if ((block_of[order[i]] != TABLE_NONE) != blocks)
				continue;
			uint32_t samples = p->samples;
			p->samples = at;
			at += samples;
		}
}

/* Make the blocks.  Return the block of each span; the caller frees. */
static uint32_t *find_blocks(struct bars *b, struct items *t)
{
	uint32_t *order = mem_zeroed(t->spans, sizeof(*order));
	uint32_t *block_of = mem_zeroed(t->spans, sizeof(*block_of));

	for (uint32_t i = 0; i < t->spans; i++) {
		order[i] = i;
		block_of[i] = TABLE_NONE;
	}
	if (!b->why_not) {
		qsort_r(order, t->spans, sizeof(*order), compare_spans, t);
		add_blocks(b, t, order, block_of);
		set_starts(t, order, block_of);
	}
	free(order);
	return block_of;
}

/* Set B->order. */
static void arrange_samples(struct bars *b, const struct bars_run *run, struct items *t,
			    const uint32_t *block_of)
{
	b->order = mem_zeroed(b->samples, sizeof(*b->order));
	b->block_of = mem_zeroed(b->samples, sizeof(*b->block_of));
	for (uint32_t i = 0; i < b->samples; i++) {
		uint32_t span = t->item[i].span;
		uint32_t at = b->why_not ? i : t->span[span].samples++;
		b->order[at] = run ? run->sample[i] : i;
		b->block_of[at] = block_of[span];
	}
}

/*
 * Count the samples and losses of each block.  STATED is the number of samples by the profile's
 * comments.
 */
static void count_samples(struct bars *b, const struct items *t, const uint32_t *block_of,
			  double stated)
{
	double lost = 0;

	for (uint32_t i = 0; i < b->samples; i++) {
		const struct item *item = &t->item[i];
		uint32_t block = block_of[item->span];
		*(item->is_lost ? &lost : &b->taken) += item->count;
		if (block != TABLE_NONE)
			*(item->is_lost ? &b->block[block].lost : &b->block[block].samples) +=
				item->count;
	}
	/* samples were left out of the profile: its comments do not describe it any more */
	if (stated != b->taken)
		b->exact = b->lost = 0;
	b->lost = lost > 0 ? lost : b->lost;
}

/* --- samples --- */

static void find_lost(struct bars *b)
{
	const struct decoded *d = b->d;

	b->is_lost = mem_zeroed((size_t)d->locations.count + 1, sizeof(*b->is_lost));
	for (uint32_t i = 0; i < d->locations.count; i++) {
		struct decoded_location l = decoded_location(d, i);
		b->is_lost[i] = l.mapping != TABLE_NONE &&
				has_text(d, decoded_mapping(d, l.mapping).file, WORD_LOST);
	}
}

void bars_init(struct bars *b, const struct decoded *d, size_t value, const struct bars_run *run)
{
	struct items items;

	*b = (struct bars){ .d = d, .value = (uint32_t)value, .is_base = run && run->is_base,
			    .current = TABLE_NONE, .factor = 1 };
	b->waits = bars_is_time(d, b->value, TYPE_WALL) ? bars_time_named(d, TYPE_OFF_CPU)
							: TABLE_NONE;
	b->is_waiting = bars_is_time(d, b->value, TYPE_OFF_CPU);
	b->count = bars_count_by_name(d, b->value);
	if (b->waits != TABLE_NONE)
		b->count = bars_count_of_clock(d);
	if (b->count == TABLE_NONE && has_period(d, b->value))
		b->period = d->period;
	double stated = read_figures(b, run);
	b->has_contentions = b->count != TABLE_NONE && bars_counts_contentions(d, b->count);
	if (b->count == TABLE_NONE && !b->period)
		b->why_not = "the profile does not say how many samples its values are from";
	find_lost(b);
	find_items(b, run, &items);
	uint32_t *block_of = find_blocks(b, &items);
	arrange_samples(b, run, &items, block_of);
	count_samples(b, &items, block_of, stated);
	free(block_of);
	free(items.item);
	free(items.span);
	table_release(&items.table);
}

/* Turn the sums of the current block into cells. */
static void end_block(struct bars *b)
{
	for (int kind = 0; kind < BARS_KINDS; kind++) {
		struct bars_sums *s = &b->sums[kind];
		for (uint32_t i = 0; i < s->touches; i++) {
			struct bars_sum *row = &s->row[s->touched[i]];
			if (b->current != TABLE_NONE) {
				s->cell = array_grow(s->cell, s->cells, sizeof(*s->cell));
				s->cell[s->cells++] = (struct bars_cell){ s->touched[i],
									  b->current, row->weight };
			}
			row->weight = 0;
		}
		s->touches = 0;
	}
}

/* Return the factor that compensates the samples lost in BLOCK. */
static double factor_of(const struct bars *b, uint32_t block)
{
	const struct bars_block *of = block == TABLE_NONE ? NULL : &b->block[block];

	return of && of->samples > 0 ? (of->samples + of->lost) / of->samples : 1;
}

bool bars_next_sample(struct bars *b, const struct decoded_sample *s, uint32_t index)
{
	uint32_t block = b->block_of[index];	/* INDEX is in B->order */

	if (b->why_not)
		return true;
	if (stands_for_lost(b, s))
		return false;
	if (block != b->current) {
		end_block(b);
		b->current = block;
		b->factor = factor_of(b, block);
	}
	b->cell_samples = count_of(b, s);
	b->cell_measured = (double)measured_of(b, s);
	b->cell_weight = b->factor * ((double)value_of(b, s, b->value) - b->cell_measured);
	b->cell_squares = b->cell_weight * b->cell_weight / fmax(1, b->cell_samples);
	b->whole.total += b->cell_weight;
	b->whole.measured += b->cell_measured;
	b->whole.squares += b->cell_squares;
	if (block != TABLE_NONE)
		b->block[block].weight += b->cell_weight;
	return true;
}

void bars_make_rows(struct bars_sums *s, uint32_t rows)
{
	for (; s->rows < rows; s->rows++) {
		s->row = array_grow(s->row, s->rows, sizeof(*s->row));
		s->row[s->rows] = (struct bars_sum){ 0 };
	}
}

void bars_count(struct bars *b, uint32_t row, enum bars_of kind)
{
	struct bars_sums *s = &b->sums[kind];

	if (b->why_not || (b->cell_weight <= 0 && b->cell_measured <= 0))
		return;
	bars_make_rows(s, row + 1);
	struct bars_sum *sum = &s->row[row];
	sum->measured += b->cell_measured;
	if (b->cell_weight <= 0)
		return;
	if (sum->weight == 0) {
		s->touched = array_grow(s->touched, s->touches, sizeof(*s->touched));
		s->touched[s->touches++] = row;
	}
	sum->weight += b->cell_weight;
	sum->total += b->cell_weight;
	sum->squares += b->cell_squares;
	sum->samples += b->cell_samples;
}

/* Sort the cells by row.  The cells of a row stay in the order of their blocks. */
static void sort_cells(struct bars_sums *s, uint32_t rows)
{
	struct bars_cell *sorted = mem_zeroed(s->cells, sizeof(*sorted));

	bars_make_rows(s, rows);
	s->first = mem_zeroed((size_t)rows + 2, sizeof(*s->first));
	for (size_t i = 0; i < s->cells; i++)
		s->first[s->cell[i].row + 2]++;
	for (uint32_t i = 0; i < rows; i++)
		s->first[i + 2] += s->first[i + 1];
	for (size_t i = 0; i < s->cells; i++)
		sorted[s->first[s->cell[i].row + 1]++] = s->cell[i];
	free(s->cell);
	s->cell = sorted;
}

/* Set the blocks of B->whole. */
static void arrange_blocks(struct bars *b, uint32_t rows)
{
	bool unused = b->is_waiting || (uint64_t)rows * b->blocks > WORK_MAX;
	uint32_t n = unused ? 0 : b->blocks, pairs = 0;

	b->weight = mem_zeroed(n, sizeof(*b->weight));
	b->pair = mem_zeroed(n, sizeof(*b->pair));
	b->run = mem_zeroed(n, sizeof(*b->run));
	for (uint32_t i = 0; i < n; i++) {
		const struct bars_block *at = &b->block[i];
		pairs += i > 0 && (at->run != at[-1].run || at->number / 2 != at[-1].number / 2);
		b->weight[i] = at->weight;
		b->pair[i] = pairs;
		b->run[i] = at->run;
		b->spans += at->weight > 0;
	}
	b->whole.blocks = n;
	b->whole.weight = b->weight;
	b->whole.pair = b->pair;
	b->whole.run = b->run;
	share_prepare(&b->whole);
}

/*
 * If the weights of samples differ much, the squares of a function's samples depend on the few
 * largest, and say little.  Then all samples together limit the effective number.  The weights of
 * latency differ for another reason: by how many threads ran.
 */
static void limit_effective(struct bars *b)
{
	double kish = share_kish(&b->whole);
	bool is_latency = b->d && !strncmp(decoded_string(b->d, b->d->type[b->value].type),
					   TYPE_LATENCY, strlen(TYPE_LATENCY));

	if (b->whole.is_complete || kish >= b->taken / 2 || (is_latency && kish >= FEW_EFFECTIVE))
		return;
	b->whole.most = kish;
}

void bars_refuse_few(struct bars *b)
{
	if (b->why_not)
		return;
	if (b->whole.most > 0 && b->whole.most < FEWEST_EFFECTIVE)
		b->why_not = "a few samples hold most of the weight, so shares are chance; a fixed "
			     "period (pmu-sample without -F) prevents this";
}

void bars_finish(struct bars *b, uint32_t rows)
{
	if (b->why_not)
		return;
	end_block(b);
	arrange_blocks(b, rows);
	for (int kind = 0; kind < BARS_KINDS; kind++) {
		sort_cells(&b->sums[kind], rows);
		b->scratch[kind] = mem_zeroed(b->blocks, sizeof(**b->scratch));
	}
	/* cells hide the differences between the weights of their samples */
	if (b->exact > b->whole.squares) {
		double by = b->exact / b->whole.squares;
		b->whole.squares *= by;
		for (int kind = 0; kind < BARS_KINDS; kind++)
			for (uint32_t i = 0; i < b->sums[kind].rows; i++)
				b->sums[kind].row[i].squares *= by;
	}
	limit_effective(b);
	free(b->order);
	free(b->block_of);
	b->order = b->block_of = NULL;
}

struct share_part bars_part(struct bars *b, uint32_t row, enum bars_of kind)
{
	const struct bars_sums *s = &b->sums[kind];
	double *weight = b->scratch[kind];

	memset(weight, 0, b->blocks * sizeof(*weight));
	for (size_t i = s->first[row]; i < s->first[row + 1]; i++)
		weight[s->cell[i].block] = s->cell[i].weight;
	return (struct share_part){ .weight = weight, .total = s->row[row].total,
				    .squares = s->row[row].squares,
				    .samples = s->row[row].samples,
				    .measured = s->row[row].measured };
}

void bars_make(struct bars *b)
{
	uint32_t rows = b->sums[BARS_FLAT].rows;

	bars_refuse_few(b);
	if (b->why_not)
		return;
	b->row = mem_zeroed(rows, sizeof(*b->row));
	for (uint32_t i = 1; i < rows; i++)
		for (int kind = 0; kind < BARS_KINDS; kind++) {
			struct share_part part = bars_part(b, i, (enum bars_of)kind);
			b->row[i].bar[kind] = share_bar(&b->whole, &part);
		}
}

double bars_lost(const struct bars *b)
{
	return b->lost / (b->lost + b->taken);
}

double bars_least(const struct bars *b)
{
	double n = share_kish(&b->whole), low, high;

	if (n <= 0)
		return 0;
	share_wilson(n > 4 ? 4 / n : 1, n, &low, &high);
	return high;
}

void bars_release(struct bars *b)
{
	for (int kind = 0; kind < BARS_KINDS; kind++) {
		free(b->sums[kind].row);
		free(b->sums[kind].touched);
		free(b->sums[kind].cell);
		free(b->sums[kind].first);
		free(b->scratch[kind]);
	}
	free(b->order);
	free(b->block_of);
	free(b->block);
	free(b->weight);
	free(b->pair);
	free(b->run);
	free(b->is_lost);
	free(b->row);
	*b = (struct bars){ 0 };
}
