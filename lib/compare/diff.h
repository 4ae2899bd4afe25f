/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff - finds the functions that changed between the profiles of a base and later profiles.
 *
 * With one run on each side, diff compares shares; blocks of time show how much they vary.  With
 * several runs, it compares the values of whole runs: per run, per second, per unit of work, or
 * as shares.
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
#include "compare/compare.h"
#include "compare/top.h"

enum diff_side { DIFF_BASE, DIFF_AFTER };

/* The unit that values are divided by. */
enum diff_per {
	DIFF_PER_AUTO,		/* run, second or share: the first that the profiles allow */
	DIFF_PER_RUN,		/* a run of a command from its start to its end */
	DIFF_PER_SECOND,
	DIFF_PER_SHARE,		/* the total of a run */
	DIFF_PER_UNIT,		/* a unit of work */
};

struct diff_how {
	enum diff_per per;
	double units;		/* units of work in each run */
	struct top_how rows;
	bool cumulative;	/* the value of a function includes the functions it calls */
	bool paired;		/* run i of the base belongs to run i after it */
	double fdr;		/* false discovery rate */
	double limit;		/* relative growth that the one-sided test compares with */
};

/* A recording. */
struct diff_run {
	char *file, *name;	/* name of the file, for messages; label of the run, or "" */
	struct top top;
	struct bars bars;
	int64_t time, duration;	/* ns since the epoch, and ns */
	bool is_whole;		/* recorded a command from its start to its end */
	bool is_merged;		/* several recordings that cannot be separated */
	uint32_t *row;		/* by number of a name: its row in TOP; 0: none */
};

struct diff_runs {
	struct diff_run *run;
	size_t count;
};

enum diff_group { DIFF_GREW, DIFF_SHRANK, DIFF_NEW, DIFF_GONE, DIFF_SAME, DIFF_FEW };

/* A function, or the total. */
struct diff_row {
	const char *name;
	uint32_t number;	/* private: number of the name */
	double base, after;	/* mean values of both sides */
	/* change relative to the base, with its interval; single runs: difference of shares */
	double change, low, high;
	double low_called, high_called;	/* if it is called: wider, as it was chosen */
	struct change found;	/* private: of shares, values or logarithms, by SCALE */
	enum diff_scale { DIFF_SHARES, DIFF_VALUES, DIFF_LOGS } scale;
	double p, q, above;	/* above: p of the one-sided test against the limit */
	double deviation;	/* standard deviation of the logarithms of runs; 0: unknown */
	enum diff_group group;
	enum verdict verdict;
	bool is_presence;	/* some runs do not have it; the others show that */
	bool is_above;		/* significantly above the limit */
};

/* Functions with fewer samples a run, on average, are not compared. */
enum { DIFF_FEWEST = 5 };

#define DIFF_USUAL_FDR 0.05

/* Names of verdicts, by enum verdict. */
extern const char *const diff_verdict_name[];

struct diff {
	struct diff_how how;
	struct diff_runs side[2];
	const char *unit;	/* unit of the values, owned by D */
	char *type;		/* sample type of all profiles */
	struct diff_row total, *row;	/* ROW: the sure ones, unsteady ones, then the rest; in each
					   the largest change first */
	struct verdict_limits limits;	/* of the rows that are called */
	uint32_t *row_of;	/* private: by number of a name: 1 + its index in ROW */
	bool has_total_test;	/* TOTAL has a change with an interval */
	size_t rows, tested;	/* number of rows; of rows with enough samples to compare */
	struct intern names;	/* names of all rows */
	const char *why_not;	/* after a failure: the reason why the sides cannot be compared */
	char *unit_text;	/* private: storage of UNIT */
	struct arena texts;	/* private: names that differ from those in NAMES */
};

/*
 * Add the runs of PROFILE, called FILE, to SIDE.  TYPE is the index of its sample type.  Return
 * false (reported) if it cannot be compared with the profiles that were added before.
 */
bool diff_add(struct diff *d, enum diff_side side, const struct decoded *profile,
	      const char *file, size_t type, struct report *report);

/*
 * Compare the shares of BASE with those of AFTER, for a table or page that shows verdicts; if BASE
 * is NULL, those of both sides of AFTER, a difference.  BASE_TYPE and TYPE are the indices of the
 * sample type.  D has only D->how, of which PER is set here.  Return false without a message, and
 * set D->why_not, if they cannot be compared.
 */
bool diff_judge(struct diff *d, const struct decoded *base, size_t base_type,
		const struct decoded *after, size_t type);

/* Return whether PROFILE is a difference: it has samples of a base. */
bool diff_has_sides(const struct decoded *profile);

/* Compare the sides: set D->total and D->row.  Return false (reported) if D->how is impossible. */
bool diff_make(struct diff *d, struct report *report);

/* Return the row called NAME, as a struct top calls it, or NULL. */
const struct diff_row *diff_find(const struct diff *d, const char *name);

/* The same for the addresses without a function in the object at PATH. */
const struct diff_row *diff_find_object(const struct diff *d, const char *path);

/* Return whether each side has one run. */
bool diff_is_single(const struct diff *d);

/* Return whether all runs of one side were recorded before all runs of the other. */
bool diff_is_ordered(const struct diff *d);

/* Return a run that was added to the same side twice, or NULL. */
const struct diff_run *diff_repeated(const struct diff *d);

/* Return the change of ROW that 4 of 5 such comparisons find; INFINITY: none. */
double diff_change_seen(const struct diff *d, const struct diff_row *row);

/*
 * Return how many runs (single runs: samples) each side needs to find CHANGE of ROW in 4 of 5
 * comparisons; 0: too many.
 */
double diff_needed(const struct diff *d, const struct diff_row *row, double change);

/* Return how many runs (single runs: samples) the smaller side has. */
double diff_has(const struct diff *d);

void diff_release(struct diff *d);
