/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outputs - writes the profiles that a stream is cut into: all to one output, or each to a file
 * of its own, which appears when it is complete.
 */
#pragma once
#include "aggregate/collect.h"
#include "pgo/pgo.h"
#include "rows/row-write.h"

#include <limits.h>

/*
 * Zero-initialised except for REPORT and where profiles go: SINGLE, DIRECTORY, TEMPLATE or PGO.
 */
struct outputs {
	struct report *report;
	struct output *single;	/* one output; the caller opens and closes it */
	const char *directory;	/* a file for each process or thread goes there */
	const char *template;	/* path of each interval's file, for strftime(3) */
	struct pgo *pgo;	/* gets each profile; the caller makes one of them all */
	bool folded;		/* write folded stacks instead of profiles */
	struct row_writer *rows;	/* write rows instead; NULL: do not */
	struct output *list;	/* gets a line for each of several files; NULL: no list */
	const char *input;	/* file that is being read, and must not be replaced */
	uint64_t files, bytes, stacks;	/* totals: written files, bytes, distinct stacks */
	/* private: */
	int fd;			/* DIRECTORY, if it is open */
	char last[PATH_MAX];	/* path of the last interval's file */
	/* of a stream without a wall clock: when its first interval was named, and its start */
	uint64_t first_wall, first_time;
};

/* Create DIRECTORY, if necessary, and open it.  False: reported. */
bool outputs_open(struct outputs *o);

/* Write SUBJECT where it belongs, for collect_stream(); CONTEXT is a struct outputs. */
void outputs_write(struct collect *c, struct collect_subject *subject, void *context);

void outputs_close(struct outputs *o);
