/* SPDX-License-Identifier: Apache-2.0 */
/* gates - limits of growth, such as instructions:+1%, and which of them a comparison exceeds. */
#pragma once
#include "base/report.h"
#include "counting/comparison.h"

struct counting_gate {
	char *name;		/* of the row */
	double limit;		/* 0.01: 1 % */
};

/* Zero-initialised: none. */
struct counting_gates {
	struct counting_gate *gate;
	size_t count;
};

/* Add the gates of TEXT: NAME:+PERCENT%, separated by commas.  Return false if it is not such. */
bool counting_gates_add(struct counting_gates *g, const char *text);

/*
 * Replace the names of the gates by those of ROWS, which may have modifiers (:u) that a gate lacks.
 * False (reported): there is no such row.
 */
bool counting_gates_resolve(struct counting_gates *g, const struct counting_rows *rows,
			    struct report *report);

/*
 * Return how many gates are exceeded in COUNT comparisons that have been judged, each with a note:
 * the whole interval of the change is above the limit, and so is the change by a one-sided test at
 * the false discovery rate FDR of all gates.  A gate that cannot be tested is reported.
 */
size_t counting_gates_exceeded(const struct counting_gates *g, const struct comparison *c,
			       size_t count, double fdr, struct report *report);

void counting_gates_release(struct counting_gates *g);
