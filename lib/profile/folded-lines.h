/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded-lines - stacks as lines of text, as flame-graph tools take them: frames from
 * the root to the leaf with semicolons between, a space, the value.
 *
 *	for each stack: folded_frame() from the root on, folded_end()
 *	folded_write()
 *
 * Lines are kept as numbers of names: text is made of them only when they are written.
 */
#pragma once
#include "base/intern.h"
#include "base/output.h"
#include "profile/keyed.h"

/* Bytes of text that are written at most: a few samples may name a long name many times. */
#define FOLDED_TEXT_MAX ((uint64_t)4 << 30)

/* Zero-initialised: no lines. */
struct folded {
	struct intern names;	/* of frames, as they are written */
	uint32_t *length;	/* by number of the name: its bytes */
	uint32_t lengths;
	struct keyed lines;	/* the numbers of the names of each */
	int64_t *sum;		/* by id of the line */
	uint32_t *frame;	/* of the line that is being made */
	size_t frames;
	uint32_t *rank;		/* by place(): in the order of text; only while it is written */
	char *text;		/* room to make a name safe */
	size_t capacity;
};

/* The number of a frame called NAME, and of one without a function: "[libfoo.so]", by its PATH. */
uint32_t folded_name(struct folded *f, const char *name);
uint32_t folded_object(struct folded *f, const char *path);

/* The next frame of the line has the name of this number. */
void folded_frame(struct folded *f, uint32_t name);

/* The line ends; equal lines are one, of the sum of their values. */
void folded_end(struct folded *f, int64_t value);

/* Write the lines whose sum is not 0 in the order of their text, and flush. */
void folded_write(struct folded *f, struct output *out);

void folded_release(struct folded *f);
