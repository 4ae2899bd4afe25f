/* SPDX-License-Identifier: Apache-2.0 */
/* flame-bars - the error bars of the functions in a page, as pmu-top prints them. */
#pragma once
#include "show/bars.h"

struct flame;
enum flame_side { FLAME_PROFILE, FLAME_BASE, FLAME_SIDES };

/* The error bars of one sample type. */
struct flame_bars {
	char *note;		/* lines on the samples and on the bars, or why there are none */
	uint32_t functions;	/* size of CODE[]; 0: there are no bars */
	/*
	 * By function: 2 * (2 + half the width of the bar in hundredths of a percentage point),
	 * or 2 for an exact share; plus 1 for the mark "~".  0: the function has no bar.
	 */
	uint32_t *code[BARS_KINDS];
	/*
	 * By function: how many times larger the standard error of its share is than that of a
	 * steady function, because it varies within one of the recordings; at least 1.
	 */
	double *spread;
	uint32_t spreads;	/* size of SPREAD[]; 0: unknown */
};

/*
 * Make F->bars from D, which has just been added to F as SIDE; of a base only how much shares
 * vary.  WHY_NOT: the reason why D can have no bars; NULL: as D says.
 */
void flame_make_bars(struct flame *f, const struct decoded *d, enum flame_side side,
		     const char *why_not);

/* Return the factor SPREAD[FUNCTION] of type TYPE; 1: unknown. */
double flame_spread(const struct flame *f, uint32_t type, uint32_t function);

/* Free what flame_make_bars() has made. */
void flame_free_bars(struct flame *f);
