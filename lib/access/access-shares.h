/* SPDX-License-Identifier: Apache-2.0 */
/* access-shares - the shares of rows with their intervals, and percentiles of weights. */
#pragma once
#include "access/access-stream.h"
#include "access/accesses.h"
#include "compare/bars.h"

/* What shares are shares of. */
enum access_whole {
	ACCESS_OF_ALL,		/* of all accesses, by their periods */
	ACCESS_OF_ELSEWHERE,	/* of those that found a line modified in another cache */
};

/*
 * Make the bars B of the rows of A: b->row[I + 1] is of a->row[I].  FACTS are of their stream.  The
 * caller releases B.
 */
void access_shares(struct bars *b, const struct accesses *a, const struct access_facts *facts,
		   enum access_whole of);

/* Sort A's weights by row and weight.  Nothing can be added to A after that. */
void access_sort_weights(struct accesses *a);

/* A percentile of weights, with its interval for sampling error. */
struct access_percentile {
	uint64_t value, low, high;
	bool has_low, has_high;	/* false: there are too few samples for this limit */
};

/*
 * Set *OUT to the percentile Q, 0 to 1, of the weights of ROW.  Return false if it has none.  After
 * access_sort_weights().
 */
bool access_percentile(const struct accesses *a, uint32_t row, double q,
		       struct access_percentile *out);

/* Return the mean weight, by periods; 0: unknown. */
double access_mean_weight(const struct access_sums *sums);

/*
 * Return the order of A's rows: of lines only those that are contended, by their cost; of others
 * all, by the sum of their periods.  *COUNT is their number.  The caller frees.
 */
uint32_t *access_order_rows(const struct accesses *a, uint32_t *count);

/* The parts of rows, by row and cost. */
struct access_parts {
	uint32_t *order;	/* indices of parts */
	uint32_t *first;	/* by row: index in ORDER of its first part; one more at the end */
};

/* Return the parts of A, sorted.  The caller releases them with access_parts_release(). */
struct access_parts access_parts_sorted(const struct accesses *a);
void access_parts_release(struct access_parts *p);

/* Return how many offsets of ROW, a line, two or more threads used. */
uint32_t access_shared_offsets(const struct accesses *a, const struct access_parts *p,
			       uint32_t row);

/* Return how many threads used ROW, a line. */
uint32_t access_threads(const struct accesses *a, const struct access_parts *p, uint32_t row);
