/* SPDX-License-Identifier: Apache-2.0 */
/* Adds stacks and profiles to a profile. */
#include "base/saturate.h"
#include "library/pprof.h"

struct pprof_adding {
	struct pmukit_pprof *p, *from;
	const struct pmukit_stack *stack;
};

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* Return whether anything is known about FRAME but its address. */
static bool has_line(const struct pmukit_frame *frame)
{
	return frame->function || frame->symbol || frame->file || frame->line || frame->is_inlined;
}

/*
 * Return the location of the frames from FIRST to LAST: calls that were inlined, and the function
 * that they are part of.
 */
static uint32_t add_location(struct merge *m, const struct pmukit_frame *first,
			     const struct pmukit_frame *last)
{
	const struct part_place place = { last->object_address, or_empty(last->object),
					  or_empty(last->build_id) };
	struct part_line line[PROFILE_LINES_MAX];
	uint32_t count = 0;

	for (const struct pmukit_frame *f = first; f <= last && has_line(first); f++)
		line[count++] = (struct part_line){ or_empty(f->function), or_empty(f->symbol),
						    or_empty(f->file), f->start_line, f->line,
						    f->column };
	return part_location(m, &place, line, count);
}

/*
 * Add the frames of STACK, and return the number of locations, at P->location.  It starts at the
 * root: then the program's mapping usually comes first, after which pprof names the profile.
 */
static size_t add_locations(struct pmukit_pprof *p, const struct pmukit_stack *stack)
{
	const struct pmukit_frame *frames = stack->frames;
	size_t count = 0, last = stack->frames_size;

	if (p->location_room < last) {
		p->location_room = last + last / 4;
		p->location = mem_resize(p->location, p->location_room * sizeof(*p->location));
	}
	while (last-- > 0) {
		size_t first = last;
		while (first > 0 && frames[first - 1].is_inlined &&
		       last - first + 1 < PROFILE_LINES_MAX)
			first--;
		p->location[count++] = add_location(p->sum, &frames[first], &frames[last]);
		last = first;
	}
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t swapped = p->location[i];
		p->location[i] = p->location[count - 1 - i];
		p->location[count - 1 - i] = swapped;
	}
	return count;
}

/* Copy the labels of STACK to P->part. */
static void take_labels(struct pmukit_pprof *p, const struct pmukit_stack *stack)
{
	if (!p->part)
		p->part = mem_zeroed(PROFILE_LABELS_MAX, sizeof(*p->part));
	for (size_t i = 0; i < stack->labels_size; i++) {
		const struct pmukit_label *label = &stack->labels[i];
		p->part[i] = (struct part_label){ label->key, label->value, or_empty(label->unit),
						  label->number };
	}
}

/* Report that sums did not fit.  What was added is in them, as far as they can be counted. */
static int cut(struct pmukit_pprof *p)
{
	report_error(&p->handle.report, "sums do not fit into 64 bits: they are cut");
	return PMUKIT_WRONG_ARGUMENT;
}

/* The stack may be one of P itself, whose values move when a sample is added: so copy them. */
static int add_stack(void *arguments)
{
	const struct pprof_adding *a = arguments;
	struct pmukit_pprof *p = a->p;
	bool fits = true;

	if (!p->value)
		p->value = mem_zeroed(p->types, sizeof(*p->value));
	memcpy(p->value, a->stack->values, p->types * sizeof(*p->value));
	struct merge *m = pprof_sum(p);
	size_t locations = add_locations(p, a->stack);
	take_labels(p, a->stack);
	uint32_t sample = part_sample(m, p->location, locations, p->part, a->stack->labels_size);
	int64_t *value = part_values(m, sample);
	for (uint32_t i = 0; i < p->types; i++)
		fits &= saturate_add(&value[i], p->value[i]);
	pprof_settle(p);
	return fits ? 0 : cut(p);
}

/* Return what is wrong with STACK, or NULL. */
static const char *wrong_in(const struct pmukit_stack *stack)
{
	if (!stack)
		return "there is no stack";
	if (!stack->values)
		return "the stack has no values";
	if ((stack->frames_size && !stack->frames) || stack->frames_size > PROFILE_FRAMES_MAX)
		return "the stack's frames and their number do not fit";
	if ((stack->labels_size && !stack->labels) || stack->labels_size > PROFILE_LABELS_MAX)
		return "the stack's labels and their number do not fit";
	for (size_t i = 0; i < stack->labels_size; i++)
		if (!stack->labels[i].key)
			return "a label of the stack has no key";
	return NULL;
}

int pmukit_pprof_add(struct pmukit_pprof *p, const struct pmukit_stack *stack)
{
	const char *wrong = wrong_in(stack);
	struct pprof_adding a = { .p = p, .stack = stack };

	if (wrong)
		return fail(PMUKIT_WRONG_ARGUMENT, "%s", wrong);
	return guarded(p ? &p->handle : NULL, HANDLE_PPROF, add_stack, &a);
}

/* Return FROM as it would be read; the caller frees it if it is not FROM->d. */
static struct decoded *decoded_of(struct pmukit_pprof *from, struct report *report)
{
	size_t size;

	if (from->d)
		return from->d;
	uint8_t *bytes = pack_take(merge_pack(from->sum), &size);
	if (size < UINT32_MAX)
		return decoded_take(bytes, size, "the profile that is added", report);
	report_error(report, "the profile that is added is too large: it would have %zu MiB",
		     size >> 20);
	free(bytes);
	return NULL;
}

static int add_profile(void *arguments)
{
	const struct pprof_adding *a = arguments;
	struct pmukit_pprof *p = a->p;
	struct report *report = &p->handle.report;
	struct merge *sum = pprof_sum(p);
	struct decoded *d = decoded_of(a->from, report);
	bool good = d && merge_add(sum, d, MERGE_SUM, "the profile that is added", report);

	if (d != a->from->d)
		decoded_free(d);
	pprof_settle(p);
	if (!good)
		return PMUKIT_WRONG_ARGUMENT;
	return merge_was_cut(sum) ? cut(p) : 0;
}

/* Called for FROM, to check that it can be read.  It ends before P is used, as FROM may be P. */
static int nothing(void *arguments)
{
	(void)arguments;
	return 0;
}

int pmukit_pprof_merge(struct pmukit_pprof *p, struct pmukit_pprof *from)
{
	struct pprof_adding a = { .p = p, .from = from };
	int status = guarded(from ? &from->handle : NULL, HANDLE_PPROF, nothing, NULL);

	if (status < 0)
		return status;
	return guarded(p ? &p->handle : NULL, HANDLE_PPROF, add_profile, &a);
}
