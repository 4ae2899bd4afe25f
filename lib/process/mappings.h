/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mappings - what is mapped in one address space, by address; mappings never overlap.
 *
 * Copies share memory until one of them changes, and then differ in what has changed
 * alone: a process that forks has its mappings once, whatever its children do.  To find,
 * to set and to remove takes a time that grows with the logarithm of their number.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
	uint64_t start, end;	/* addresses in the process; END is the first after it */
	uint64_t file_offset;	/* of START's byte in the object */
	uint32_t object;	/* id in spaces.objects */
	bool is_main;		/* of the executable that the process runs */
	bool is_jit;		/* simpleperf's: its symbols are at addresses of the process */
	/*
	 * Anonymous memory has come here: either OBJECT's text was moved there, or
	 * OBJECT is no longer mapped, and other code is there.
	 */
	bool is_covered;
	uint32_t cover;		/* id of that memory, if IS_COVERED */
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

/* The first mapping that ends after ADDRESS, or NULL.  Valid until IN changes. */
const struct mapping *mappings_from(const struct mappings *in, uint64_t address);

/* The mapping that covers ADDRESS, or NULL.  Valid until IN changes. */
const struct mapping *mappings_find(const struct mappings *in, uint64_t address);

/* Add NEW, which is not empty, in place of whatever is mapped there. */
void mappings_set(struct mappings *in, struct mapping new);

/* Remove whatever is mapped from START to END, a part of a mapping, too. */
void mappings_remove(struct mappings *in, uint64_t start, uint64_t end);

/* A copy of FROM. */
struct mappings mappings_copy(const struct mappings *from);

void mappings_release(struct mappings *in);
