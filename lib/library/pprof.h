/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof - profiles: read, made, added up, written.
 *
 * A profile that was read stays encoded (pprof/decode.h) until something is added to it.  Then it
 * becomes a sum (pprof/merge.h).  A new profile is a sum from its start.  So the time to add a
 * stack, or to read one, does not depend on the size of the profile.
 */
#pragma once
#include "base/arena.h"
#include "library/handle.h"
#include "pprof/decode.h"
#include "pprof/merge-parts.h"

/* The frames of each location that was asked for, by index or id. */
struct pprof_frames {
	struct pprof_place {
		const struct pmukit_frame *frame;	/* NULL: not yet */
		uint32_t count;
	} *place;
	uint32_t places;
	struct arena arena;
};

struct pmukit_pprof {
	struct handle handle;
	struct decoded *d;		/* the profile that was read; NULL: it became SUM */
	struct merge *sum;		/* NULL: nothing was added to D */
	struct pmukit_value_type *type;
	uint32_t types;
	struct arena texts;		/* of TYPE */
	struct decoded_reader reader;	/* of D */
	struct part_reading reading;	/* of SUM */
	struct pprof_frames frames;
	struct pmukit_stack stack;	/* the last one that was asked for; its arrays follow */
	struct pmukit_frame *frame;
	struct pmukit_label *label;
	size_t frame_room, label_room;
	uint32_t *location;		/* of a stack that is added */
	struct part_label *part;	/* its labels */
	int64_t *value;			/* its values: TYPES */
	size_t location_room;
};

/*
 * Return the profile in the SIZE bytes at BYTES, profile.proto without compression, which the
 * caller keeps, or NULL: pmukit_error() says why.  NAME is its name in messages.
 */
struct pmukit_pprof *pprof_from_bytes(const uint8_t *bytes, size_t size, const char *name,
				      const struct pmukit_options *options);

/* In a call that works for P: take D, which was read for P, and its sample types. */
void pprof_take(struct pmukit_pprof *p, struct decoded *d);

/*
 * In a call that works for P: return its sum, so that something can be added.  Afterwards call
 * pprof_settle(), which frees P->d: what was added may have been a part of it.
 */
struct merge *pprof_sum(struct pmukit_pprof *p);
void pprof_settle(struct pmukit_pprof *p);

/*
 * In a call that works for P: set P->stack to stack INDEX.  Return false if there are not so many.
 */
bool pprof_find_stack(struct pmukit_pprof *p, int64_t index);

/* Forget the frames that were asked for. */
void pprof_forget_frames(struct pmukit_pprof *p);
