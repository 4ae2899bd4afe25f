/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callchain - the frames of a sample: the walk of its callchain, and the first cache.
 *
 * The first cache maps an address in one generation of an address space straight to a frame.  An
 * entry is right until a flush, because a space has a new generation whenever an address in it may
 * mean something else.  An address whose name varies with time is not put into the cache.
 */
#pragma once
#include "base/recent.h"
#include "resolve/frame-index.h"
#include "resolve/place.h"
#include "resolve/stack-ends.h"

struct callchains {
	/* The owner sets these before callchains_begin(); all others are zero then. */
	struct spaces *spaces;
	struct places *places;
	struct frame_index *frames;
	struct stack_ends *ends;
	/* The owner may flush and read these. */
	struct recent recent;		/* the first cache: frames by generation and address */
	uint32_t *frame;		/* frames of the last sample */
	uint64_t *address;		/* the address that each of them stands for; 0: none */
	bool is_pure;			/* samples with equal words in equal spaces have the same
					   frames, until a flush of RECENT */
	/* private: */
	size_t capacity;		/* elements of FRAME and ADDRESS */
	struct last_callers {		/* the last words of the last callchain, and their frames */
		uint64_t *word;
		uint32_t *frame;
		size_t count;		/* words, and frames */
		size_t room;		/* elements of both arrays */
		uint32_t key;		/* recent_key() of the space of all of them */
	} last;
};

void callchains_begin(struct callchains *c);

/*
 * Fill c->frame with the frames of SAMPLE of the event ATTR.  Return their number, at least 1.  Set
 * *END to how the program's stack ends.
 */
uint32_t callchain_resolve(struct callchains *c, const struct sampled *s,
			   const struct sample *sample, const struct perf_event_attr *attr,
			   enum stack_end *end);

/* Forget all frames, because there are new definitions. */
void callchains_restart(struct callchains *c);

void callchains_release(struct callchains *c);
