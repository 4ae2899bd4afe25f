/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accesses - sums samples with data addresses by the memory that they accessed: by variable, cache
 * line, source of the data, or thread.
 *
 *	struct accesses a;
 *
 *	accesses_init(&a, &how);
 *	for each access
 *		accesses_add(&a, &access);
 *	use a.row[] and a.part[]
 *	accesses_release(&a);
 *
 * The number of rows and of their parts is bounded.  When a table is full, the half of the rows
 * with fewer samples moves to OTHERS, so that the sum of all rows and of OTHERS is always exact.
 */
#pragma once
#include "labels/slices.h"
#include "base/intern.h"

#include <stdbool.h>

/* What a row is about. */
enum access_by {
	ACCESS_BY_OBJECT, ACCESS_BY_LINE, ACCESS_BY_SOURCE, ACCESS_BY_THREAD, ACCESS_BY_FIELD,
	ACCESS_WAYS
};

enum access_kind { ACCESS_UNKNOWN, ACCESS_LOAD, ACCESS_STORE };

/* A sample with a data address.  Its texts are valid until the next sample. */
struct access_sample {
	uint64_t time, period;
	pid_t pid, tid;
	enum access_kind kind;
	bool in_kernel;		/* ADDRESS is the kernel's: the same for all processes */
	bool has_source, has_weight;
	uint64_t address;
	uint64_t physical;	/* 0: not recorded */
	uint64_t source;	/* union perf_mem_data_src, if HAS_SOURCE */
	uint64_t weight;	/* latency in cycles, if HAS_WEIGHT */
	const char *thread;	/* name of the thread */
	const char *function;	/* that accessed ADDRESS */
	const char *object;	/* at ADDRESS: a variable, or memory; never empty */
	const char *file;	/* of the variable; "": OBJECT is not a variable */
	uint64_t offset;	/* of ADDRESS in OBJECT, if HAS_OFFSET */
	bool has_offset;
	bool is_variable;	/* OBJECT is a variable */
	const char *member;	/* of it: "[].lock", or "" if it has none; NULL: unknown */
};

/* Sums of some samples. */
struct access_sums {
	uint64_t samples, loads, stores;	/* samples; the others are of an unknown kind */
	uint64_t elsewhere;	/* samples that found the line modified in another cache */
	uint64_t weighed;	/* samples with a weight */
	uint64_t weight;	/* sum of their weights; UINT64_MAX: at least so much */
	double total, squares;	/* sum of the periods, and of their squares */
	double total_elsewhere, squares_elsewhere;	/* the same of ELSEWHERE */
	double total_weighed, squares_weighed;		/* the same of WEIGHED */
	double cost;		/* sum of period * weight */
	double cost_elsewhere;	/* the same of ELSEWHERE */
};

/* The sum of the periods in a slice of time. */
struct access_slice {
	uint64_t number;
	double total, elsewhere;
};

/* Periods by slices, in order of time. */
struct access_times {
	struct access_slice *slice;
	uint32_t count;
};

/* A variable, cache line, source or thread. */
struct access_row {
	uint64_t key;		/* a line: its number; a source: its bits; otherwise 0 */
	uint32_t name;		/* in NAMES; a line has none */
	uint32_t file;		/* in NAMES: the file of a variable */
	pid_t pid, tid;		/* a thread; a line: its process, 0 if it has a physical address or
				   is the kernel's, and its first thread */
	bool is_physical;	/* KEY counts physical lines */
	bool is_shared;		/* several threads accessed it */
	struct access_sums sums;
	struct access_times times;
};

/* A part of a row: by function, and of a line also by thread and offset. */
struct access_part {
	uint32_t row;
	uint32_t function, object;	/* in NAMES; 0: the row is not divided so */
	uint64_t offset;	/* in the line */
	uint64_t object_offset;	/* of a line: of its first access in OBJECT, if HAS_OFFSET */
	bool has_offset;
	pid_t pid, tid;
	uint32_t thread;	/* in NAMES: name of TID */
	struct access_sums sums;
};

/* How many samples of a row have a weight. */
struct access_weight {
	uint32_t row;
	uint32_t bin;		/* access_weight_least() is the least weight in it */
	uint64_t samples;
	double total;		/* sum of the periods */
};

enum {
	ACCESS_ROWS_MAX = 1 << 16,
	ACCESS_PARTS_MAX = 1 << 18,
	ACCESS_WEIGHTS_MAX = 1 << 20,
	ACCESS_NAMES_KNOWN = 256,
	ACCESS_SLICES = 20,	/* of time; at most twice as many */
};

struct accesses_how {
	enum access_by by;
	uint64_t line;		/* bytes of a cache line, a power of two; may be set until the first
				   sample is added */
	bool weights;		/* keep how the weights of each row are distributed */
};

struct accesses {
	struct accesses_how how;
	struct intern names;
	struct access_row *row;
	struct access_part *part;
	struct access_weight *weight;
	uint32_t rows, parts, weights;
	struct access_sums all;		/* of all samples */
	struct access_sums others;	/* of the rows that were left out */
	uint64_t rows_left_out;		/* a row may have been left out several times */
	struct access_times times;	/* of all samples */
	struct slices slices;
	/* private: */
	uint32_t known[ACCESS_NAMES_KNOWN];	/* ids of names, by the address of their text */
	struct table row_table, part_table, weight_table;
};

void accesses_init(struct accesses *a, const struct accesses_how *how);

void accesses_add(struct accesses *a, const struct access_sample *access);

/*
 * Return whether ROW, a line, is shared: several threads accessed it, and one of them stored, or
 * found it modified in another cache.
 */
bool access_is_contended(const struct access_row *row);

/*
 * Return the bin of a weight.  A weight below 1,024 has a bin of its own; the weights in one of the
 * other bins differ by 0.2 % at most.
 */
uint32_t access_weight_bin(uint64_t weight);
uint64_t access_weight_least(uint32_t bin);

void accesses_release(struct accesses *a);
