/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks - the values of each event on each stack: a chain of frames with a set of
 * labels.
 *
 * Adding to a known stack takes one probe and allocates nothing.
 */
#pragma once
#include "stacks/compact.h"

#include <stddef.h>

struct stack {
	uint32_t chain;		/* index in struct chains */
	uint32_t labels;	/* set in struct labels; 0: none */
};

/* The values of one event on one stack. */
struct stack_value {
	uint64_t samples;
	uint64_t sum;		/* of the samples' periods, or of ns waited */
};

/* Zero-initialised: empty. */
struct stacks {
	struct stack *stack;		/* in order of first appearance */
	struct stack_value *value;	/* EVENTS values for each stack */
	uint32_t count;
	uint32_t events;
	struct compact_table table;	/* over STACK */
};

/*
 * Add SAMPLES samples of EVENT (any index), with periods of SUM in all, to STACK.  *HINT
 * is the index where this stack probably is; any value is safe.  Sets *HINT to its index.
 */
void stacks_add(struct stacks *s, struct stack stack, uint32_t event, uint64_t samples,
		uint64_t sum, uint32_t *hint);

/* The same for one sample: the usual way, if HINT is right. */
static inline void stacks_add_sample(struct stacks *s, struct stack stack, uint32_t event,
				     uint64_t period, uint32_t *hint)
{
	uint32_t at = *hint;

	if (at < s->count && s->stack[at].chain == stack.chain &&
	    s->stack[at].labels == stack.labels && event < s->events) {
		struct stack_value *v = s->value + (size_t)at * s->events + event;
		v->samples++;
		v->sum += period;
	} else {
		stacks_add(s, stack, event, 1, period, hint);
	}
}

/* Prefetch what stacks_add() will need, if HINT is right. */
void stacks_prefetch(const struct stacks *s, uint32_t hint);

/* Return the values of the stack with index STACK, one for each event. */
static inline const struct stack_value *stacks_values(const struct stacks *s, uint32_t stack)
{
	return s->value + (size_t)stack * s->events;
}

/*
 * Replace each label set L by MOVED[L]; by none if MOVED is NULL.  Stacks that are then equal
 * become one: the first of them has the values of all.
 */
void stacks_relabel(struct stacks *s, const uint32_t *moved);

/* Free what finds stacks: none can be added after that. */
void stacks_seal(struct stacks *s);

void stacks_release(struct stacks *s);
