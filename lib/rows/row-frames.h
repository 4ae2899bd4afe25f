/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row-frames - the frames of a decoded profile's locations, as numbers of row-texts.  Each
 * location, function and mapping is decoded once, and only what a row needs of it.
 */
#pragma once
#include "pprof/decode.h"
#include "rows/row-texts.h"

/* Names by their ids in TEXTS. */
struct row_names {
	bool is_known;		/* it has been decoded */
	uint32_t name;		/* of a function; of an object, as a frame without a function */
	uint32_t more;		/* the file of a function, the build ID of an object */
};

struct row_frames {
	const struct decoded *d;
	struct row_texts *texts;
	uint32_t *string;	/* by string: its id; TABLE_NONE: not yet */
	struct row_names *function, *object;	/* by index; the last one for "none" */
	struct row_location {
		uint32_t first;		/* index in FRAME */
		uint32_t count;		/* 0: not yet known */
	} *location;		/* by index */
	uint32_t *frame;	/* of all locations, the innermost call first */
	uint32_t frames;
};

void row_frames_init(struct row_frames *f, const struct decoded *d, struct row_texts *texts);

/* Return the id of a string of the profile. */
static inline uint32_t row_frames_string(struct row_frames *f, uint32_t string)
{
	if (f->string[string] == TABLE_NONE)
		f->string[string] = row_texts_name(f->texts, decoded_string(f->d, string));
	return f->string[string];
}

/* Decode a location for row_frames_of(). */
void row_frames_decode(struct row_frames *f, uint32_t location);

/* Return the frames of the location with this index; F->frame is valid until the next call. */
static inline struct row_location row_frames_of(struct row_frames *f, uint32_t location)
{
	if (f->location[location].count == 0)
		row_frames_decode(f, location);
	return f->location[location];
}

void row_frames_release(struct row_frames *f);
