/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of merge: the sum, and how its parts are added and read.
 *
 * The key of a mapping, function, location or sample is its fields as varints, in which
 * references are new ids.  Equal parts of two profiles have equal keys, so only the keys
 * are kept.  A key is about as long as its part in the profile.
 */
#pragma once
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte-ids.h"
#include "base/cursor.h"
#include "base/intern.h"
#include "pprof/figures.h"
#include "pprof/merge.h"
#include "pprof/wire.h"

/* A mapping as it is written.  Its key has only the fields that identify it. */
struct merged_mapping {
	uint64_t start, limit, offset;
	int64_t file, build_id;
	bool functions, files, lines, inlines;
};

/* The other parts as they are written: strings, numbers, and 1 + ids of parts (0: none). */
struct merged_function {
	uint64_t name, system_name, file, line;
};

struct merged_line {
	uint64_t function, line, column;
};

struct merged_location {
	uint64_t address, mapping, is_folded;
	uint32_t lines;		/* at most PROFILE_LINES_MAX; they are in merge.line */
};

struct merged_label {
	uint64_t key, text, number, unit;	/* TEXT 0: the value is NUMBER */
};

struct merge {
	struct intern strings;
	uint32_t empty;				/* string of labels that are empty texts */
	struct byte_ids mappings, functions, locations, samples, comments, facts;
	struct figures_sides sides;		/* times of what was added and subtracted */
	bool has_base;
	bool is_cut;				/* a sum does not fit into 64 bits */
	bool any_period;			/* it takes the period's type of the next profile */
	struct merged_mapping *mapping;		/* by id */
	struct byte_ids objects;		/* file and build ID of mappings; for merge-parts */
	uint32_t *first, *next, listed;		/* mappings: first of an object, the one after a
						   mapping of the same object; in these lists */
	int64_t *value;				/* TYPES values for each sample */
	uint32_t types;				/* sample types; 0: no profile was added */
	uint64_t *type;				/* strings: type, unit of each, then of period */
	int64_t time, duration, period, default_type, drop, keep, doc_url;
	struct buffer key;			/* the key that is being built */
	struct merged_line *line;		/* of one location; room for PROFILE_LINES_MAX */
	struct merged_label *label;		/* of one sample; room for PROFILE_LABELS_MAX + 1 */
};

static inline void merge_begin_key(struct merge *m)
{
	m->key.size = 0;
}

static inline void merge_add_number(struct merge *m, uint64_t number)
{
	uint8_t *end = buffer_end(&m->key, WIRE_VARINT_MAX);

	m->key.size = (size_t)(wire_varint(end, number) - m->key.at);
}

/* Return the id of the key in IN. */
static inline uint32_t merge_end_key(struct merge *m, struct byte_ids *in)
{
	return byte_ids_add(in, m->key.at, m->key.size);
}

/* Return a cursor at the first number of key ID. */
static inline struct cursor merge_numbers_of(const struct byte_ids *in, uint32_t id)
{
	const uint8_t *bytes = in->item[id].bytes;

	return (struct cursor){ .at = bytes, .end = bytes + in->item[id].size };
}

/* Return the id of a part that equals PART; it is added if it is new. */
uint32_t merge_mapping(struct merge *m, const struct merged_mapping *part);
uint32_t merge_function(struct merge *m, const struct merged_function *part);
uint32_t merge_location(struct merge *m, const struct merged_location *part);

/* Add TEXT to LINES, comments or facts, in which each key is a string. */
void merge_add_text(struct merge *m, struct byte_ids *lines, const char *text);

/*
 * End the key of a sample, in which its locations are: add the first LABELS of m->label, in any
 * order, and return the values of the sample with this key.
 */
int64_t *merge_sample(struct merge *m, size_t labels);

/* Read a part. */
struct merged_function merge_read_function(const struct merge *m, uint32_t id);

/* Read a location, whose lines are then at LINE, which has room for PROFILE_LINES_MAX. */
struct merged_location merge_read_location(const struct merge *m, uint32_t id,
					   struct merged_line *line);
