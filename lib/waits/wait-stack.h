/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait-stack - what the names of the functions on a stack say about a wait or a wake: whether the
 * thread is in a futex call, and what for.
 */
#pragma once
#include "resolved/resolved.h"
#include "waits/pairing.h"

/* What is known of a stack. */
struct wait_stack {
	bool has_kernel_names;	/* some function of the kernel has a name */
	bool in_futex;		/* a function of the kernel is of a futex call */
	bool in_vector;		/* it is a call whose argument is a list of words */
	bool ends;		/* the thread ends: a futex is not the argument of a call */
	bool by_timer, by_signal, by_exit;	/* the kernel handles a timer, a signal, an end */
	bool by_stop;		/* ... for all threads of a process: its end, a stop */
	bool by_sender;		/* it handles packets that this thread sends to this machine */
	bool sleeps;		/* it waits for time to pass */
	bool is_short;		/* it is only known that the wait was short */
	bool awaits_signal;	/* it waits for a signal */
	bool sees_exits;	/* what it waits for may be the end of a child */
	bool reads_pipe;
	bool completes;		/* it waits until something in the kernel is done */
	bool joins;		/* it waits for the end of a thread or a process */
	bool in_call;		/* the program's functions at the leaf call futex() */
	bool is_lock, is_condition, is_parked;	/* what the nearest function of these waits for */
	bool is_semaphore, is_barrier;	/* a lock, and a condition, of this kind */
	bool is_pair;		/* its object waits at two words next to each other */
};

/* What the names of functions say, by their ids: each name is looked at once. */
struct wait_names {
	uint32_t *hints;
	uint32_t count;		/* set it to 0 when functions have new ids */
};

/* Return what is known of the stack with the FRAMES frames in FRAME, the leaf first. */
struct wait_stack wait_stack_of(struct wait_names *names, const struct resolved *r,
				const uint32_t *frame, uint32_t frames);

/* Return whether the thread is in a futex call whose first argument is in its register. */
bool wait_stack_in_futex(const struct wait_stack *s);

/* Return how a wait on that stack is divided. */
enum pairing_rule wait_stack_rule(const struct wait_stack *s);

/* Return whether a thread that waits on that stack, if nobody ends the wait, has nothing to do. */
bool wait_stack_is_idle(const struct wait_stack *s);

/* Return what the wake with that stack is.  IN_INTERRUPT: the CPU handled an interrupt. */
enum pairing_ended wait_stack_kind(const struct wait_stack *s, bool in_interrupt);
