/* SPDX-License-Identifier: Apache-2.0 */
/* power - how many runs a comparison needs, and what it can find. */
#pragma once
#include <stddef.h>

/*
 * Return the power (0 to 1) to find a change of EFFECT standard deviations with RUNS on each side
 * at the significance LEVEL.
 */
double power_of_runs(size_t runs, double effect, double level);

/* Return how many runs each side needs for a power of 80 %; 0: more than 10,000. */
size_t power_runs_needed(double effect, double level);

/*
 * Return the factor for a standard deviation estimated with DF degrees of freedom, such that
 * changes computed from it are found in about 80 of 100 comparisons, over all such estimates.
 */
double power_seen_factor(double df);

/*
 * Return the factor that turns a standard deviation estimated with DF degrees of freedom into the
 * upper 80 % limit of the true standard deviation.
 */
double power_pilot_factor(double df);
