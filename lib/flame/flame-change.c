/* SPDX-License-Identifier: Apache-2.0 */
/* The same as in flame-weights.js: a picture and a page must not disagree. */
#include "flame/internal.h"

#include <math.h>
#include <stdbool.h>

/* Return the deviation of the normal distribution that is exceeded with PROBABILITY, <= 0.5. */
static double deviation_of(double probability)
{
	double s = sqrt(-2 * log(probability));		/* Abramowitz & Stegun 26.2.22 */
	double z = s - (2.30753 + 0.27061 * s) / (1 + 0.99229 * s + 0.04481 * s * s);

	return z > 0 ? z : 0;
}

/* Of N samples on both sides X are on the first, where FRACTION of N is expected. */
static double exact(double x, double n, double fraction)
{
	enum { TERMS = 4000 };		/* far above what is expected */

	if (fraction > 0.5)
		return -exact(n - x, n, 1 - fraction);
	bool up = x > n * fraction;
	double odds = log(fraction / (1 - fraction)), term = n * log(1 - fraction), tail = 0;

	for (double k = 0; k <= n && k < TERMS; k++) {	/* the logarithm of P(X = k) */
		if (up ? k >= x : k <= x)
			tail += exp(term);
		term += log((n - k) / (k + 1)) + odds;
	}
	double z = deviation_of(tail > 0.5 ? 0.5 : tail < 1e-300 ? 1e-300 : tail);
	return up ? z : -z;
}

double flame_change(struct flame_share a, struct flame_share b)
{
	enum { ENOUGH = 10 };		/* expected samples, for the normal approximation */

	if (a.all == 0 || b.all == 0)
		return 0;
	double p = a.value / a.all, q = b.value / b.all;
	if (a.samples <= 0 || b.samples <= 0)
		return p == q ? 0 : p > q ? 99 : -99;
	double x = round(p * a.samples), n = x + round(q * b.samples);
	double fraction = a.samples / (a.samples + b.samples);
	double mean = n / (a.samples + b.samples);
	if (n <= 0)
		return 0;
	if (n * (fraction < 0.5 ? fraction : 1 - fraction) < ENOUGH)
		return exact(x, n, fraction);
	double variance = mean * (1 - mean) * (1 / a.samples + 1 / b.samples);
	return (p - q) / sqrt(variance > 0 ? variance : 1);
}
