/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row-profile - adds up rows and makes a profile of the sums.
 *
 * Rows of the same stack, labels, host and service are one sample.  So memory grows with the number
 * of distinct samples, and not with the number of rows.
 */
#pragma once
#include "pprof/figures.h"
#include "pprof/row-parts.h"

enum { ROW_TYPES_MAX = 256 };	/* sample types of a profile of rows */

struct row_type {
	uint32_t type, unit;	/* strings */
	bool is_counted;	/* rows of it have the number of samples */
	bool is_uncounted;	/* other rows of it do not have it */
};

/* The values of one type in one sample. */
struct row_cell {
	uint32_t type, next;	/* index of the type; of the sample's next cell, or TABLE_NONE */
	int64_t value, samples;
};

struct row_sample {
	uint32_t stack, set, host, service;	/* ids; strings */
	uint32_t cell;		/* the first, or TABLE_NONE */
};

/* A recording that rows come from: its identity, up to TIME, and its length. */
struct row_recording {
	uint32_t host, service;		/* strings */
	uint32_t is_base, unused;	/* of the base of a difference; 0 */
	int64_t time, duration;		/* ns since 1970, 0: unknown; ns */
};

/* A host or service: of all rows, or of some. */
struct row_origin {
	uint32_t text;		/* string of the first row */
	bool is_known, differs;	/* a row has been seen; rows differ */
};

struct row_profile {
	struct row_parts parts;
	struct row_type *type;
	uint32_t types;
	struct row_sample *sample;
	uint32_t samples;
	struct table table;		/* finds samples */
	struct row_cell *cell;
	uint32_t cells;
	struct row_origin host, service;
	struct byte_ids recordings;	/* the identity of each */
	struct row_recording *recording;	/* by its id */
	uint64_t cut;			/* sums that do not fit into 64 bits */
};

void row_profile_init(struct row_profile *p);

/* Add ROW.  Return NULL, or what is wrong with ROW; then nothing has been added. */
const char *row_profile_add(struct row_profile *p, const struct row_line *row);

/* Return the profile's bytes, which the caller frees, and set *SIZE.  There must be a sample. */
uint8_t *row_profile_encode(struct row_profile *p, size_t *size);

void row_profile_release(struct row_profile *p);
