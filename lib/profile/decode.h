/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode - a profile.proto file, gzip'd or plain, in memory.
 *
 * A profile is not unpacked: its parts are read where they lie, each time they are asked
 * for.  So it needs little more memory than its own size, whatever it is made of.
 *
 *	struct decoded *d = decoded_read(file, NULL, report);
 *	struct decoded_reader r = { .d = d };
 *
 *	while (decoded_next(&r))
 *		use r.sample
 *	decoded_reader_release(&r);
 *	decoded_free(d);
 */
#pragma once
#include "base/report.h"
#include "base/table.h"

#include <stdbool.h>

/* The label of the samples of a difference that are its base's ("true"), as pprof calls it. */
#define PROFILE_BASE "pprof::base"

/* The limits of what is read.  The man pages name them. */
#define PROFILE_MAX ((size_t)1 << 30)		/* bytes, uncompressed */
#define PROFILE_SMALL ((size_t)16 << 20)	/* so many of any file; of more at most */
#define PROFILE_RATIO 100			/* times the size of the file */
#define PROFILE_FRAMES_MAX 1000000000u		/* in all samples together */
enum {
	PROFILE_LINES_MAX = 256,	/* of a location: further inlined calls are left out */
	PROFILE_LABELS_MAX = 4096,	/* of a sample */
};

/* A message that has an id, at its place in the profile. */
struct decoded_item {
	uint64_t id;
	uint32_t offset, size;
};

/* Mappings, functions or locations, in the order in which they came. */
struct decoded_items {
	struct decoded_item *item;
	uint32_t count;
	bool scattered;		/* some id is not 1 + its index: they are in TABLE */
	struct table table;
};

struct decoded_type {
	uint32_t type, unit;	/* strings */
	uint32_t place;		/* of its value among those of a sample */
};

struct decoded {
	uint8_t *bytes;		/* uncompressed; a NUL has been put after each string */
	size_t size;
	uint32_t *string;	/* by index: the offset of its text */
	uint32_t strings;
	struct decoded_type *type;
	uint32_t types, values;	/* sample types; values of each sample in the file */
	struct decoded_type period_type;
	struct decoded_items mappings, functions, locations;
	struct decoded_item *sample;
	uint32_t samples;
	uint32_t *comment;	/* strings */
	uint32_t comments;
	uint32_t default_type, drop_frames, keep_frames;	/* strings */
	int64_t time, duration, period;
	bool *hidden;		/* by string: labels with this key are left out; NULL: none */
};

struct decoded_mapping {
	uint64_t start, limit, offset;
	uint32_t file, build_id;	/* strings */
	bool has_functions, has_files, has_lines, has_inlines;
};

struct decoded_function {
	uint32_t name, system_name, file;	/* strings */
	int64_t line;
};

struct decoded_location {
	uint64_t address;
	uint32_t mapping;	/* index in MAPPINGS; TABLE_NONE: none */
	bool is_folded;
	const uint8_t *at, *end;	/* for decoded_next_line() */
	uint32_t lines;		/* that it has returned */
};

struct decoded_line {
	uint32_t function;	/* index in FUNCTIONS; TABLE_NONE: none */
	int64_t line, column;
};

struct decoded_label {
	uint32_t key, text, unit;	/* strings */
	int64_t number;
};

/* Reads the samples one by one.  Zero-initialised but for D: at the first one. */
struct decoded_reader {
	const struct decoded *d;
	uint32_t next;
	struct decoded_sample {
		uint32_t *location;	/* indices in LOCATIONS, the leaf first; TABLE_NONE: none */
		size_t locations;
		int64_t *value;		/* of each of the TYPES */
		struct decoded_label *label;
		size_t labels;
	} sample;			/* until the next one is read */
	size_t room;			/* for locations */
	int64_t *all;			/* values as in the file */
};

/*
 * Read FILE ("-": stdin).  NULL (reported) if it cannot be read, is no profile, is larger
 * than the limits, or refers to what it does not have: every index in the result is sound,
 * every string is safe to print (base/text.h).  WHEN_READ, if it is given, is called when
 * all of the input has come.  The caller frees it with decoded_free().
 */
struct decoded *decoded_read(const char *file, void when_read(void), struct report *report);

void decoded_free(struct decoded *d);

/* The string of this index. */
static inline const char *decoded_string(const struct decoded *d, uint32_t index)
{
	return (const char *)d->bytes + d->string[index];
}

/* The index of the one with this ID, or TABLE_NONE. */
uint32_t decoded_find(const struct decoded_items *items, uint64_t id);

/* What is at an index. */
struct decoded_mapping decoded_mapping(const struct decoded *d, uint32_t index);
struct decoded_function decoded_function(const struct decoded *d, uint32_t index);
struct decoded_location decoded_location(const struct decoded *d, uint32_t index);

/* The lines of a location, the innermost call first; false: there are no more. */
bool decoded_next_line(const struct decoded *d, struct decoded_location *l,
		       struct decoded_line *line);

/* The next sample; false: there are no more. */
bool decoded_next(struct decoded_reader *r);
void decoded_reader_release(struct decoded_reader *r);
