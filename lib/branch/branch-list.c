/* SPDX-License-Identifier: Apache-2.0 */
#include "branch/branch-list.h"

#include "base/json.h"
#include "base/text.h"
#include "branch/branch-functions.h"
#include "branch/branch-names.h"
#include "branch/branch-text.h"

#include <inttypes.h>

enum { TABLE_ROWS = 20, NAME_SIZE = 512 };

struct branch_listing {
	struct branches *b;
	struct branch_names names;
	struct output *out;
	uint64_t ranges;	/* that were counted */
};

/* Mispredicted, then taken, most often first. */
static int by_misses(const void *a, const void *b)
{
	const struct branch_cell *x = a, *y = b;

	if (x->mispredicted != y->mispredicted)
		return x->mispredicted > y->mispredicted ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/* Leave only the branches in the cells, sorted, and return their number.  Set *RANGES. */
static uint32_t sort_branches(struct branches *b, uint64_t *ranges)
{
	struct branch_cell *c = b->cells.cell;
	uint32_t kept = 0;

	*ranges = 0;
	for (uint32_t i = 0; i < b->cells.count; i++)
		if (branch_cell_kind(&c[i]) == CELL_BRANCH)
			c[kept++] = c[i];
		else
			*ranges += c[i].count;
	b->cells.count = kept;
	if (kept)
		qsort(c, kept, sizeof(*c), by_misses);
	return kept;
}

/* Return the rate of mispredictions of C, which is judged, in percent. */
static double rate_of(const struct branch_cell *c)
{
	return 100.0 * (double)c->mispredicted / (double)(c->mispredicted + c->predicted);
}

static void write_row(struct branch_listing *l, const struct branch_cell *c)
{
	char from[NAME_SIZE], to[NAME_SIZE];

	branch_names_describe(&l->names, c->from, from, sizeof(from));
	branch_names_describe(&l->names, branch_cell_to(c), to, sizeof(to));
	text_make_safe(from);
	text_make_safe(to);
	branch_print(l->out, "%12" PRIu64 " ", c->count);
	if (branch_cell_is_judged(c))
		branch_print(l->out, "%12" PRIu64 " %6.2f%%  ", c->mispredicted, rate_of(c));
	else
		branch_print(l->out, "%12s %7s  ", "-", "-");
	output_write(l->out, from, strlen(from));
	branch_print(l->out, " -> ");
	output_write(l->out, to, strlen(to));
	branch_print(l->out, "\n");
}

static void write_table(struct branch_listing *l, uint32_t count)
{
	branch_print(l->out, "%12s %12s %7s  %s\n", "taken", "mispredicted", "rate",
		     "branch -> target");
	for (uint32_t i = 0; i < count && i < TABLE_ROWS; i++)
		write_row(l, &l->b->cells.cell[i]);
	if (count > TABLE_ROWS)
		branch_print(l->out, "%12s %12s %7s  and %u more; --to json has all\n", "", "",
			     "", count - TABLE_ROWS);
}

static void put(void *to, const char *bytes, size_t size)
{
	output_write(to, bytes, size);
}

/* Write an end of a branch: its file, its address there, and its name. */
static void write_end(struct branch_listing *l, const char *key, uint64_t place)
{
	struct branch_objects *o = &l->b->objects;
	char name[NAME_SIZE];

	branch_print(l->out, "\"%s\": ", key);
	if (place == PLACE_OUTSIDE) {
		branch_print(l->out, "null, ");
		return;
	}
	const struct elf *elf = o->object[place_object(place)].elf;
	branch_names_describe(&l->names, place, name, sizeof(name));
	branch_print(l->out, "{\"file\": ");
	json_write(o->spaces->objects.object[place_object(place)].path, false, put, l->out);
	branch_print(l->out, ", \"offset\": %" PRIu64 ", \"address\": ", place_offset(place));
	if (elf)
		branch_print(l->out, "%" PRIu64, branch_address(elf, place_offset(place)));
	else
		branch_print(l->out, "null");
	branch_print(l->out, ", \"name\": ");
	json_write(name, false, put, l->out);
	branch_print(l->out, "}, ");
}

static void write_counts(struct branch_listing *l)
{
	const struct branch_counts *c = &l->b->counts;
	const struct branch_drops *d = &l->b->drops;

	branch_print(l->out, "{\"samples\": %" PRIu64 ", \"stacks\": %" PRIu64
		     ", \"entries\": %" PRIu64 ", \"inside\": %" PRIu64, c->samples, c->stacks,
		     c->entries, branches_inside(l->b));
	branch_print(l->out, ", \"ranges\": %" PRIu64 ", \"processes\": %" PRIu64 ",\n",
		     l->ranges, l->b->objects.processes);
	branch_print(l->out, "\"left_out\": {\"empty\": %" PRIu64 ", \"wrong_path\": %" PRIu64
		     ", \"interrupts\": %" PRIu64 ", \"kernel\": %" PRIu64, d->empty,
		     d->wrong_path, d->interrupts, d->kernel);
	branch_print(l->out, ", \"duplicates\": %" PRIu64 ", \"backward\": %" PRIu64
		     ", \"long\": %" PRIu64 ", \"broken\": %" PRIu64 ", \"cells\": %" PRIu64
		     "},\n", d->duplicates, d->backward, d->longer, d->broken, d->cells);
}

static void write_json(struct branch_listing *l, uint32_t count)
{
	write_counts(l);
	branch_print(l->out, "\"branches\": [");
	for (uint32_t i = 0; i < count; i++) {
		const struct branch_cell *c = &l->b->cells.cell[i];
		branch_print(l->out, "%s\n{", i ? "," : "");
		write_end(l, "from", c->from);
		write_end(l, "to", branch_cell_to(c));
		branch_print(l->out, "\"taken\": %" PRIu64 ", \"mispredicted\": ", c->count);
		if (branch_cell_is_judged(c))
			branch_print(l->out, "%" PRIu64 ", \"rate\": %.4f}", c->mispredicted,
				     rate_of(c) / 100);
		else
			branch_print(l->out, "null, \"rate\": null}");
	}
	branch_print(l->out, "]}\n");
}

void branch_list_write(struct branches *b, enum branch_list form, enum demangle_style style,
		       struct output *out)
{
	struct branch_listing l = { .b = b, .out = out };
	uint32_t count = sort_branches(b, &l.ranges);

	branch_names_init(&l.names, b, NULL, style);
	if (form == BRANCH_TABLE)
		write_table(&l, count);
	else
		write_json(&l, count);
	branch_names_release(&l.names);
}
