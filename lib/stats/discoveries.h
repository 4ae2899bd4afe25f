/* SPDX-License-Identifier: Apache-2.0 */
/* discoveries - which of many tests are reported, by a limit of the false discovery rate. */
#pragma once
#include <stddef.h>

/*
 * Set Q[i] to the lowest false discovery rate at which test i is called, by the method of
 * Benjamini and Hochberg.  P[i] is the p of test i, 0 to 1.
 */
void discoveries_find(const double *p, size_t count, double *q);

/* Return the largest P[i] with a Q[i] up to FDR, or -1 if none has. */
double discoveries_limit(const double *p, const double *q, size_t count, double fdr);
