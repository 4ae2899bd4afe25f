/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode - reads a profile into memory: profile.proto, rows (pmu-rows(5)) or folded text, plain or
 * compressed by gzip or zstd.
 *
 * A profile is kept in its encoded form, and each part is decoded whenever a caller asks
 * for it.  So a profile needs little more memory than its uncompressed size.
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
#include "stream/look.h"

#include <stdbool.h>

struct pack;

/* In a difference, pprof's label of the samples that come from the base: its value is "true". */
#define PROFILE_BASE "pprof::base"

/* The limits of a profile that is read.  The man pages state them. */
#define PROFILE_MAX ((size_t)1 << 30)		/* bytes, uncompressed */
#define PROFILE_SMALL ((size_t)16 << 20)	/* bytes of any file, whatever its size, plus */
#define PROFILE_RATIO 100			/* times the size of the file */
#define PROFILE_FRAMES_MAX 1000000000u		/* in all samples together */
enum {
	PROFILE_LINES_MAX = 256,	/* lines per location; outer callers are left out */
	PROFILE_LABELS_MAX = 4096,	/* per sample */
};

/* An encoded message of the profile. */
struct decoded_message {
	uint32_t offset, size;		/* bytes, in decoded.bytes */
};

/* A message with an id, and what is kept of it so that readers seldom need to decode it. */
struct decoded_item {
	uint64_t id;
	struct decoded_message message;
	uint32_t lines;		/* of a location: their number, at most PROFILE_LINES_MAX */
	uint32_t name;		/* of a function: a string; private in a location: the id of the
				   function of its first line; TABLE_NONE: a larger id */
};

/* All mappings, functions or locations, in the order of the file. */
struct decoded_items {
	struct decoded_item *item;
	uint32_t count;
	bool scattered;		/* some id is not 1 + its index: TABLE finds ids */
	struct table table;
};

struct decoded_type {
	uint32_t type, unit;	/* strings */
	uint32_t index;		/* of its value in an encoded sample */
};

struct decoded {
	uint8_t *bytes;		/* uncompressed; each string ends with a NUL */
	size_t size;
	uint32_t *string;	/* by index: offset of its text in BYTES */
	uint32_t strings;
	uint32_t unsafe;	/* strings in which bytes became '?' (base/text.h) */
	bool altered;		/* some of STRING is not as in the file */
	struct decoded_type *type;
	uint32_t types, values;	/* types kept; values per sample in the file */
	struct decoded_type period_type;
	struct decoded_items mappings, functions, locations;
	struct decoded_message *sample;
	uint32_t samples;
	uint32_t *comment, *fact;	/* strings: lines for people, lines for programs */
	uint32_t comments, facts;
	uint32_t default_type, drop_frames, keep_frames, doc_url;	/* strings */
	int64_t time, duration, period;	/* ns since the epoch; ns; of PERIOD_TYPE */
	bool *hidden;		/* by string: labels with this key are left out; NULL: none are */
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
	uint32_t mapping;	/* index in decoded.mappings; TABLE_NONE: none */
	bool is_folded;
	const uint8_t *at, *end;	/* private to decoded_next_line(): bytes not yet read */
	uint32_t lines;		/* private: lines returned so far */
};

struct decoded_line {
	uint32_t function;	/* index in decoded.functions; TABLE_NONE: none */
	int64_t line, column;
};

struct decoded_label {
	uint32_t key, text, unit;	/* strings; TEXT 0: the value is NUMBER */
	int64_t number;
};

/*
 * Reads the samples one by one.  Zero-initialised except for D and MOST: before the first sample.
 */
struct decoded_reader {
	const struct decoded *d;
	uint32_t next;				/* index of the next sample */
	uint32_t most;				/* locations per sample to decode; 0: all */
	struct decoded_sample {
		uint32_t *location;	/* indices in d->locations, leaf first; or TABLE_NONE */
		size_t locations;
		int64_t *value;		/* one for each of decoded.types */
		struct decoded_label *label;
		size_t labels;
	} sample;			/* valid until the next sample is read */
	size_t room;			/* private: capacity of sample.location */
	int64_t *all;			/* private: the values in the file */
};

/*
 * Read FILE ("-": stdin), a profile or rows.  Return NULL (reported) if FILE cannot be read, is
 * neither, exceeds a limit, or has an invalid reference.  In the result every index is valid and
 * every string is safe to print (base/text.h).  WHEN_READ, if not NULL, is called once all input
 * has been read.  The caller frees the result with decoded_free().
 */
struct decoded *decoded_read(const char *file, void when_read(void), struct report *report);

/* An input whose first bytes have been looked at. */
struct decoded_input {
	const char *file;	/* its name for messages */
	int fd;			/* -1: HEAD is all */
	const uint8_t *head;	/* SIZE bytes that have been read from FD */
	size_t size;
	enum look_kind kind;
	const char *wrong;	/* how to call FILE if it cannot be read; NULL: as usual */
};

/* The same for an input that is open, which may also be folded text. */
struct decoded *decoded_rest(const struct decoded_input *in, void when_read(void),
			     struct report *report);

/*
 * The same for a profile that is in memory: the SIZE bytes at BYTES, uncompressed, less than
 * 4 GiB, which the result owns.  FILE is the name for messages.
 */
struct decoded *decoded_take(uint8_t *bytes, size_t size, const char *file,
			     struct report *report);

void decoded_free(struct decoded *d);

/*
 * Return all bytes of the profile as they were read, uncompressed, for the caller to close or take;
 * NULL: a string was altered, or is encoded in an unusual way.
 */
struct pack *decoded_pack(const struct decoded *d);

/*
 * Return line I of the lines that may be facts, or NULL after the last one.  Profiles of older
 * versions have facts among their comments, so these come last.
 */
const char *decoded_fact(const struct decoded *d, uint32_t i);

/* Return the string with this index. */
static inline const char *decoded_string(const struct decoded *d, uint32_t index)
{
	return (const char *)d->bytes + d->string[index];
}

/*
 * Return the index of the profile's default sample type: the last type if the profile names none.
 */
uint32_t decoded_default_type(const struct decoded *d);

/*
 * Return the index of the sample type with this name, or with this number; or of the only one with
 * this name if the modifiers of events are left out, or their PMU, too; or TABLE_NONE.
 */
uint32_t decoded_find_type(const struct decoded *d, const char *name);

/* Decode the message with this index. */
struct decoded_mapping decoded_mapping(const struct decoded *d, uint32_t index);
struct decoded_function decoded_function(const struct decoded *d, uint32_t index);
struct decoded_location decoded_location(const struct decoded *d, uint32_t index);

/* Return the function of the location's first line, which it must have; or TABLE_NONE. */
uint32_t decoded_first_function(const struct decoded *d, uint32_t index);

/* Return a location of which nothing is known but its lines. */
struct decoded_location decoded_lines(const struct decoded *d, uint32_t index);

/* Read the next line of location L, the innermost call first.  Return false after the last. */
bool decoded_next_line(const struct decoded *d, struct decoded_location *l,
		       struct decoded_line *line);

/* Read the next sample into R->sample.  Return false after the last. */
bool decoded_next(struct decoded_reader *r);
void decoded_reader_release(struct decoded_reader *r);
