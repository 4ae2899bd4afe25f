/* SPDX-License-Identifier: Apache-2.0 */
/* flame-change - whether a share of samples has changed by more than chance. */
#pragma once

/* The share of a function: its value, the value of all, and the number of samples in all. */
struct flame_share {
	double value, all;
	double samples;		/* 0: unknown */
};

/* Changes below this are shown in grey. */
#define FLAME_SIGNIFICANT 3.0

/*
 * Return by how many standard errors the share of A is above that of B.  If samples are few, the
 * probability is exact (binomial), so one new sample is not significant.  If the numbers of samples
 * are unknown, chance is, too: the result is 99 for any rise and -99 for any fall.
 */
double flame_change(struct flame_share a, struct flame_share b);
