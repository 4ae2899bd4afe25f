/* SPDX-License-Identifier: Apache-2.0 */
#include "branch/branch-text.h"

#include "base/bisect.h"
#include "branch/branch-functions.h"

#include <inttypes.h>
#include <stdarg.h>

void branch_print(struct output *out, const char *format, ...)
{
	enum { MOST = 256 };
	va_list arguments;

	va_start(arguments, format);
	int size = vsnprintf((char *)output_room(out, MOST), MOST, format, arguments);
	va_end(arguments);
	if (size > 0)
		output_commit(out, size < MOST ? (size_t)size : MOST - 1);
}

/* What all writers need. */
struct branch_page {
	struct branches *b;
	const struct elf *elf;
	uint64_t base;		/* subtracted from addresses */
	struct output *out;
};

/* Return PLACE as an address without the base; OUTSIDE: the place is in no segment. */
static uint64_t shown(const struct branch_page *p, uint64_t place, uint64_t outside)
{
	uint64_t address = place ? branch_address(p->elf, place_offset(place)) : 0;

	return address ? address - p->base : outside;
}

/* Return the index of the first cell of KIND or a later one. */
static uint32_t first_of(const struct branches *b, enum branch_cell_kind kind)
{
	return (uint32_t)BISECT(0, b->cells.count, i, branch_cell_kind(&b->cells.cell[i]) >= kind);
}

static uint64_t sum_of(const struct branches *b, enum branch_cell_kind from,
		       enum branch_cell_kind end)
{
	uint32_t last = first_of(b, end);
	uint64_t sum = 0;

	for (uint32_t i = first_of(b, from); i < last; i++)
		sum += b->cells.cell[i].count;
	return sum;
}

/* Write the cells of KIND: their number, then a line for each. */
static void write_offsets(const struct branch_page *p, enum branch_cell_kind kind)
{
	uint32_t first = first_of(p->b, kind), end = first_of(p->b, kind + 1);

	branch_print(p->out, "%u\n", end - first);
	for (uint32_t i = first; i < end; i++) {
		const struct branch_cell *c = &p->b->cells.cell[i];
		uint64_t from = place_offset(c->from), to = place_offset(branch_cell_to(c));
		if (kind == CELL_RANGE)
			branch_print(p->out, "%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n", from, to,
				     c->count);
		else if (kind == CELL_ADDRESS)
			branch_print(p->out, "%" PRIx64 ":%" PRIu64 "\n", from, c->count);
		else
			branch_print(p->out, "%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n", from, to,
				     c->count);
	}
}

static void write_autofdo(const struct branch_page *p)
{
	write_offsets(p, CELL_RANGE);
	write_offsets(p, CELL_ADDRESS);
	write_offsets(p, CELL_BRANCH);
}

/* Ranges that were entered from outside are ranges as all others. */
static void join_ranges(struct branches *b)
{
	struct branch_cell *c = b->cells.cell;
	uint32_t ranges = first_of(b, CELL_BRANCH), all = b->cells.count;

	for (uint32_t i = 0; i < ranges; i++)
		c[i].to = (uint64_t)CELL_RANGE << CELL_KIND_SHIFT | branch_cell_to(&c[i]);
	uint32_t left = branch_cells_sort(c, ranges);
	memmove(c + left, c + ranges, (all - ranges) * sizeof(*c));
	b->cells.count -= ranges - left;
}

/* Addresses from the first page of code; a branch from outside starts at address 1. */
static void write_llvm(struct branch_page *p)
{
	struct branches *b = p->b;

	join_ranges(b);
	uint32_t ranges = first_of(b, CELL_BRANCH), branches = 0;
	branch_print(p->out, "%u\n", ranges);
	for (uint32_t i = 0; i < ranges; i++) {
		const struct branch_cell *c = &b->cells.cell[i];
		branch_print(p->out, "%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n", shown(p, c->from, 0),
			     shown(p, branch_cell_to(c), 0), c->count);
	}
	for (uint32_t i = ranges; i < b->cells.count; i++)
		branches += branch_cell_to(&b->cells.cell[i]) != PLACE_OUTSIDE;
	branch_print(p->out, "%u\n", branches);
	for (uint32_t i = ranges; i < b->cells.count; i++) {
		const struct branch_cell *c = &b->cells.cell[i];
		if (branch_cell_to(c) != PLACE_OUTSIDE)
			branch_print(p->out, "%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n",
				     shown(p, c->from, 1 - p->base),
				     shown(p, branch_cell_to(c), 0), c->count);
	}
}

/* perf2bolt's addresses are those of the file; outside of it is 0. */
static void write_bolt(struct branch_page *p)
{
	static const char letter[] = { [CELL_RANGE] = 'F', [CELL_RANGE_ENTERED] = 'f' };
	const struct branches *b = p->b;
	uint32_t ranges = first_of(b, CELL_BRANCH);

	for (uint32_t i = ranges; i < b->cells.count; i++) {
		const struct branch_cell *c = &b->cells.cell[i];
		branch_print(p->out, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " %" PRIu64 "\n",
			     shown(p, c->from, 0), shown(p, branch_cell_to(c), 0), c->count,
			     c->mispredicted);
	}
	for (uint32_t i = 0; i < ranges; i++) {
		const struct branch_cell *c = &b->cells.cell[i];
		branch_print(p->out, "%c %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
			     letter[branch_cell_kind(c)], shown(p, c->from, 0),
			     shown(p, branch_cell_to(c), 0), c->count);
	}
}

uint64_t branch_text_write(struct branches *b, enum branch_text form, struct output *out)
{
	struct branch_page page = { .b = b, .out = out };
	uint64_t ranges = sum_of(b, CELL_RANGE, CELL_BRANCH);

	if (form == BRANCH_AUTOFDO) {
		write_autofdo(&page);
		return ranges;
	}
	page.elf = branches_elf(b);
	if (!page.elf) {
		output_discard(out);
		return ranges;
	}
	struct elf_bases bases = elf_bases(page.elf);
	if (form == BRANCH_LLVM) {
		page.base = bases.code.address;
		write_llvm(&page);
	} else if (form == BRANCH_BOLT) {
		page.base = bases.is_movable ? bases.first : 0;
		write_bolt(&page);
	} else {
		ranges = branch_script_write(b, out);
	}
	return ranges;
}
