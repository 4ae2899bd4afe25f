/* SPDX-License-Identifier: Apache-2.0 */
/* flame-bars - the error bars of the functions in a page, as pmu-top prints them. */
#pragma once
#include "compare/bars.h"

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
};

/*
 * Make F->bars from D, the profile that has just been added to F.  WHY_NOT: the reason why D can
 * have no bars; NULL: as D says.
 */
void flame_make_bars(struct flame *f, const struct decoded *d, const char *why_not);

/* Return the index in D of F's type number TYPE, or TABLE_NONE. */
uint32_t flame_type_in(const struct decoded *d, const struct flame *f, uint32_t type);

/* Free what flame_make_bars() has made. */
void flame_free_bars(struct flame *f);
