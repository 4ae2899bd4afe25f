/* SPDX-License-Identifier: Apache-2.0 */
/* internal - what only this module uses; the files are named. */
#pragma once
#include "pprof/decode.h"

/* distribution - tails and quantiles: normal, Student's t, beta and chi-square. */

/* The z of 95 % confidence intervals. */
#define STATS_Z 1.959963984540054

/* Return the probability that a standard normal value is above X. */
double stats_normal_tail(double x);

/* Return the X for which stats_normal_tail(X) is TAIL, 0 to 1. */
double stats_normal_quantile(double tail);

/* The same for Student's t with DF > 0 degrees of freedom.  DF need not be an integer. */
double stats_t_tail(double x, double df);
double stats_t_quantile(double tail, double df);

/* Return the X such that a beta value with the parameters A, B > 0 is below X with P. */
double stats_beta_quantile(double p, double a, double b);

/* Return the X such that a chi-square value with DF degrees of freedom is below X with P. */
double stats_chi_square_quantile(double p, double df);

/* wait-frames - the kernel's frames in which a thread waits, as one frame: "[waits: futex]". */

/*
 * Return how many locations at the leaf of STACK are frames of the kernel.  Write one NAME for all
 * of them, of at most SIZE bytes.  If the leaf has a name in brackets, such as "[preempted]", this
 * is the name.  Otherwise it is the system call in which the thread waited, or "[waits]" if no
 * frame is a system call.
 */
size_t wait_frames(const struct decoded *d, const struct decoded_sample *stack, char *name,
		   size_t size);
