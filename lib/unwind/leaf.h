/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaf - adds the caller of a leaf function to callchains that the kernel made by frame pointers.
 *
 * On arm64, a function that calls no other has its return address in a register (LR), and saves
 * neither LR nor the frame pointer.  The kernel follows the frame pointer, which is still its
 * caller's, and so it leaves out that caller:
 *
 *	main() calls work(), which calls leaf()
 *	callchain: leaf, main		LR: an address in work
 *	with LR: leaf, work, main
 *
 * pmu-sample records LR with each callchain.  It is a caller only if the function at the sampled
 * address has not saved it yet, or has restored it: as call frame information says, or the code.
 */
#pragma once
#include "locate/locate.h"
#include "stream/reader.h"

/* Zero-initialised except for WHERE: the stream has no such event so far. */
struct leaf_callers {
	const struct locate_options *where;	/* where to look for files */
	uint32_t events;		/* events of the stream that were looked at */
	struct unwind *unwind;		/* NULL: no event has LR with callchains */
	struct report *quiet;		/* for UNWIND: others report what is wrong with files */
	uint8_t *chain;			/* the last callchain that was made */
	size_t room;			/* words that CHAIN has room for */
};

/* Follow REC of IN, of any type except SAMPLE. */
void leaf_callers_follow(struct leaf_callers *l, const struct stream_reader *in,
			 const struct record *rec);

/*
 * If the callchain of SAMPLE lacks the caller of its first user function, let SAMPLE have a
 * callchain with that caller, which is valid until the next call.
 */
void leaf_callers_add(struct leaf_callers *l, const struct stream_reader *in,
		      struct sample *sample);

void leaf_callers_release(struct leaf_callers *l);
