/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/distribution.h"

#include <float.h>
#include <math.h>

enum { STEPS = 300 };	/* limit of each iteration below; all converge far earlier */

double stats_normal_tail(double x)
{
	return erfc(x / M_SQRT2) / 2;
}

double stats_normal_quantile(double tail)
{
	if (tail > 0.5)
		return -stats_normal_quantile(1 - tail);
	if (tail <= 0)
		return INFINITY;
	/* Hastings' approximation has an error below 0.003; Newton steps refine it. */
	double t = sqrt(-2 * log(tail));
	double x = t - (2.30753 + 0.27061 * t) / (1 + (0.99229 + 0.04481 * t) * t);

	for (int i = 0; i < 6; i++) {
		double density = exp(-x * x / 2) / sqrt(2 * M_PI);
		double step = density > 0 ? (stats_normal_tail(x) - tail) / density : 0;
		x += step / (1 + x * step / 2);
	}
	return x;
}

/* Return the continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
	h = d;
	for (int m = 1; m < STEPS; m++) {
		for (int odd = 0; odd < 2; odd++) {
			double at = a + 2 * m;
			double n = odd ? -(a + m) * (a + b + m) * x / (at * (at + 1))
				       : m * (b - m) * x / ((at - 1) * at);
			d = 1 + n * d;
			c = 1 + n / c;
			d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
			c = fabs(c) < DBL_MIN ? DBL_MIN : c;
			h *= d * c;
		}
		if (fabs(d * c - 1) < 4 * DBL_EPSILON)
			break;
	}
	return h;
}

/* Return the regularised incomplete beta function of X.  REST is 1 - X, without cancellation. */
static double beta(double a, double b, double x, double rest)
{
	if (x <= 0 || rest <= 0)
		return x <= 0 ? 0 : 1;
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest));

	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
					 : 1 - front * beta_fraction(b, a, rest) / b;
}

double stats_beta_quantile(double p, double a, double b)
{
	double low = 0, high = 1;

	for (int i = 0; i < 60 && high - low > 1e-9 * high; i++) {
		double x = (low + high) / 2;
		if (beta(a, b, x, 1 - x) < p)
			low = x;
		else
			high = x;
	}
	return (low + high) / 2;
}

double stats_t_tail(double x, double df)
{
	if (isinf(df) || df > 1e10)
		return stats_normal_tail(x);
	double square = x * x, both = beta(df / 2, 0.5, df / (df + square), square / (df + square));

	return x >= 0 ? both / 2 : 1 - both / 2;
}

static double t_density(double x, double df)
{
	return exp(lgamma((df + 1) / 2) - lgamma(df / 2) - (df + 1) / 2 * log1p(x * x / df)) /
	       sqrt(df * M_PI);
}

double stats_t_quantile(double tail, double df)
{
	if (tail > 0.5)
		return -stats_t_quantile(1 - tail, df);
	if (tail <= 0)
		return INFINITY;
	double low = 0, high = 1, x;

	while (stats_t_tail(high, df) > tail && high < DBL_MAX / 4)
		high *= 2;
	/* Newton steps; bisection when a step leaves the interval known to hold the result. */
	x = fmin(stats_normal_quantile(tail), high);
	for (int i = 0; i < STEPS && high - low > 1e-13 * high; i++) {
		double over = stats_t_tail(x, df) - tail;
		if (over > 0)
			low = x;
		else
			high = x;
		double step = over / t_density(x, df);
		if (fabs(step) < 1e-13 * x)
			break;
		x += step;
		if (!(x > low && x < high))
			x = (low + high) / 2;
	}
	return x;
}

/* Return the regularised lower incomplete gamma function, by its series. */
static double gamma_lower(double a, double x)
{
	double term = 1 / a, sum = term;

	for (double n = 1; n < 100000 && term > sum * DBL_EPSILON; n++) {
		term *= x / (a + n);
		sum += term;
	}
	return sum * exp(-x + a * log(x) - lgamma(a));
}

double stats_chi_square_quantile(double p, double df)
{
	double low = 0, high = df + 10;

	while (gamma_lower(df / 2, high / 2) < p)
		high *= 2;
	for (int i = 0; i < 100; i++) {
		double x = (low + high) / 2;
		if (gamma_lower(df / 2, x / 2) < p)
			low = x;
		else
			high = x;
	}
	return (low + high) / 2;
}
