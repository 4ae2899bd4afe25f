/* SPDX-License-Identifier: Apache-2.0 */
#include "branch/branch-profile.h"

#include "branch/branch-blocks.h"
#include "branch/branch-functions.h"
#include "branch/branch-names.h"
#include "pprof/comments.h"
#include "pprof/merge-parts.h"

#include <inttypes.h>

static int64_t value_of(uint64_t count)
{
	return count < INT64_MAX ? (int64_t)count : INT64_MAX;
}

static uint64_t write_blocks(struct branch_names *n)
{
	static const char *const type[][2] = { { "executions", "count" }, { "cycles", "count" } };
	struct branch_blocks blocks = { 0 };
	uint64_t ranges = 0;

	branch_blocks_make(&blocks, n);
	part_types(n->profile, type, blocks.has_cycles ? 2 : 1);
	part_default_type(n->profile, 0);
	for (uint32_t i = 0; i < blocks.count; i++) {
		const struct branch_block *block = &blocks.block[i];
		uint32_t location = branch_names_location(n, block->start);
		uint32_t sample = part_sample(n->profile, &location, 1, NULL, 0);
		int64_t *value = part_values(n->profile, sample);
		value[0] += value_of(block->count);
		if (blocks.has_cycles)
			value[1] += (int64_t)(block->cycles + 0.5);
	}
	for (uint32_t i = 0; i < n->b->cells.count; i++)
		if (branch_cell_kind(&n->b->cells.cell[i]) <= CELL_RANGE_ENTERED)
			ranges += n->b->cells.cell[i].count;
	branch_blocks_release(&blocks);
	merge_comment(n->profile, "executions: how often each line ran; they do not add up");
	return ranges;
}

/* A branch whose prediction is not recorded has a label that says so: 0 would mean none failed. */
static void write_mispredicts(struct branch_names *n)
{
	static const char *const type[][2] = { { "taken", "count" }, { "mispredicted", "count" } };
	char target[512];

	part_types(n->profile, type, 2);
	for (uint32_t i = 0; i < n->b->cells.count; i++) {
		const struct branch_cell *c = &n->b->cells.cell[i];
		if (branch_cell_kind(c) != CELL_BRANCH || c->from == PLACE_OUTSIDE)
			continue;
		branch_names_describe(n, branch_cell_to(c), target, sizeof(target));
		const struct part_label label[] = {
			{ .key = "target", .text = target, .unit = "" },
			{ .key = "prediction", .text = "unknown", .unit = "" } };
		bool is_judged = branch_cell_is_judged(c);
		uint32_t location = branch_names_location(n, c->from);
		uint32_t sample = part_sample(n->profile, &location, 1, label, is_judged ? 1 : 2);
		int64_t *value = part_values(n->profile, sample);
		value[0] += value_of(c->count);
		value[1] += value_of(c->mispredicted);
	}
}

/* Return whether C calls the function at its target. */
static bool is_call(const struct branches *b, struct branch_functions *f,
		    const struct branch_cell *c)
{
	uint64_t from = c->from, to = branch_cell_to(c);
	unsigned type = branch_cell_type(c), size;
	struct elf *elf = from ? b->objects.object[place_object(from)].elf : NULL;

	if (f->elf != elf)
		branch_functions_init(f, elf);
	if (type == PERF_BR_CALL || type == PERF_BR_IND_CALL || type == PERF_BR_COND_CALL)
		return true;
	if (type == PERF_BR_RET || type == PERF_BR_COND_RET)
		return false;
	enum branch_going going = from
		? branch_functions_going(f, place_offset(from), &size) : GOING_UNKNOWN;
	if (going == GOING_CALL || going == GOING_RETURN)
		return going == GOING_CALL;
	if (to == PLACE_OUTSIDE)
		return false;
	/* a jump to another function, as the last call of a function may be */
	bool is_apart = !from || place_object(from) != place_object(to);
	elf = b->objects.object[place_object(to)].elf;
	if (f->elf != elf)
		branch_functions_init(f, elf);
	return branch_functions_enter(f, place_offset(to),
				      is_apart ? UINT64_MAX : place_offset(from));
}

static void write_edges(struct branch_names *n)
{
	static const char *const type[][2] = { { "calls", "count" } };
	struct branch_functions functions;

	branch_functions_init(&functions, NULL);
	part_types(n->profile, type, 1);
	for (uint32_t i = 0; i < n->b->cells.count; i++) {
		const struct branch_cell *c = &n->b->cells.cell[i];
		if (branch_cell_kind(c) != CELL_BRANCH || !is_call(n->b, &functions, c))
			continue;
		uint32_t callee = branch_names_location(n, branch_cell_to(c));
		uint32_t stack[] = { callee, branch_names_location(n, c->from) };
		uint32_t sample = part_sample(n->profile, stack, 2, NULL, 0);
		part_values(n->profile, sample)[0] += value_of(c->count);
	}
}

/* Say in the profile how much of the recording is in it, and what was left out. */
static void add_comments(struct merge *m, const struct branches *b)
{
	const struct branch_drops *d = &b->drops;
	const struct { uint64_t count; const char *what; } part[] = {
		{ d->empty, "empty entries" },
		{ d->wrong_path, "branches on a wrong path" },
		{ d->interrupts, "interrupts" },
		{ d->duplicates, "ranges of entries that were recorded twice" },
		{ d->backward, "ranges that end before they start" },
		{ d->longer, "ranges longer than 1 MiB" },
		{ d->broken, "broken ranges" },
		{ d->cells, "counts without room" },
	};
	char text[COMMENT_SIZE];

	snprintf(text, sizeof(text), "branches: %" PRIu64 " records in %" PRIu64 " samples",
		 b->counts.entries, b->counts.stacks);
	merge_comment(m, text);
	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		snprintf(text, sizeof(text), COMMENT_LEFT_OUT "%" PRIu64 " %s", part[i].count,
			 part[i].what);
		if (part[i].count)
			merge_comment(m, text);
	}
}

uint64_t branch_profile_write(struct branches *b, enum branch_view view,
			      enum demangle_style style, struct output *out)
{
	struct branch_names names;
	struct merge *m = merge_new();
	uint64_t ranges = 0;

	branch_names_init(&names, b, m, style);
	if (view == BRANCH_BLOCKS)
		ranges = write_blocks(&names);
	else if (view == BRANCH_MISPREDICTS)
		write_mispredicts(&names);
	else
		write_edges(&names);
	add_comments(m, b);
	branch_names_release(&names);
	merge_write(m, PACK_GZIP, out);
	return ranges;
}
