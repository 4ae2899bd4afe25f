/* SPDX-License-Identifier: Apache-2.0 */
/* What of all counts is in the binary, and the messages about it. */
#include "base/units.h"
#include "branch/branch-functions.h"
#include "branch/branches.h"
#include "names/object-name.h"

#include <inttypes.h>

/* Return whether the stream has what is needed; if not, report why. */
static bool check_counts(const struct branches *b, const struct stream_reader *in)
{
	const struct branch_counts *c = &b->counts;

	if (!selection_check_event(b->how.selection, stream_events(in), b->report))
		return false;
	if (c->stacks)
		return true;
	if (c->is_resolved)
		report_error(b->report, "the samples are resolved already, and have lost their "
			     "branches: give the stream before pmu-symbolize");
	else if (c->calls)
		report_error(b->report, "the branch stacks of '%s' are callchains (recorded with "
			     "call-stack mode): record all branches with pmu-sample -b",
			     c->unsuited_event);
	else if (c->unsuited)
		report_error(b->report, "the samples of '%s' have branches of some kinds only, by "
			     "the filter of branches, so the code between them is unknown: record "
			     "all branches with pmu-sample -b", c->unsuited_event);
	else
		report_error(b->report, "no sample has branch records: record with pmu-sample -b");
	return false;
}

static void note_events(const struct branches *b)
{
	const struct branch_counts *c = &b->counts;

	if (c->unsuited)
		report_note(b->report, "%" PRIu64 " samples of events such as '%s' are left out: "
			    "they have branches of some kinds only", c->unsuited,
			    c->unsuited_event);
	if (c->timed)
		report_note(b->report, "sampled by '%s': an event that counts taken branches is "
			    "better (Intel br_inst_retired.near_taken, AMD ex_ret_brn_tkn or "
			    "branch-brs, Arm br_retired)", c->timed_event);
}

/*
 * Return PLACE in the binary, whichever of its objects it is in; PLACE_OUTSIDE: it is not, or no
 * segment with code has it, so it has no address, or it is a stub: a late build ID shows that late.
 */
static uint64_t chosen_place(const struct branches *b, uint64_t place)
{
	if (place == PLACE_OUTSIDE || !b->objects.object[place_object(place)].is_chosen)
		return PLACE_OUTSIDE;
	uint32_t id = b->objects.are_all ? place_object(place) : b->objects.binary;
	const struct branch_object *object = &b->objects.object[id];
	uint64_t offset = place_offset(place);
	if (object->elf && !branch_address(object->elf, offset))
		return PLACE_OUTSIDE;
	if (branches_omit_stubs(b) && !branch_object_is_code(object, offset))
		return PLACE_OUTSIDE;
	return b->objects.are_all ? place : place_make(b->objects.binary, place_offset(place));
}

/* Return whether C, a cell, is of the binary, and give it the places there. */
static bool choose_cell(struct branches *b, struct branch_cell *c)
{
	enum branch_cell_kind kind = branch_cell_kind(c);
	uint64_t from = chosen_place(b, c->from), to = chosen_place(b, branch_cell_to(c));

	c->from = from;
	c->to = (c->to & ~CELL_PLACE_MASK) | to;
	if (kind == CELL_BRANCH)
		return b->how.rule == BRANCH_BY_RANGE ? from && to : from || to;
	return from && (to || kind == CELL_ADDRESS);
}

static void choose_cells(struct branches *b)
{
	struct branch_cells *cells = &b->cells;
	struct branch_functions functions;
	uint32_t kept = 0;

	table_release(&cells->table);	/* none is added any more, and sorting takes memory */
	branch_functions_init(&functions, NULL);
	for (uint32_t i = 0; i < cells->count; i++)
		if (choose_cell(b, &cells->cell[i]))
			cells->cell[kept++] = cells->cell[i];
	cells->count = branch_cells_sort(cells->cell, kept);
	kept = 0;
	for (uint32_t i = 0; i < cells->count; i++) {
		const struct branch_cell *c = &cells->cell[i];
		bool is_range = branch_cell_kind(c) <= CELL_RANGE_ENTERED;
		struct elf *elf = is_range ? b->objects.object[place_object(c->from)].elf : NULL;
		if (is_range && functions.elf != elf)
			branch_functions_init(&functions, elf);
		if (is_range && branch_functions_break(&functions, place_offset(c->from),
						       place_offset(branch_cell_to(c))))
			b->drops.broken += c->count;
		else
			cells->cell[kept++] = *c;
	}
	cells->count = kept;
}

uint64_t branches_inside(const struct branches *b)
{
	uint64_t entries = 0;

	if (b->objects.are_all)
		return b->counts.inside;
	for (uint32_t id = 0; id < b->objects.count; id++)
		if (b->objects.object[id].is_chosen)
			entries += b->objects.object[id].entries;
	return entries;
}

bool branches_choose(struct branches *b, const struct stream_reader *in)
{
	if (!check_counts(b, in) || !branch_objects_choose(&b->objects, b->counts.entries))
		return false;
	note_events(b);
	choose_cells(b);
	return true;
}

/* With -v: what was left out, by kind. */
static void report_drops(const struct branches *b)
{
	const struct branch_drops *d = &b->drops;

	report_summary(b->report, "%" PRIu64 " samples read, %" PRIu64 " of them with branches",
		       b->counts.samples, b->counts.stacks);
	report_summary(b->report, "entries left out: %" PRIu64 " empty, %" PRIu64 " on a wrong "
		       "path, %" PRIu64 " interrupts; %" PRIu64 " have one end in the kernel",
		       d->empty, d->wrong_path, d->interrupts, d->kernel);
	report_summary(b->report, "ranges left out: %" PRIu64 " duplicates, %" PRIu64 " that end "
		       "before they start, %" PRIu64 " longer than 1 MiB, %" PRIu64 " broken",
		       d->duplicates, d->backward, d->longer, d->broken);
}

void branches_report(struct branches *b, uint64_t ranges)
{
	uint64_t in = branches_inside(b), all = b->counts.entries;
	double share = all ? 100.0 * (double)in / (double)all : 0;
	char in_text[UNITS_SIZE], all_text[UNITS_SIZE], ranges_text[UNITS_SIZE],
	     broken_text[UNITS_SIZE], name[256];

	report_drops(b);
	if (b->drops.cells)
		report_note(b->report, "%" PRIu64 " counts found no room: allow more cells with "
			    "--max-cells", b->drops.cells);
	units_format_grouped(in_text, in);
	units_format_grouped(all_text, all);
	units_format_grouped(ranges_text, ranges);
	units_format_grouped(broken_text, b->drops.broken);
	if (b->objects.are_all)
		snprintf(name, sizeof(name), "%u file%s", b->objects.chosen,
			 b->objects.chosen == 1 ? "" : "s");
	else
		object_name(b->how.wanted.file ?: branch_objects_path(&b->objects), true, name,
			    sizeof(name));
	char ranges_part[2 * UNITS_SIZE + 32] = "";
	if (b->how.needs_ranges)
		snprintf(ranges_part, sizeof(ranges_part), "%s ranges, %s broken, ", ranges_text,
			 broken_text);
	report_note(b->report, "%s of %s branch entries in %s (%.1f %%), %s%" PRIu64
		    " process%s", in_text, all_text, name, share, ranges_part,
		    b->objects.processes, b->objects.processes == 1 ? "" : "es");
	if (share < 1)
		report_note(b->report, "less than 1 %% of the branches are in %s: is this the "
			    "right binary?", name);
}
