/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded-lines - stacks as lines of text for flame-graph tools: the frames from root to
 * leaf, separated by semicolons, then a space and the value.
 *
 *	for each stack: folded_frame() from the root on, folded_end()
 *	folded_write()
 *
 * A line is kept as ids of names, and becomes text only when it is written.
 */
#pragma once
#include "base/buffer.h"
#include "base/byte-ids.h"
#include "base/intern.h"
#include "base/output.h"

/*
 * Limit of the text in bytes, because a few samples may repeat a long name many times.  Limit of
 * the frames of all lines, beside those that folded_allow() adds, because a few samples may repeat
 * a location with hundreds of inlined calls.
 */
#define FOLDED_TEXT_MAX ((uint64_t)4 << 30)
enum { FOLDED_FRAMES_LEAST = 1 << 22 };

/* Zero-initialised: no lines. */
struct folded {
	struct intern names;	/* of frames, safe to print */
	uint32_t *length;	/* by id of the name: its bytes */
	uint32_t lengths;
	struct byte_ids lines;	/* the ids of the names of each line */
	int64_t *sum;		/* value, by id of the line */
	uint32_t *frame;	/* ids of the names of the line that is being made */
	size_t frames;
	uint64_t line_text;	/* bytes of the text of that line */
	bool is_too_long;	/* that line is left out */
	uint64_t all_text, all_frames;	/* bytes of all distinct lines */
	uint64_t allowed;	/* frames: see folded_allow() */
	uint64_t left_out;	/* stacks */
	bool is_cut;		/* a sum does not fit into 64 bits */
	uint32_t *rank;		/* by text_index(): order, during folded_write() */
	struct buffer text;	/* scratch of folded_name() */
};

enum { FOLDED_OBJECT_SIZE = 256 };

/* Write what a frame without a function in the object PATH is called to NAME, and return it. */
const char *folded_object_name(char name[FOLDED_OBJECT_SIZE], const char *path);

/* Return the id of NAME; or of a frame without a function in the object PATH: "[libfoo.so]". */
uint32_t folded_name(struct folded *f, const char *name);
uint32_t folded_object(struct folded *f, const char *path);

/* Allow FRAMES more in all lines: in proportion to the input. */
void folded_allow(struct folded *f, uint64_t frames);

/*
 * Append the frame with this name, an id, to the line.  False: the line is too long for the limits,
 * and is left out; folded_end() counts it, and further frames are not needed.
 */
bool folded_frame(struct folded *f, uint32_t name);

/* End the line and add VALUE to it.  The values of equal lines are added up. */
void folded_end(struct folded *f, int64_t value);

/* Write all lines with a value other than 0, sorted by their text, and flush. */
void folded_write(struct folded *f, struct output *out);

void folded_release(struct folded *f);
