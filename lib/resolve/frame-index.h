/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame-index - the frames of the resolved stream, by the places that they stand for.
 *
 * A place is looked up once, and has one frame until a restart.  A place in code of a JIT compiler
 * has one frame for each name that it has had.  Beyond FRAMES_MAX frames, places of an object with
 * equal lines share a frame.
 */
#pragma once
#include "resolve/place.h"

enum { FRAMES_MAX = 1 << 20 };	/* distinct places with a frame of their own */

/* Count of distinct frames per source of their names, for one object. */
struct name_counts {
	uint64_t frames[NAME_SOURCES];
};

struct frame_index {
	/* The owner sets these; all others are zero at first. */
	struct resolved *definitions;	/* frames are defined here */
	struct namer *namer;
	struct object_ranges *ranges;
	struct jits *jits;		/* where frames wait for a name */
	struct report *report;
	bool symbols;			/* frames have names; false: their number has no limit */
	/* The owner may read these. */
	uint64_t added, named;		/* number of frames, and of frames with a name */
	uint32_t redefined;		/* frames since a restart whose place was defined before */
	struct name_counts *counts;	/* by object of lib/process */
	uint32_t counts_size;		/* elements of COUNTS */
	struct name_counts unmapped;	/* counts of addresses without a mapping */
	struct name_counts removed;	/* counts of objects that were removed */
	/* private: */
	struct table table;		/* over definitions->frame, by (object, address) */
	struct table merged;		/* frames beyond FRAMES_MAX, by (object, lines) */
	uint64_t *earlier;		/* bits by hash: places defined before the last restart */
};

/* Return the frame of PLACE.  A place in code of a JIT compiler is compared by its lines, too. */
uint32_t frame_at(struct frame_index *f, const struct place *place);

/* Return the frame of an address without a mapping. */
uint32_t frame_unknown(struct frame_index *f, uint64_t address);

/* Return the frame that stands for frames that an unwinder left out of a stack. */
uint32_t frame_left_out(struct frame_index *f);

/* Give frame ID, which has no lines, LINES. */
void frame_set_lines(struct frame_index *f, uint32_t id, const struct named_lines *lines);

/* Forget all frames, because there are new definitions, but remember which places PAST defined. */
void frame_index_restart(struct frame_index *f, const struct resolved *past);

/* Add the name counts of object ID, which is being removed, to those of removed objects. */
void frame_index_remove_counts(struct frame_index *f, uint32_t id);

void frame_index_release(struct frame_index *f);
