/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks - whether one group of values tends to be larger than another: the rank-sum test of
 * Wilcoxon, or of Mann and Whitney.
 *
 * The test assumes nothing about the shape of the values.  An outlier counts as the largest or the
 * smallest value, however far out it is.
 */
#pragma once
#include <stddef.h>

/*
 * Return the two-sided p, above 0 and at most 1, of the ranks of BASES and AFTERS values, one or
 * more on each side.  Equal values get the mean of their ranks.  With at most 30 values on each
 * side, p is exact: it counts all ways to divide the same ranks, also ranks of equal values.  With
 * more, it is from the normal distribution, with corrections for continuity and for equal values.
 * No value is a NaN.
 */
double ranks_test(const double *base, size_t bases, const double *after, size_t afters);
