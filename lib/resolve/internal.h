/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of resolver: the parts that it composes.  Each part has a header, which says what
 * holds of it, and knows only the parts that were given to it:
 *
 *	callchain	a sample to frames, by the first cache
 *	data-place	a data address to what it is in
 *	place		an address to a place: in a file, the kernel, code of a JIT compiler
 *	frame-index	a place to a frame
 *	namer		a place to names and lines
 *	jits		the files of JIT compilers, and frames that wait for names from them
 *	object-ranges	a range of an object to an object of the resolved stream
 *
 * Only four files see all of them: resolver.c, late names (late.c), restarts (restart.c), and the
 * report of names (name-report.c).
 */
#pragma once
#include "resolve/callchain.h"
#include "resolve/data-place.h"
#include "resolve/resolver.h"
#include "resolve/source-internal.h"
#include "resolved/chain-index.h"
#include "waits/wait-stack.h"

struct resolver {
	struct resolved *definitions;
	struct report *report;
	bool symbols;			/* options.symbols */
	struct spaces spaces;
	struct sources sources;		/* by object of lib/process */
	struct jits jits;
	struct object_ranges ranges;
	struct namer namer;
	struct places places;
	struct frame_index frames;
	struct callchains callchains;
	struct chain_index chains;
	struct data_places data;
	struct wait_names wait_names;
	struct stack_ends ends;		/* counts of how stacks end */
	struct {
		uint32_t *string;	/* by name in spaces.tasks; 0: not used yet */
		uint32_t size;		/* elements of STRING */
		uint32_t renumbered;	/* spaces.tasks.renumbered when STRING was empty */
	} thread_names;
	uint64_t time;			/* of the last sample, in jitdump's clock; 0: none yet */
	uint64_t python_samples;	/* samples in Python's interpreter ... */
	pid_t python_pid;		/* ... and the process of the last one */
	uint64_t limit;			/* bytes of definitions until a restart */
	uint64_t limit_min;		/* least value of LIMIT */
};

/* If there are many objects, remove those that are mapped nowhere any more. */
void resolver_remove_objects(struct resolver *r);

/* Forget the strings of thread names, because names or strings have new ids. */
void resolver_forget_thread_names(struct resolver *r);

/*
 * Look for the names of the frames of process PID that wait, and advise if it has none: PID has
 * ended.
 */
void resolver_name_ended(struct resolver *r, const struct stream_reader *in, pid_t pid);
