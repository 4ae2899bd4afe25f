/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: new ones, what they have, and how they end. */
#include "library/pprof.h"

enum { TYPES_MAX = 1 << 16 };

/* Let P have COUNT sample types; the caller sets them. */
static void make_types(struct pmukit_pprof *p, uint32_t count)
{
	p->types = count;
	p->type = mem_zeroed(count, sizeof(*p->type));
}

static const char *keep_text(struct pmukit_pprof *p, const char *text)
{
	return arena_text(&p->texts, text, strlen(text));
}

void pprof_take(struct pmukit_pprof *p, struct decoded *d)
{
	p->d = d;
	p->reader.d = d;
	make_types(p, d->types);
	for (uint32_t i = 0; i < d->types; i++) {
		p->type[i].type = keep_text(p, decoded_string(d, d->type[i].type));
		p->type[i].unit = keep_text(p, decoded_string(d, d->type[i].unit));
	}
}

struct making {
	struct pmukit_pprof *p;
	const struct pmukit_value_type *types;
	size_t count;
};

static int make(void *arguments)
{
	const struct making *a = arguments;
	struct pmukit_pprof *p = a->p;
	const char *(*texts)[2] = mem_zeroed(a->count, sizeof(*texts));

	make_types(p, (uint32_t)a->count);
	for (size_t i = 0; i < a->count; i++) {
		texts[i][0] = p->type[i].type = keep_text(p, a->types[i].type);
		texts[i][1] = p->type[i].unit = keep_text(p, a->types[i].unit ? a->types[i].unit
									       : "");
	}
	p->sum = merge_new();
	part_types(p->sum, texts, p->types);
	free(texts);
	return 0;
}

struct pmukit_pprof *pmukit_pprof_new(const struct pmukit_value_type *types, size_t count)
{
	if (!types || count == 0 || count > TYPES_MAX) {
		fail(PMUKIT_WRONG_ARGUMENT, "a profile has 1 to %d sample types", TYPES_MAX);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		if (!types[i].type || !*types[i].type) {
			fail(PMUKIT_WRONG_ARGUMENT, "sample type %zu has no name", i);
			return NULL;
		}
	struct pmukit_pprof *p = handle_new(HANDLE_PPROF, sizeof(*p), NULL, NULL);
	struct making a = { p, types, count };
	if (p && guarded(&p->handle, HANDLE_PPROF, make, &a) < 0)
		p = handle_free(&p->handle);
	return p;
}

struct merge *pprof_sum(struct pmukit_pprof *p)
{
	if (p->sum)
		return p->sum;
	struct merge *sum = merge_new();
	merge_add(sum, p->d, MERGE_SUM, "", &p->handle.report);
	p->sum = sum;
	return sum;
}

/* Locations have other numbers in the sum. */
void pprof_settle(struct pmukit_pprof *p)
{
	if (!p->d)
		return;
	decoded_reader_release(&p->reader);
	decoded_free(p->d);
	p->d = NULL;
	pprof_forget_frames(p);
}

struct asking {
	struct pmukit_pprof *p;
	int64_t index;
};

static int give_types(void *arguments)
{
	struct asking *a = arguments;

	return (int)a->p->types;
}

int pmukit_pprof_types(struct pmukit_pprof *p, const struct pmukit_value_type **types)
{
	struct asking a = { .p = p };
	int count = guarded(p ? &p->handle : NULL, HANDLE_PPROF, give_types, &a);

	if (types)
		*types = count < 0 ? NULL : p->type;
	return count;
}

static int count_stacks(void *arguments)
{
	struct asking *a = arguments;

	a->index = a->p->sum ? part_samples(a->p->sum) : a->p->d->samples;
	return 0;
}

int64_t pmukit_pprof_stacks(struct pmukit_pprof *p)
{
	struct asking a = { .p = p };
	int status = guarded(p ? &p->handle : NULL, HANDLE_PPROF, count_stacks, &a);

	return status < 0 ? status : a.index;
}

static int give_stack(void *arguments)
{
	const struct asking *a = arguments;

	return pprof_find_stack(a->p, a->index);
}

int pmukit_pprof_stack(struct pmukit_pprof *p, int64_t index, const struct pmukit_stack **stack)
{
	struct asking a = { p, index };

	if (!stack)
		return fail(PMUKIT_WRONG_ARGUMENT, "there is no place for the stack");
	int found = guarded(p ? &p->handle : NULL, HANDLE_PPROF, give_stack, &a);
	*stack = found > 0 ? &p->stack : NULL;
	return found;
}

static int release(void *arguments)
{
	struct pmukit_pprof *p = arguments;

	decoded_reader_release(&p->reader);
	decoded_free(p->d);
	merge_free(p->sum);
	pprof_forget_frames(p);
	arena_release(&p->texts);
	free(p->type);
	free(p->reading.location);
	free(p->reading.label);
	free(p->frame);
	free(p->label);
	free(p->location);
	free(p->part);
	free(p->value);
	return 0;
}

void pmukit_pprof_close(struct pmukit_pprof *p)
{
	handle_close(p ? &p->handle : NULL, HANDLE_PPROF, release, p);
}
