/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data-place - what the data address of a sample is in: a variable, a stack, the heap.
 *
 * A datum (resolved/resolved.h) is defined once for each variable, and for each piece of memory
 * that has one name, never for an address: memory is bounded by the number of symbols, mappings and
 * threads that were used, whatever the number of addresses.
 *
 * How an address gets its name:
 * - If a program or library covers it, also beyond the bytes of its file (.bss), the variable of
 *   its symbol table; else the function there; else the object itself.
 * - In the mapping of another file, that file.
 * - In [stack], or below it where it may have grown, the stack of the process's main thread.  If
 *   the sample has the stack pointer of the program, memory near it is the stack of the sample's
 *   thread; all memory above it, if the mapping has a guard below it, as a thread's stack has.
 * - Other memory, by the function that touched its page first, if the stream has page faults, and
 *   roughly by the size that the mapping had then.
 * - In the kernel, the variable of kallsyms.  Memory that the kernel allocated, and variables that
 *   exist once for each CPU, have no names.
 *
 * Thread-local variables have no names: no sample has the thread pointer.  Those of a thread are in
 * the mapping of its stack.
 */
#pragma once
#include "process/first-touch.h"
#include "resolve/place.h"

/* The result of a look-up. */
struct data_place {
	uint32_t datum;		/* id in the definitions */
	uint64_t offset;	/* bytes: of the address, in the datum */
	struct source_place in;	/* of a variable or function: its file; else no source */
};

struct data_places {
	/* The owner sets these; all others are zero at first. */
	struct resolved *definitions;	/* data are defined here */
	struct spaces *spaces;
	struct places *places;
	struct object_ranges *ranges;
	struct namer *namer;
	/* private: */
	struct first_touches touches;
	struct table table;		/* over KEY */
	struct datum_key {		/* what a datum was defined for */
		uint64_t address, thread;
		uint32_t object;	/* id in the definitions */
		uint32_t name;		/* of a first touch; 0: none */
		uint16_t kind;
	} *key;				/* by id of the datum */
};

/*
 * Find what sample->addr, which is not 0, is in.  ATTR: of the sample's event.  The result is valid
 * until the next record.
 */
struct data_place data_place_find(struct data_places *d, const struct sampled *s,
				  const struct sample *sample, const struct perf_event_attr *attr);

/*
 * Note who touched a page, if SAMPLE, of the event ATTR, is a page fault.  The FRAMES frames in
 * FRAME are its stack.  Call it before data_place_find().
 */
void data_place_note(struct data_places *d, const struct sample *sample,
		     const struct perf_event_attr *attr, const uint32_t *frame, uint32_t frames);

/* Forget all data, because there are new definitions. */
void data_places_restart(struct data_places *d);

void data_places_release(struct data_places *d);
