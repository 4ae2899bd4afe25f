/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/power.h"
#include "stats/distribution.h"

#include <math.h>

double power_of_runs(size_t runs, double effect, double level)
{
	/* the noncentral t, by Johnson and Welch */
	double df = 2 * (double)runs - 2, shift = effect * sqrt((double)runs / 2);
	double t = stats_t_quantile(level / 2, df);

	return stats_normal_tail((t * (1 - 1 / (4 * df)) - shift) / sqrt(1 + t * t / (2 * df)));
}

size_t power_runs_needed(double effect, double level)
{
	for (size_t runs = 2; runs <= 10000; runs++)
		if (power_of_runs(runs, effect, level) >= 0.8)
			return runs;
	return 0;
}

double power_seen_factor(double df)
{
	/* simulated: with few degrees of freedom small estimates mislead most */
	double p = df < 3 ? 0.015 : df < 5 ? 0.1 : 0.25;

	return sqrt(df / stats_chi_square_quantile(p, df));
}

double power_pilot_factor(double df)
{
	return sqrt(df / stats_chi_square_quantile(0.2, df));
}
