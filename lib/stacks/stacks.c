/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/stacks.h"
#include "base/arena.h"

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

static uint32_t hash_stack(struct stack stack)
{
	return (uint32_t)hash_u64((uint64_t)stack.labels << 32 | stack.chain);
}

static bool is_same(struct stack a, struct stack b)
{
	return a.chain == b.chain && a.labels == b.labels;
}

/* Add STACK, which PROBE did not find. */
static uint32_t add_stack(struct stacks *s, struct stack stack, const struct compact_probe *probe)
{
	size_t row = s->events * sizeof(*s->value);

	s->stack = array_grow(s->stack, s->count, sizeof(*s->stack));
	s->value = array_grow(s->value, s->count, row);
	s->stack[s->count] = stack;
	memset(s->value + (size_t)s->count * s->events, 0, row);
	if (compact_grow(&s->table, s->count, COMPACT_SMALL))
		for (uint32_t i = 0; i <= s->count; i++)
			compact_put(&s->table, hash_stack(s->stack[i]), i);
	else
		compact_put_at(&s->table, probe, s->count);
	return s->count++;
}

static uint32_t find_stack(struct stacks *s, struct stack stack)
{
	struct compact_probe probe = compact_probe(&s->table, hash_stack(stack));
	uint32_t id = COMPACT_FIND(&s->table, &probe, i, is_same(s->stack[i], stack));

	return id == TABLE_NONE ? add_stack(s, stack, &probe) : id;
}

void stacks_add(struct stacks *s, struct stack stack, uint32_t event, uint64_t samples,
		uint64_t sum, uint32_t *hint)
{
	if (event >= s->events)
		widen(s, event + 1);
	if (*hint >= s->count || !is_same(s->stack[*hint], stack))
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

/* Move stack FROM, or its values, to the first COUNT stacks.  Return the new number of these. */
static uint32_t move_stack(struct stacks *s, uint32_t from, struct stack stack, uint32_t count)
{
	struct compact_probe probe = compact_probe(&s->table, hash_stack(stack));
	uint32_t to = COMPACT_FIND(&s->table, &probe, i, is_same(s->stack[i], stack));
	const struct stack_value *v = stacks_values(s, from);

	if (to == TABLE_NONE) {
		s->stack[count] = stack;
		memmove(s->value + (size_t)count * s->events, v, s->events * sizeof(*v));
		compact_put_at(&s->table, &probe, count);
		return count + 1;
	}
	struct stack_value *sum = s->value + (size_t)to * s->events;
	for (uint32_t event = 0; event < s->events; event++) {
		sum[event].samples += v[event].samples;
		sum[event].sum += v[event].sum;
	}
	return count;
}

void stacks_relabel(struct stacks *s, const uint32_t *moved)
{
	uint32_t count = 0;

	compact_clear(&s->table);
	for (uint32_t i = 0; i < s->count; i++) {
		uint32_t labels = moved ? moved[s->stack[i].labels] : 0;
		count = move_stack(s, i, (struct stack){ s->stack[i].chain, labels }, count);
	}
	s->count = count;
}

void stacks_seal(struct stacks *s)
{
	compact_release(&s->table);
}

void stacks_release(struct stacks *s)
{
	free(s->stack);
	free(s->value);
	stacks_seal(s);
	*s = (struct stacks){ 0 };
}
