/* SPDX-License-Identifier: Apache-2.0 */
/* row-frames - the frames of a decoded profile's locations, as numbers of row-texts. */
#pragma once
#include "pprof/decode.h"
#include "pprof/row-texts.h"

struct row_frames {
	const struct decoded *d;
	struct row_texts *texts;
	uint32_t *name;		/* by string: its id in TEXTS; TABLE_NONE: not yet */
	struct row_location {
		uint32_t first;		/* index in FRAME */
		uint32_t count;		/* 0: not yet known */
	} *location;		/* by index */
	uint32_t *frame;	/* of all locations, the innermost call first */
	uint32_t frames;
};

void row_frames_init(struct row_frames *f, const struct decoded *d, struct row_texts *texts);

/* Return the id of a string of the profile. */
uint32_t row_frames_string(struct row_frames *f, uint32_t string);

/* Return the frames of the location with this index; F->frame is valid until the next call. */
struct row_location row_frames_of(struct row_frames *f, uint32_t location);

void row_frames_release(struct row_frames *f);
