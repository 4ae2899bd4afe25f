/* SPDX-License-Identifier: Apache-2.0 */
#include "flame/flame-bars.h"
#include "base/arena.h"
#include "flame/flame.h"
#include "record/words.h"
#include "show/bars-print.h"

#include <math.h>
#include <stdlib.h>

/* Count the current sample of B for the functions in the stack of NODE, each once. */
static void count_stack(struct bars *b, const struct flame *f, uint32_t node, uint32_t *seen_in,
			uint32_t stamp)
{
	bool is_leaf = true;

	for (; node; node = f->node[node].parent) {
		uint32_t function = flame_frame(f, f->node[node].frame)->function;
		if (is_leaf)
			bars_count(b, function, BARS_FLAT);
		if (seen_in[function] != stamp)
			bars_count(b, function, BARS_CUMULATIVE);
		seen_in[function] = stamp;
		is_leaf = false;
	}
}

static void count_samples(struct bars *b, const struct flame *f, const struct decoded *d)
{
	struct decoded_reader r = { .d = d, .most = 2 };	/* stacks are in the tree */
	const uint32_t *node = f->sample[FLAME_PROFILE].node;
	uint32_t *seen_in = mem_zeroed(f->identities.count, sizeof(*seen_in));

	for (uint32_t i = 0; i < b->samples; i++) {
		r.next = b->order[i];
		decoded_next(&r);
		if (bars_next_sample(b, &r.sample, i))
			count_stack(b, f, node[b->order[i]], seen_in, i + 1);
	}
	decoded_reader_release(&r);
	free(seen_in);
	bars_finish(b, f->identities.count);
	bars_make(b);
}

/* Return whether function NUMBER is in a stack that was counted: lost samples are not. */
static bool has_samples(const struct bars *b, uint32_t number)
{
	return b->row[number].bar[BARS_CUMULATIVE].share > 0;
}

/* Say so if the shares in the page are not those that the bars are for. */
static void print_lost(const struct bars *b, const struct flame *f, FILE *out)
{
	for (uint32_t i = 1; !b->has_contentions && i < f->identities.count; i++)
		if (!strcmp(f->strings.text[f->function[i].name], WORD_LOST)) {
			fputs("Lost samples are a part of all here, as " WORD_LOST "; pmu-top "
			      "leaves them out of its shares.\n", out);
			return;
		}
}

struct ranked {
	double share;
	uint32_t function;
};

static int by_share(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return x->share < y->share ? 1 : x->share > y->share ? -1 : x->function < y->function ? -1
		: x->function > y->function;
}

/* Allow for selection as a table of pmu-top does.  Return how many last rows are not sure. */
static uint64_t select_functions(struct bars *b)
{
	enum { SHOWN = 20 };
	uint32_t rows = b->sums[BARS_FLAT].rows, count = 0;
	struct ranked *ranked = mem_zeroed(rows, sizeof(*ranked));
	uint32_t *row = mem_zeroed(rows, sizeof(*row));

	for (uint32_t i = 1; i < rows; i++)
		if (has_samples(b, i))
			ranked[count++] = (struct ranked){ b->row[i].bar[BARS_FLAT].share, i };
	qsort(ranked, count, sizeof(*ranked), by_share);
	for (uint32_t i = 0; i < count; i++)
		row[i] = ranked[i].function;
	uint64_t unsure = bars_select(b, row, count, SHOWN, BARS_FLAT, BARS_AUTO);
	free(ranked);
	free(row);
	return unsure;
}

/* Return what pmu-top prints around a table of all functions with these bars. */
static char *note_of(struct bars *b, const struct flame *f)
{
	struct bars_left left = { .any_mark = false };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	bars_keep_most(b, BARS_AUTO);
	left.unsure = select_functions(b);
	for (uint32_t i = 1; i < b->sums[BARS_FLAT].rows; i++) {
		const struct share_bar *flat = &b->row[i].bar[BARS_FLAT];
		const struct share_bar *cumulative = &b->row[i].bar[BARS_CUMULATIVE];
		if (!has_samples(b, i))
			continue;
		left.any_mark |= bars_marks(flat, BARS_AUTO) || bars_marks(cumulative, BARS_AUTO);
		bars_leave_out(b, flat, cumulative, BARS_AUTO, &left);
	}
	bars_print_head(b, out);
	bars_print_foot(b, &left, "function", out);
	print_lost(b, f, out);
	fclose(out);
	return text;
}

static uint32_t code_of(const struct bars *b, const struct share_bar *bar)
{
	double half;
	uint32_t code = bars_half(b, bar, BARS_AUTO, &half) ? 2 + (uint32_t)lround(100 * half) : 1;

	return 2 * code + bars_marks(bar, BARS_AUTO);
}

static void make_type(struct flame_bars *to, struct bars *b, const struct flame *f)
{
	to->note = note_of(b, f);
	to->functions = b->sums[BARS_FLAT].rows;
	for (int kind = 0; kind < BARS_KINDS; kind++) {
		to->code[kind] = mem_zeroed(to->functions, sizeof(**to->code));
		for (uint32_t i = 1; i < to->functions; i++)
			if (has_samples(b, i))
				to->code[kind][i] = code_of(b, &b->row[i].bar[kind]);
	}
}

uint32_t flame_type_in(const struct decoded *d, const struct flame *f, uint32_t type)
{
	for (uint32_t i = 0; i < d->types; i++)
		if (!strcmp(decoded_string(d, d->type[i].type), f->type[type].name) &&
		    !strcmp(decoded_string(d, d->type[i].unit), f->type[type].unit))
			return i;
	return TABLE_NONE;
}

static char *reason(const char *why_not)
{
	char text[200];

	snprintf(text, sizeof(text), "no error bars: %s", why_not);
	return mem_text(text);
}

void flame_make_bars(struct flame *f, const struct decoded *d, const char *why_not)
{
	f->bars = mem_zeroed(f->types, sizeof(*f->bars));
	if (!why_not && f->has_base)
		why_not = "a difference has none";
	for (uint32_t i = 0; i < f->types; i++) {
		struct bars b = { .why_not = why_not };
		if (!b.why_not)
			bars_init(&b, d, i, NULL);
		if (!b.why_not)
			count_samples(&b, f, d);
		if (b.why_not)
			f->bars[i].note = reason(b.why_not);
		else
			make_type(&f->bars[i], &b, f);
		bars_release(&b);
	}
}

void flame_free_bars(struct flame *f)
{
	for (uint32_t i = 0; f->bars && i < f->types; i++) {
		free(f->bars[i].note);
		for (int kind = 0; kind < BARS_KINDS; kind++)
			free(f->bars[i].code[kind]);
	}
	free(f->bars);
}
