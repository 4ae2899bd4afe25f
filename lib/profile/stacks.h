/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks - how much of each event was counted on each chain of frames, apart
 * for each set of labels.
 *
 * Adding to what is known is one probe; nothing is allocated.
 */
#pragma once
#include "base/arena.h"
#include "base/table.h"

struct stack {
	uint32_t chain;		/* in a struct chains */
	uint32_t labels;	/* in a struct labels; 0: none */
};

/* What was counted of one event. */
struct stack_value {
	uint64_t samples;
	uint64_t sum;		/* of the samples' periods, or ns */
};

/* Zero-initialised: empty. */
struct stacks {
	struct stack *stack;		/* in order of first appearance */
	struct stack_value *value;	/* EVENTS of each stack, one stack after the other */
	uint32_t count;
	uint32_t events;
	struct table table;
};

/*
 * Count SAMPLES, of SUM in all, of event EVENT (any index) on STACK.  *HINT is where a
 * stack of this chain was found last, or anything: it is where this one is then.
 */
void stacks_add(struct stacks *s, struct stack stack, uint32_t event, uint64_t samples,
		uint64_t sum, uint32_t *hint);

/* The EVENTS values of the stack of index STACK. */
static inline const struct stack_value *stacks_values(const struct stacks *s, uint32_t stack)
{
	return s->value + (size_t)stack * s->events;
}

void stacks_release(struct stacks *s);
