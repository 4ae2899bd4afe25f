/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object-ranges - the objects of the resolved stream: each is a range of an object of lib/process,
 * such as a segment of a file, or a mapping of memory.
 *
 * A range that was defined keeps its id until a restart, and equal ranges have one id.
 */
#pragma once
#include "base/table.h"
#include "process/space.h"
#include "resolve/namer.h"

enum { OBJECT_RANGES_MAX = 1 << 18 };	/* further ranges are [unknown] */

#define OBJECT_REMOVED (TABLE_NONE - 1)	/* object of a range whose object was removed */

struct object_range {
	uint32_t object;	/* id in lib/process; TABLE_NONE: addresses without a mapping */
	uint64_t start, size;	/* addresses; SIZE in bytes */
	pid_t pid;		/* process that owns the memory; 0: the range is the same for all */
	uint32_t flags;		/* OBJECT_IS_MAIN: a program may also be mapped as a library */
	bool is_python;		/* Python's interpreter, which runs functions that have no code */
};

struct object_ranges {
	/* The owner sets these; all others are zero at first. */
	struct resolved *definitions;	/* ranges are defined here */
	struct namer *namer;		/* defines their paths */
	const struct objects *objects;	/* of lib/process */
	struct report *report;
	/* The owner may read this. */
	struct object_range *range;	/* by object of the definitions */
	/* private: */
	struct table table;		/* over RANGE */
};

/*
 * Return the definitions' id of a range of OBJECT of lib/process.  PID: the owner of memory, or 0.
 * The path of RANGE need not be set, nor its build ID, if the file was not read.
 */
uint32_t object_range_id(struct object_ranges *r, uint32_t object, pid_t pid,
			 struct resolved_object range);

/* Return the id of the range that stands for addresses without a mapping. */
uint32_t object_range_unknown(struct object_ranges *r);

/*
 * Return the new id of DEFINED, a definition of PAST that stood for the range OLD.  A range of a
 * removed object has an id of its own: no other address can be in it.
 */
uint32_t object_range_again(struct object_ranges *r, const struct resolved *past,
			    struct resolved_object defined, const struct object_range *old);

/* Mark ranges of objects that are not LIVE as removed, because the objects' ids are used again. */
void object_ranges_detach(struct object_ranges *r, const bool *live);

/* Forget all ranges, because there are new definitions.  Return them, for the caller to free. */
struct object_range *object_ranges_restart(struct object_ranges *r);
