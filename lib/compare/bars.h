/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bars - computes error bars for the rows of a top, from the sample counts and from the labels
 * "slice" and "run" of a profile's samples.
 *
 *	struct bars b;
 *
 *	bars_init(&b, profile, type, NULL);
 *	for each i < b.samples
 *		if (bars_next_sample(&b, &reader.sample, i))
 *			bars_count() for each row of the sample
 *	bars_finish(&b, rows);
 *	use bars_part(), or b.row[] after bars_make()
 *	bars_release(&b);
 */
#pragma once
#include "compare/share.h"
#include "pprof/decode.h"

enum bars_of { BARS_FLAT, BARS_CUMULATIVE, BARS_KINDS };

/* The samples of a run, or of all runs of a side. */
struct bars_run {
	const char *name;	/* text of their label "run"; NULL: they are of any run */
	bool is_base;		/* of a difference: in it their values are negative */
	const uint32_t *sample;	/* indices */
	uint32_t samples;
};

/* The sum of a row in a block. */
struct bars_cell {
	uint32_t row, block;
	double weight;
};

/* The sums of all rows, for one kind of value. */
struct bars_sums {
	struct bars_sum {
		double weight;		/* in the current block */
		double total, squares, samples;	/* in all blocks */
		double measured;	/* sum of values that were not sampled */
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
	double samples, lost;	/* number of samples, and of lost samples */
	double weight;		/* sum of the samples' weights */
};

struct bars {
	const char *why_not;	/* reason why there are no bars; NULL: there are bars */
	uint32_t *order;	/* indices of samples, by block; samples without a block first */
	uint32_t samples;	/* size of ORDER */
	double taken, lost;	/* number of samples of the event, and of lost samples */
	struct share_whole whole;	/* set by bars_finish() */
	uint32_t spans;		/* blocks that are not empty */
	bool has_slices;	/* some sample has a slice */
	bool is_waiting;	/* the values are times that threads waited: all measured */
	bool has_contentions;	/* the samples are contentions */
	bool is_group;		/* the event was read with others, by the profile's comments */
	bool keeps_few;		/* rows with too few samples are shown; see bars_keep_most() */
	struct bars_row {
		struct share_bar bar[BARS_KINDS];
	} *row;			/* by row, set by bars_make(); NULL before */
	/* private: */
	const struct decoded *d;	/* NULL: the samples were summed elsewhere */
	uint32_t waits;		/* index of the type with the measured part of VALUE */
	bool is_base;		/* the samples are of the base of a difference */
	uint32_t value, count;	/* indices of the sample types; COUNT equals VALUE for counts */
	int64_t period;		/* of each sample, if no type has counts; 0: one has */
	double exact;		/* sum of squares by the profile's comments; 0: unknown */
	uint32_t *block_of;	/* by index in ORDER: index of its block; TABLE_NONE: none */
	struct bars_block *block;
	uint32_t blocks, current;	/* number of blocks; index of the current block */
	double *weight;		/* WHOLE.weight */
	uint32_t *pair, *run;	/* WHOLE.pair, WHOLE.run */
	/* of the current sample: */
	double factor, cell_weight, cell_squares, cell_samples, cell_measured;
	double *scratch[BARS_KINDS];	/* by block: weights of the row of bars_part() */
	struct bars_sums sums[BARS_KINDS];
	bool *is_lost;		/* by location: it stands for lost samples */
};

/*
 * Make B from the values of sample type VALUE in D, of the samples of RUN, or of all samples if
 * RUN is NULL.  If bars cannot be made, B->why_not says why, and B->order has all samples in the
 * order of the profile.
 */
void bars_init(struct bars *b, const struct decoded *d, size_t value,
	       const struct bars_run *run);

/*
 * Make B->order[INDEX], which is SAMPLE, the current sample.  INDEX counts up from 0.  Return
 * false if it stands for lost samples, which are not counted.
 */
bool bars_next_sample(struct bars *b, const struct decoded_sample *sample, uint32_t index);

/* Count the current sample for ROW, once for each kind that it belongs to. */
void bars_count(struct bars *b, uint32_t row, enum bars_of kind);

/* What is known of all samples, if they are not from a profile. */
struct bars_given {
	const double *weight;	/* by block of time: sum of the weights of its samples */
	uint32_t blocks;
	double total, squares;	/* sum of all weights, and of their squares */
	double samples, lost;	/* numbers of samples */
	bool is_complete;	/* as in struct share_whole */
};

/*
 * Instead of bars_init(), bars_next_sample() and bars_count(): B is of samples that were summed
 * elsewhere.  bars_put() adds ROW, from 1 on, for all kinds.  Its PART has weights of all blocks.
 */
void bars_begin(struct bars *b, const struct bars_given *all);
void bars_put(struct bars *b, uint32_t row, const struct share_part *part);

/* Finish after all samples have been counted for ROWS rows.  Frees B->order. */
void bars_finish(struct bars *b, uint32_t rows);

/* Set B->why_not if so few samples hold the weight that shares are chance.  After bars_finish(). */
void bars_refuse_few(struct bars *b);

/* Return the part of ROW; its weights are valid until the next call for KIND. */
struct share_part bars_part(struct bars *b, uint32_t row, enum bars_of kind);

/* Compute the bars of all rows: B->row. */
void bars_make(struct bars *b);

/* Return the share of samples that were lost. */
double bars_lost(const struct bars *b);

/* Return the share of about 4 samples: a function of more is shown, however wide its bar is. */
double bars_least(const struct bars *b);

void bars_release(struct bars *b);
