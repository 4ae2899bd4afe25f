/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff - which functions changed between the profiles of a base and those after it, and how
 * sure that is.
 *
 * With one run a side, shares are compared, by the blocks of time in each.  With several, the
 * values of whole runs are: per run, per second, per unit of work, or as shares.
 *
 *	struct diff d = { .how = ... };
 *
 *	diff_add(&d, DIFF_BASE, profile, "base.pb.gz", type, report);	for each profile
 *	if (diff_make(&d, report))
 *		use d.total and d.row
 *	diff_release(&d);
 */
#pragma once
#include "base/report.h"
#include "show/top.h"
#include "stats/compare.h"

enum diff_side { DIFF_BASE, DIFF_AFTER };

/* What values are of. */
enum diff_per {
	DIFF_PER_AUTO,		/* the first of the following that the profiles allow */
	DIFF_PER_RUN,		/* a command from its start to its end */
	DIFF_PER_SECOND,
	DIFF_PER_SHARE,		/* of all values of a run */
	DIFF_PER_UNIT,		/* of work */
};

struct diff_how {
	enum diff_per per;
	double units;		/* of work in each run */
	struct top_how rows;
	bool cumulative;	/* values of functions with all that they call */
	bool paired;		/* the first run of a side with the first of the other, ... */
	double fdr;		/* false discovery rate */
	double limit;		/* of the one-sided test; 0: none */
};

/* A recording. */
struct diff_run {
	char *file, *name;	/* as for messages; of the run, or "" */
	struct top top;
	struct bars bars;
	int64_t time, duration;	/* ns since the epoch, and ns */
	bool is_whole;		/* a command from its start to its end */
	bool is_merged;		/* of several recordings that look like one */
	uint32_t *row;		/* by name: its row in TOP; 0: none */
};

struct diff_runs {
	struct diff_run *run;
	size_t count;
};

enum diff_group { DIFF_GREW, DIFF_SHRANK, DIFF_NEW, DIFF_GONE, DIFF_SAME, DIFF_FEW };

/* A function, or the total. */
struct diff_row {
	const char *name;
	uint32_t number;	/* private: of the name */
	double base, after;	/* mean values, or shares */
	double change, low, high;	/* relative to the base; of one run a side: of the share */
	double p, q, above;	/* above: p of the one-sided test against the limit */
	double deviation;	/* of the logarithms of runs; 0: unknown */
	enum diff_group group;
	bool is_above;		/* called, and surely above the limit */
};

struct diff {
	struct diff_how how;
	struct diff_runs side[2];
	const char *unit;	/* of values, owned by D */
	char *type;
	struct diff_row total, *row;	/* by name, sorted by the size of the change */
	bool has_total_test;
	size_t rows, tested;
	struct intern names;
	char *unit_text;
	struct arena texts;
};

/*
 * Add the runs of PROFILE, called FILE, to SIDE; TYPE is the index of its sample type.  Return
 * false (reported) if it cannot be compared with the profiles before.
 */
bool diff_add(struct diff *d, enum diff_side side, const struct decoded *profile,
	      const char *file, size_t type, struct report *report);

/* Compare.  Return false (reported) if that cannot be done as asked. */
bool diff_make(struct diff *d, struct report *report);

/* Return whether each side has one run. */
bool diff_is_single(const struct diff *d);

/* Return whether all runs of one side came before all of the other. */
bool diff_is_ordered(const struct diff *d);

/* Return a run that is on one side twice, or NULL. */
const struct diff_run *diff_repeated(const struct diff *d);

/* Return the change of ROW that is seen in 4 of 5 such comparisons; INFINITY: none. */
double diff_change_seen(const struct diff *d, const struct diff_row *row);

/* Return the runs, or samples, a side that it takes to see CHANGE of ROW so; 0: too many. */
double diff_needed(const struct diff *d, const struct diff_row *row, double change);

/* Return the runs, or samples, that the smaller side has. */
double diff_has(const struct diff *d);

void diff_release(struct diff *d);
