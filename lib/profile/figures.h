/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures - a comment of a profile, for each event: what statistics need, and samples do not
 * have.  pmu-topprof(1) documents its text.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { FIGURES_SIZE = 600 };	/* bytes of a comment, with its NUL */

struct figures {
	uint64_t samples;	/* in the profile, without those that were lost */
	double squares;		/* sum of the squares of the samples' values */
	uint64_t lost;		/* samples */
	uint64_t enabled, running;	/* ns, of all threads or CPUs; 0: unknown */
	bool is_complete;	/* each occurrence is a sample */
	bool is_group;		/* read at the samples of another event, or with others */
	const char *run;	/* name of the recording; "": it has none */
	const char *count, *value;	/* names of the event's sample types */
};

/* What a comment says.  Names longer than these are cut. */
struct figures_text {
	char run[16], count[200], value[200];
};

/* Write the comment of F to TEXT. */
void figures_write(char text[FIGURES_SIZE], const struct figures *f);

/* Read COMMENT into F, whose texts are then in ROOM.  Return false if it is another comment. */
bool figures_read(const char *comment, struct figures *f, struct figures_text *room);
