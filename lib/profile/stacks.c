/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/stacks.h"

#include <stdlib.h>

/* Make room for EVENTS events: move all values.  With many events, at least double the room. */
static void widen(struct stacks *s, uint32_t events)
{
	enum { FEW = 16 };

	if (events > FEW && events < 2 * s->events)
		events = 2 * s->events;
	struct stack_value *value = mem_zeroed((size_t)s->count * events, sizeof(*value));

	for (uint32_t i = 0; i < s->count; i++)
		if (s->events)
			memcpy(value + (size_t)i * events, stacks_values(s, i),
			       s->events * sizeof(*value));
	free(s->value);
	s->value = value;
	s->events = events;
	/* array_grow() wants room up to the next power of two */
	size_t room = 8;
	while (room < s->count)
		room *= 2;
	s->value = mem_resize(s->value, room * events * sizeof(*value));
}

static uint32_t add_stack(struct stacks *s, struct stack stack, uint64_t hash)
{
	size_t row = s->events * sizeof(*s->value);

	s->stack = array_grow(s->stack, s->count, sizeof(*s->stack));
	s->value = array_grow(s->value, s->count, row);
	s->stack[s->count] = stack;
	memset(s->value + (size_t)s->count * s->events, 0, row);
	table_add(&s->table, hash, s->count);
	return s->count++;
}

static uint32_t find_stack(struct stacks *s, struct stack stack)
{
	uint64_t hash = hash_u64((uint64_t)stack.labels << 32 | stack.chain);
	uint32_t id = TABLE_FIND(&s->table, hash, i,
				 s->stack[i].chain == stack.chain &&
				 s->stack[i].labels == stack.labels);

	if (id != TABLE_NONE)
		return id;
	return add_stack(s, stack, hash);
}

void stacks_add(struct stacks *s, struct stack stack, uint32_t event, uint64_t samples,
		uint64_t sum, uint32_t *hint)
{
	if (event >= s->events)
		widen(s, event + 1);
	if (*hint >= s->count || s->stack[*hint].chain != stack.chain ||
	    s->stack[*hint].labels != stack.labels)
		*hint = find_stack(s, stack);
	struct stack_value *v = s->value + (size_t)*hint * s->events + event;
	v->samples += samples;
	v->sum += sum;
}

void stacks_prefetch(const struct stacks *s, uint32_t hint)
{
	if (hint >= s->count)
		return;
	__builtin_prefetch(&s->stack[hint]);
	__builtin_prefetch(stacks_values(s, hint));
}

void stacks_release(struct stacks *s)
{
	free(s->stack);
	free(s->value);
	table_release(&s->table);
	*s = (struct stacks){ 0 };
}
