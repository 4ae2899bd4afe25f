/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks - distinct stacks, and how much of each event was counted on each.
 *
 * A stack is a sequence of frame ids; equal ones are one entry.  Adding a
 * sample to a known stack is one hash of its ids and one probe; nothing is
 * allocated.
 */
#pragma once
#include "base/arena.h"
#include "base/table.h"

struct stack {
	const uint32_t *frame;	/* ids, the leaf first */
	uint32_t frames;
};

/* What was counted of one event. */
struct stack_value {
	uint64_t samples;
	uint64_t sum;		/* of the samples' periods */
};

/* Zero-initialised: empty. */
struct stacks {
	struct stack *stack;		/* in order of first appearance */
	struct stack_value *value;	/* EVENTS of each stack, one stack after the other */
	uint32_t count;
	uint32_t events;
	struct table table;
	struct arena arena;		/* the frame ids */
};

/* Count a sample of PERIOD of event EVENT (any index) on the stack of FRAMES ids. */
void stacks_add(struct stacks *s, const uint32_t *frame, uint32_t frames, uint32_t event,
		uint64_t period);

/* The EVENTS values of the stack of index STACK. */
static inline const struct stack_value *stacks_values(const struct stacks *s, uint32_t stack)
{
	return s->value + (size_t)stack * s->events;
}

void stacks_release(struct stacks *s);
