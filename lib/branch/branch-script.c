/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Branch stacks as `perf script -F ip,brstack` prints them, with the addresses of the file: all
 * processes seem to map the binary at one place, because llvm-profgen knows one place at a time.
 *
 * Where a range between two branches is not true, the stack is written as two, so that the reader
 * does not make up that range.
 */
#include "base/arena.h"
#include "base/hash.h"
#include "base/text.h"
#include "branch/branch-functions.h"
#include "branch/branch-spool.h"
#include "branch/branch-text.h"

#include <inttypes.h>

static const uint64_t outside = INT64_MAX;

struct branch_script {
	struct branches *b;
	struct output *out;
	struct branch_functions functions;
	struct range_verdict {
		uint64_t start, end;	/* places */
		bool is_broken;
	} verdict[4096];	/* the last ones, by a hash: most ranges come again and again */
	uint64_t ranges;
};

static uint64_t address_of(const struct branch_script *s, uint64_t place)
{
	const struct branch_objects *o = &s->b->objects;

	if (!place || !o->object[place_object(place)].is_chosen)
		return outside;
	return branch_address(s->functions.elf, place_offset(place)) ?: outside;
}

/* Write the line that says where the binary is mapped. */
static void write_mapping(const struct branch_script *s)
{
	struct elf_bases bases = elf_bases(s->functions.elf);
	const char *file = s->b->how.wanted.file ?: branch_objects_path(&s->b->objects);
	const char *slash = strrchr(file, '/');

	branch_print(s->out, "PERF_RECORD_MMAP2 1/1: [0x%" PRIx64 "(0x%" PRIx64 ") @ ",
		     bases.code.address, bases.code.size);
	branch_print(s->out, bases.code.file_offset ? "0x%" PRIx64 : "%" PRIx64,
		     bases.code.file_offset);
	branch_print(s->out, " 00:00 0 0]: r-xp /");
	char *name = mem_text(slash ? slash + 1 : file);
	text_make_safe(name);
	output_write(s->out, name, strlen(name));
	free(name);
	branch_print(s->out, "\n");
}

static bool is_broken(struct branch_script *s, uint64_t start, uint64_t end)
{
	enum { VERDICTS = sizeof(s->verdict) / sizeof(s->verdict[0]) };
	struct range_verdict *v = &s->verdict[hash_more(hash_u64(start), end) % VERDICTS];

	if (v->start != start || v->end != end)
		*v = (struct range_verdict){ start, end,
					     branch_functions_break(&s->functions,
								    place_offset(start),
								    place_offset(end)) };
	return v->is_broken;
}

/* Return false if branches I and I - 1 of STACK have a range between them that cannot be true. */
static bool goes_on(struct branch_script *s, const struct branch_stack *stack, uint32_t i)
{
	uint64_t start = stack->branch[i].to, end = stack->branch[i - 1].from;

	if (address_of(s, start) == outside || address_of(s, end) == outside)
		return true;
	if (!stack->branch[i].has_range)
		return false;
	if (is_broken(s, start, end)) {
		s->b->drops.broken++;
		return false;
	}
	s->ranges++;
	return true;
}

/* Write the branches of STACK from FIRST up to END as one line, if one of them is in the binary. */
static void write_line(struct branch_script *s, const struct branch_stack *stack, uint32_t first,
		       uint32_t end)
{
	bool is_any = false;

	for (uint32_t i = first; i < end; i++)
		is_any |= address_of(s, stack->branch[i].from) != outside ||
			  address_of(s, stack->branch[i].to) != outside;
	if (!is_any)
		return;
	branch_print(s->out, " %" PRIx64, address_of(s, stack->branch[first].to));
	for (uint32_t i = first; i < end; i++) {
		const struct kept_branch *e = &stack->branch[i];
		char letter = branch_is_mispredicted(e->flags) ? 'M'
			      : branch_is_predicted(e->flags) ? 'P' : '-';
		branch_print(s->out, " 0x%" PRIx64 "/0x%" PRIx64 "/%c/-/-/%" PRIu64,
			     address_of(s, e->from), address_of(s, e->to), letter,
			     branch_cycles(e->flags));
	}
	branch_print(s->out, "\n");
}

uint64_t branch_script_write(struct branches *b, struct output *out)
{
	enum { FUEL_EACH = 16 * BRANCH_DEPTH_MAX };	/* work in proportion to the recording */
	struct branch_script *s = mem_zeroed(1, sizeof(*s));
	struct branch_stack *stack = mem_zeroed(1, sizeof(*stack));

	s->b = b;
	s->out = out;
	branch_functions_init(&s->functions, b->objects.object[b->objects.binary].elf);
	write_mapping(s);
	branch_spool_rewind(b->spool);
	while (!output_ended(out) && branch_spool_next(b->spool, stack)) {
		uint32_t first = 0;
		s->functions.fuel.left += FUEL_EACH;
		for (uint32_t i = 1; i < stack->count; i++)
			if (!goes_on(s, stack, i)) {
				write_line(s, stack, first, i);
				first = i;
			}
		write_line(s, stack, first, stack->count);
	}
	if (branch_spool_failed(b->spool))
		output_discard(out);
	uint64_t ranges = s->ranges;
	free(stack);
	free(s);
	return ranges;
}
