/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mappings - the mappings of one address space, sorted by address; they never overlap.
 *
 * Copies share memory.  A change to a copy duplicates only the changed part, so that a
 * process and its forked children keep their common mappings once.  Finding, setting and
 * removing take logarithmic time.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
	uint64_t start, end;	/* addresses in the process: [start, end) */
	uint64_t file_offset;	/* bytes: the offset of START in the object */
	uint32_t object;	/* id in spaces.objects */
	bool is_main;		/* the executable that the process runs */
	bool is_jit;		/* from simpleperf: symbols have the process's addresses */
	/*
	 * Anonymous memory replaced OBJECT's mapping here: either OBJECT's text was moved
	 * into it, or OBJECT is no longer mapped and the memory has other code.
	 */
	bool is_covered;
	uint32_t cover;		/* object id of that memory, if IS_COVERED */
	uint32_t generated;	/* number of code that the kernel generated; 0: other code */
};

struct mapping_node;

/* Zero-initialised: nothing is mapped. */
struct mappings {
	struct mapping_node *root;
};

static inline bool mappings_are_none(const struct mappings *in)
{
	return !in->root;
}

/* Return the first mapping that ends after ADDRESS, or NULL.  Valid until IN changes. */
const struct mapping *mappings_from(const struct mappings *in, uint64_t address);

/* Return the last mapping that starts before ADDRESS, or NULL.  Valid until IN changes. */
const struct mapping *mappings_before(const struct mappings *in, uint64_t address);

/* Return the mapping that contains ADDRESS, or NULL.  Valid until IN changes. */
const struct mapping *mappings_find(const struct mappings *in, uint64_t address);

/* Add NEW, which must not be empty.  It replaces whatever is mapped at its addresses. */
void mappings_set(struct mappings *in, struct mapping new);

/* Remove whatever is mapped in [START, END), also parts of mappings. */
void mappings_remove(struct mappings *in, uint64_t start, uint64_t end);

/* Return a copy of FROM, in constant time.  The caller releases it. */
struct mappings mappings_copy(const struct mappings *from);

/*
 * Set LIVE[id] for each object that a mapping has, and for its cover.  Each pass over all address
 * spaces has a ROUND of its own, so that memory that they share is visited once per pass.
 */
void mappings_mark(const struct mappings *in, uint32_t round, bool *live);

void mappings_release(struct mappings *in);
