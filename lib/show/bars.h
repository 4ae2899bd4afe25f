/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bars - the error bars of the rows of a top, from the counts and the labels "slice" and "run"
 * of a profile's samples.
 *
 *	struct bars b;
 *
 *	bars_init(&b, profile, type, NULL);
 *	for each i < b.samples
 *		if (bars_take(&b, &reader.sample, i))
 *			bars_count() for each row of the sample
 *	bars_finish(&b, rows);
 *	use bars_part(), or b.row[] after bars_make()
 *	bars_release(&b);
 */
#pragma once
#include "profile/decode.h"
#include "stats/share.h"

enum bars_of { BARS_FLAT, BARS_CUMULATIVE, BARS_KINDS };

/* The samples of a run. */
struct bars_run {
	const char *name;	/* text of their label "run" */
	const uint32_t *sample;	/* indices */
	uint32_t samples;
};

/* The sum of a row in a block. */
struct bars_cell {
	uint32_t row, block;
	double weight;
};

/* The sums of all rows, of one kind. */
struct bars_sums {
	struct bars_sum {
		double weight;		/* in the current block */
		double total, squares, samples;	/* in all blocks */
	} *row;
	uint32_t rows;
	uint32_t *touched, touches;	/* rows with a weight in the current block */
	struct bars_cell *cell;		/* by row after bars_finish() */
	size_t cells;
	size_t *first;			/* by row: index of its first cell; one more at the end */
};

struct bars_block {
	uint32_t run;		/* number of its run, from 0 on */
	uint32_t number;	/* in its run */
	double samples, lost;	/* counted */
	double weight;
};

struct bars {
	const char *why_not;	/* why there are no bars; NULL: there are */
	uint32_t *order;	/* samples, by block; those of no block come first */
	uint32_t samples;	/* of ORDER */
	double taken, lost;	/* samples of the event, counted */
	struct share_whole whole;	/* set by bars_finish() */
	uint32_t spans;		/* blocks that are not empty */
	bool has_slices;	/* some sample has a slice */
	bool is_group;		/* the event was read with others, as the profile states */
	struct bars_row {
		struct share_bar bar[BARS_KINDS];
	} *row;			/* by row, set by bars_make(); NULL before */
	/* private: */
	const struct decoded *d;
	uint32_t value, count;	/* indices of the sample types; COUNT equals VALUE for counts */
	int64_t period;		/* of all samples, if there is no type with counts; 0: there is */
	double exact;		/* sum of squares that the profile states; 0: none */
	uint32_t *block_of;	/* by index in ORDER: index of its block; TABLE_NONE: none */
	struct bars_block *block;
	uint32_t blocks, current;	/* number of blocks; index of the current block */
	double *weight;		/* of WHOLE */
	uint32_t *pair, *run;	/* of WHOLE */
	double factor, cell_weight, cell_squares, cell_samples;	/* of the current sample */
	double *scratch[BARS_KINDS];	/* by block, of a row */
	struct bars_sums sums[BARS_KINDS];
	bool *is_lost;		/* by location: it stands for lost samples */
};

/*
 * Look at the samples of D, values of sample type VALUE.  RUN: only these; NULL: all.  If bars
 * cannot be made, B->why_not says why, and B->order has the samples in their order.
 */
void bars_init(struct bars *b, const struct decoded *d, size_t value,
	       const struct bars_run *run);

/*
 * The sample B->order[INDEX] is next; they come in this order.  Return false if it stands for
 * lost samples, which are no part of the whole.
 */
bool bars_take(struct bars *b, const struct decoded_sample *sample, uint32_t index);

/* Count the sample for ROW: once for each kind that it belongs to. */
void bars_count(struct bars *b, uint32_t row, enum bars_of kind);

/* All samples have been counted, for ROWS rows.  B->order is no longer needed. */
void bars_finish(struct bars *b, uint32_t rows);

/* Return the part of ROW; its weights are valid until the next call for KIND. */
struct share_part bars_part(struct bars *b, uint32_t row, enum bars_of kind);

/* Compute the bars of all rows. */
void bars_make(struct bars *b);

/* Return which part of the samples was lost. */
double bars_lost(const struct bars *b);

/* Return the largest share of a function that may be chance alone in so few samples. */
double bars_least(const struct bars *b);

void bars_release(struct bars *b);
