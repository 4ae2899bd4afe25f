/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share - how sure the share of a function in a profile is.
 *
 * The error has two parts.  The floor is the error of sampling this recording: Hajek's
 * linearised variance of a ratio, from the squares of the samples' weights.  The program's own
 * variation shows between blocks of time: the jackknife leaves out one block after another,
 * then one pair of neighbouring blocks after another, and with three runs or more one run
 * after another.  The largest variance makes an effective number of samples, and that makes
 * Wilson's interval.
 *
 * A function whose share changes slowly over the recording is marked: one recording cannot
 * tell whether the next one will do the same, so its bar holds for this recording only.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* The levels of groups: blocks of time, pairs of neighbours, runs. */
enum { SHARE_LEVELS = 3 };

/* All samples of a profile, by blocks of time. */
struct share_whole {
	uint32_t blocks;
	const double *weight;	/* by block: sum of the weights; 0: empty */
	const uint32_t *pair;	/* by block: number of its pair of neighbours, ascending */
	const uint32_t *run;	/* by block: number of its run, ascending from 0 */
	uint32_t runs;
	double total;		/* of all weights, also of samples that are in no block */
	double squares;		/* of all weights: V * V / c for each cell of value V, count c */
	bool is_complete;	/* all events are recorded: there is no sampling error */
	double price[SHARE_LEVELS];	/* of a variance by groups, set by share_prepare() */
};

/* Part of them. */
struct share_part {
	const double *weight;	/* by block */
	double total, squares;
	double samples;		/* counted, not weighted */
};

struct share_bar {
	double share;
	double low, high;		/* in which the share of the program is */
	double low_run, high_run;	/* in which the share in this recording is */
	double floor, variance;		/* of sampling alone; the largest of all levels */
	double effective;		/* number of samples that would have this variance */
	bool is_marked;			/* the share is not constant over the recording */
	bool is_exact;			/* nothing is estimated: no bar */
};

/* Variance of a share by the jackknife over groups of blocks. */
struct share_jackknife {
	double variance;
	uint32_t groups;	/* that are not empty */
};

/* Set *LOW and *HIGH to Wilson's interval of the share P of N samples. */
void share_wilson(double p, double n, double *low, double *high);

/* GROUP: by block, ascending; NULL: each block is a group. */
struct share_jackknife share_jackknife(const struct share_whole *whole, const double *weight,
				       const uint32_t *group);

/*
 * Set W->price from the blocks: at each level the square of t / z, because an estimated variance
 * counts more than a known one; 0 where groups are too few to say anything: fewer than 5 blocks
 * or pairs, or 3 runs.
 */
void share_prepare(struct share_whole *w);

/* Return the groups of LEVEL: numbers by block, or NULL: each block is a group. */
const uint32_t *share_level(const struct share_whole *whole, int level);

/* Return Hajek's variance of the share of PART. */
double share_floor(const struct share_whole *whole, const struct share_part *part);

/* Return the ratio of von Neumann of the shares in blocks, and set *BLOCKS to their number. */
double share_neumann(const struct share_whole *whole, const double *weight, uint32_t *blocks);

/* Return the limit of that ratio: below it, 1 % of constant shares are. */
double share_neumann_limit(uint32_t blocks);

struct share_bar share_bar(const struct share_whole *whole, const struct share_part *part);

/* Return whether B cannot even tell the share from nothing: less than about 4 samples. */
bool share_is_little(const struct share_bar *b);
