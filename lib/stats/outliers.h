/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outliers - values far away from the others of their group.
 *
 * Whether a value is an outlier depends on the middle half of the values only, so that outliers do
 * not hide each other.
 */
#pragma once
#include <stddef.h>

struct outlier_limits {
	double low, high;	/* a value below LOW or above HIGH is an outlier */
	double median;
};

/*
 * Return the limits for COUNT values, none of them a NaN: three times the distance between the
 * quartiles below the first and above the third quartile (Tukey's outer fences).  A distance below
 * LEAST counts as LEAST.  With fewer than five values, no value is an outlier.
 */
struct outlier_limits outliers_limits(const double *value, size_t count, double least);
