/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded-lines - stacks as lines of text, as flame-graph tools take them: frames from
 * the root to the leaf with semicolons between, a space, the value.
 *
 *	for each stack: folded_frame() or folded_object() from the root on, folded_end()
 *	folded_write()
 */
#pragma once
#include "base/intern.h"
#include "base/output.h"

/* Zero-initialised: no lines. */
struct folded {
	struct intern lines;	/* without values */
	int64_t *sum;		/* by id of the line */
	uint32_t count;
	char *text;		/* the line that is being made */
	size_t size, capacity;
};

void folded_frame(struct folded *f, const char *name);

/* A frame without a function: "[libfoo.so]", by the PATH of its object. */
void folded_object(struct folded *f, const char *path);

/* The line ends; equal lines are one, of the sum of their values. */
void folded_end(struct folded *f, int64_t value);

/* Write the lines whose sum is not 0 in the order of their text, and flush. */
void folded_write(struct folded *f, struct output *out);

void folded_release(struct folded *f);
