/* SPDX-License-Identifier: Apache-2.0 */
/* flame-change - whether a share of samples has changed by more than chance. */
#pragma once

/* One side of a comparison: the value of a function, of all, and the number of samples in all. */
struct flame_part {
	double value, all;
	double samples;		/* 0: unknown */
};

/* Changes below this are shown in grey. */
#define FLAME_SIGNIFICANT 3.0

/*
 * Return by how many standard errors the share of A is above that of B.  Where samples are
 * few the probability is exact (binomial): one new sample is no news.  Without numbers of
 * samples nothing is known of chance: 99 for any rise, -99 for any fall.
 */
double flame_change(struct flame_part a, struct flame_part b);
