/* SPDX-License-Identifier: Apache-2.0 */
/* share-internal - the variances of shares, for the estimates and tests of this module. */
#pragma once
#include "compare/share.h"

/* Variance of a share by the jackknife over groups of blocks. */
struct share_jackknife {
	double variance;
	uint32_t groups;	/* number of groups that are not empty */
};

/*
 * Return the jackknife variance of the share of the part with WEIGHT (by block).  GROUP is the
 * number of each block's group, ascending; NULL: each block is a group.
 */
struct share_jackknife share_jackknife(const struct share_whole *whole, const double *weight,
				       const uint32_t *group);

/* Return the group number of each block at LEVEL, or NULL if each block is a group. */
const uint32_t *share_level(const struct share_whole *whole, int level);

/* Return Hajek's variance of the share of PART. */
double share_floor(const struct share_whole *whole, const struct share_part *part);

/*
 * Return von Neumann's ratio of the shares in the blocks.  Set *BLOCKS to the number of blocks
 * that are not empty.
 */
double share_neumann(const struct share_whole *whole, const double *weight, uint32_t *blocks);

/* Return the limit below which that ratio falls for only 1 % of constant shares. */
double share_neumann_limit(uint32_t blocks);
