/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz-library-pprof - any bytes as a profile of the library: each stack is read, and added to
 * another profile; both are added up and written; and what was written can be read.
 */
#include <pmukit.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct output {
	uint8_t *bytes;
	size_t size;
};

static int append(void *context, const void *bytes, size_t size)
{
	struct output *out = context;

	out->bytes = realloc(out->bytes, out->size + size);
	memcpy(out->bytes + out->size, bytes, size);
	out->size += size;
	return 0;
}

/* Return a profile with the stacks of P, up to 100, added one by one. */
static struct pmukit_pprof *added(struct pmukit_pprof *p)
{
	const struct pmukit_value_type *type;
	const struct pmukit_stack *stack;
	int types = pmukit_pprof_types(p, &type);
	struct pmukit_pprof *sum = types > 0 ? pmukit_pprof_new(type, (size_t)types) : NULL;

	for (int64_t i = 0; sum && i < 100 && pmukit_pprof_stack(p, i, &stack) > 0; i++)
		pmukit_pprof_add(sum, stack);	/* sums may not fit */
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pmukit_pprof *p = pmukit_pprof_open_memory(data, size, NULL);
	struct pmukit_pprof *sum = p ? added(p) : NULL;
	struct output out = { 0 };

	if (sum)
		pmukit_pprof_merge(p, sum);
	if (p && pmukit_pprof_write_callback(p, append, &out) == 0) {
		struct pmukit_pprof *again = pmukit_pprof_open_memory(out.bytes, out.size, NULL);
		if (!again)
			abort();
		pmukit_pprof_close(again);
	}
	free(out.bytes);
	pmukit_pprof_close(sum);
	pmukit_pprof_close(p);
	return 0;
}
