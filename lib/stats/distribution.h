/* SPDX-License-Identifier: Apache-2.0 */
/* distribution - tails and quantiles: normal, Student's t, beta and chi-square. */
#pragma once

/* The z of 95 % confidence intervals. */
#define STATS_Z 1.959963984540054

/* Return the probability that a standard normal value is above X. */
double stats_normal_tail(double x);

/* Return the X for which stats_normal_tail(X) is TAIL, 0 to 1. */
double stats_normal_quantile(double tail);

/* The same for Student's t with DF > 0 degrees of freedom.  DF need not be an integer. */
double stats_t_tail(double x, double df);
double stats_t_quantile(double tail, double df);

/* Return the X such that a beta value with the parameters A, B > 0 is below X with P, 0 to 1. */
double stats_beta_quantile(double p, double a, double b);

/* Return the X such that a chi-square value with DF > 0 degrees of freedom is below X with P. */
double stats_chi_square_quantile(double p, double df);
