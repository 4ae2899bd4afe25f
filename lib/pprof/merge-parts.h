/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge-parts - adds samples to a sum one at a time, and reads its samples: for a program that
 * makes a profile.
 *
 *	uint32_t location = part_location(m, &where, lines, count);	for each
 *	uint32_t sample = part_sample(m, locations, count, labels, label_count);
 *	part_values(m, sample)[i] += ...;
 *
 * Texts are made safe (base/text.h), as they are where a profile is read.
 */
#pragma once
#include "pprof/merge.h"

/* Where the code of a location is. */
struct part_place {
	uint64_t address;
	const char *object, *build_id;	/* path; hexadecimal digits; "": unknown */
};

/* A line of a location: the innermost call comes first. */
struct part_line {
	const char *function, *symbol, *file;	/* "": unknown */
	uint32_t start_line, line, column;	/* 0: unknown */
};

struct part_label {
	const char *key, *text, *unit;	/* TEXT NULL: the value is NUMBER */
	int64_t number;
};

/* Give M, an empty sum, COUNT sample types.  A profile that is added may have any period. */
void part_types(struct merge *m, const char *const (*type_and_unit)[2], uint32_t count);

/* Set the default sample type to TYPE, an index of these types.  Without this, it is the last. */
void part_default_type(struct merge *m, uint32_t type);

/*
 * Return the id of the location at PLACE with COUNT lines, at most PROFILE_LINES_MAX.  Its mapping
 * is the one that a profile before had there, or one of the whole object.
 */
uint32_t part_location(struct merge *m, const struct part_place *place,
		       const struct part_line *line, uint32_t count);

/*
 * Return the id of the sample with COUNT locations and LABELS labels, at most PROFILE_LABELS_MAX.
 * If it is new, its values are 0.
 */
uint32_t part_sample(struct merge *m, const uint32_t *location, size_t count,
		     const struct part_label *label, size_t labels);

/* Return the values of a sample, one for each type.  Valid until the next part_sample(). */
int64_t *part_values(struct merge *m, uint32_t sample);

/* Give M the comments of D too, and the time of both: for D's samples, which were added. */
void part_origin(struct merge *m, const struct decoded *d);

/* Return the number of samples; their ids are less.  Some may have only zeroes as values. */
uint32_t part_samples(const struct merge *m);

/* The numbers of a sample that is read. */
struct part_reading {
	uint32_t *location;		/* ids, leaf first; owned, as is LABEL */
	size_t locations;
	struct part_label *label;
	size_t labels;
	size_t location_room, label_room;	/* private */
};

/* Read a sample.  R starts zeroed; the caller frees its arrays. */
void part_read_sample(const struct merge *m, uint32_t sample, struct part_reading *r);

/*
 * Read a location: set PLACE, store its lines at LINE, which has room for PROFILE_LINES_MAX, and
 * return their number.  The texts are valid until M is freed.
 */
uint32_t part_read_location(const struct merge *m, uint32_t location, struct part_place *place,
			    struct part_line *line);
