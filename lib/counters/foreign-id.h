/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign-id - corrects what records in our rings have of another session's events.
 *
 * Linux 6.2 and later prepare what a sample needs once for all software events that overflow at the
 * same moment (kernel/events/core.c, do_perf_sw_event()).  So if another session samples the same
 * page fault or context switch, a sample in our ring may have the ID and the time of the other
 * session's event, or only the time, which may be by another clock.  Its other fields are right.
 * Clocks, tracepoints and hardware events are not affected.  By the place of a sample in its ring,
 * ring_merge_next() knows about when it was taken.
 *
 * So do the samples of a thread that has an event of ours twice (owners.h): of one occurrence, both
 * have the same ID and time.
 *
 * If several of our events come into question, the place in the kernel decides: context switches
 * and migrations are sampled at few addresses, all in the scheduler, page faults elsewhere.
 */
#pragma once
#include "counters/counters.h"
#include "counters/owners.h"

struct kallsyms;

enum { FOREIGN_ADDRESSES = 64 };

struct foreign_ids {
	struct counters *counters;
	const struct sample_layout *layout;
	uint32_t candidates;		/* our events to which a foreign ID may belong */
	uint32_t first, first_fault;	/* the first candidate; the first that is not a switch */
	bool switches;			/* some candidate is a switch */
	struct foreign_address {	/* an address in the kernel; samples there are of EVENT */
		uint64_t ip;
		uint32_t event;
	} address[FOREIGN_ADDRESSES];
	size_t addresses;
	struct kallsyms *kallsyms;	/* NULL: not needed so far */
	uint64_t scheduler, scheduler_end;	/* addresses of its code; 0: unknown */
	uint64_t *own;		/* by event and CPU: the ID of our counter; 0: unknown yet */
	uint64_t count;			/* samples that were given our ID */
	struct foreign_last {		/* the last sample in the ring of a CPU, as it was there */
		uint64_t id, time;
		uint32_t tid;
		uint32_t alike;		/* samples before it that were equal in all of these */
	} *last;			/* by CPU; NULL: none yet */
	bool shares;			/* samples have IDs of other events: Linux 6.2 or later */
	enum owner_rule rule;		/* of the record that foreign_ids_replace() returned last */
};

/* Prepare for the samples of COUNTERS, with LAYOUT. */
void foreign_ids_init(struct foreign_ids *f, struct counters *counters,
		      const struct sample_layout *layout);

/*
 * Return RECORD, the last one of RING, which is of the CPU with the index CPU.  If RECORD is a
 * SAMPLE with a foreign ID, return a copy with the ID of our event, and with a time in
 * [EARLIEST, LATEST]; *TIME is then set to that time.  If RECORD may only have a foreign time, and
 * has another than *TIME, return a copy with *TIME.  If RECORD is marked as if it had a build ID,
 * and no event asks for build IDs, return a copy without the mark.  The result is valid as long as
 * RECORD.  Sets F->rule for it.
 */
const struct perf_event_header *foreign_ids_replace(struct foreign_ids *f, struct ring *ring,
						    size_t cpu,
						    const struct perf_event_header *record,
						    uint64_t earliest, uint64_t latest,
						    uint64_t *time);

void foreign_ids_release(struct foreign_ids *f);
