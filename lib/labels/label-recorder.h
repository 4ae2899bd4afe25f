/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label-recorder - joins each sample with its labels, which a BPF program reads.
 *
 * When the program runs, in the interrupt that takes the sample, the kernel writes a labels record
 * into the ring of the CPU, and then the sample.  So the ring has pairs.  A non-maskable interrupt
 * may come between the two, and then its pair is inside the other pair:
 *
 *	[labels of a clock] [labels of a PMU] [sample of the PMU] [sample of the clock]
 *
 * Records of a pair are found by their position in the ring.  Their times do not help: in some
 * kernels the labels record has the later time, in others the sample.
 */
#pragma once
#include "base/output.h"
#include "event/event.h"
#include "labels/label-options.h"
#include "labels/label-targets.h"
#include "record/events.h"
#include "record/label-payload.h"

/* Counts of written samples by their labels. */
struct label_records {
	uint64_t labelled, without, unreadable, unknown;
	uint64_t cut;		/* labelled samples that lack labels or parts of them */
	uint64_t alone;		/* labels records whose sample did not follow */
};

enum {
	LABELS_KEPT = 4,	/* records kept per ring */
	LABEL_RECORD_MAX = 2304,	/* bytes: fixed fields, and the longest raw data */
};

/* Labels records of a ring whose sample has not come yet. */
struct label_ring {
	int fd;			/* of the event that the program writes to; -1: not open */
	uint64_t id;		/* id in the event's records */
	uint32_t kept;		/* elements of KEEP, the newest last */
	struct kept_labels {
		uint32_t event, tid;
		uint32_t edition;	/* of the process's entry that the program used */
		pid_t pid;
		uint64_t ip;
		uint16_t size;	/* bytes of the record */
		uint8_t record[LABEL_RECORD_MAX];
	} keep[LABELS_KEPT];
};

/* Zero-initialised: off. */
struct label_recorder {
	struct report *report;
	const struct label_options *options;
	struct perf_event_attr attr;	/* of the events that the program writes to */
	struct label_ring *ring;	/* by index of the CPU */
	size_t rings;
	int *program;		/* by index of the event; -1: it takes no samples */
	size_t programs;
	int scratch, output;	/* maps */
	struct label_targets targets;
	struct label_records counts;
	uint16_t ip, tid, time, raw;	/* bytes: offsets in the body of a labels record */
	struct kept_labels taken;	/* by label_recorder_take() */
};

/*
 * Load the programs for the first SAMPLED of EVENTS, and prepare CPUS rings.  False: reported, with
 * what is missing.
 */
bool label_recorder_start(struct label_recorder *l, const struct label_options *options,
			  const struct event_list *events, size_t sampled, size_t cpus,
			  const struct target *target, struct report *report);

/*
 * Record labels in the ring of RING_FD for the event INDEX, which is open as FD on CPU, the I-th
 * CPU.  False: reported.
 */
bool label_recorder_attach(struct label_recorder *l, uint32_t index, int fd, size_t i, int cpu,
			   int ring_fd);

/* If RECORD of ring I is a labels record, keep it for its sample, and return true. */
bool label_recorder_keep(struct label_recorder *l, size_t i,
			 const struct perf_event_header *record);

/*
 * Follow RECORD of ring I, any but a labels record.  If it is a SAMPLE of EVENT, return its labels,
 * or NULL: unknown.  Valid until the next call of label_recorder_keep().
 */
const struct kept_labels *label_recorder_take(struct label_recorder *l, size_t i, uint32_t event,
					      const struct perf_event_header *record,
					      const struct sample_layout *layout);

/*
 * Count KEPT, the labels of SAMPLE, or NULL, and write the labels record to OUT with the time of
 * the sample.
 */
void label_recorder_write(struct label_recorder *l, const struct kept_labels *kept,
			  const struct perf_event_header *sample,
			  const struct sample_layout *layout, struct output *out);

/* Write the ATTR record of labels. */
void label_recorder_write_attr(const struct label_recorder *l, struct output *out);

void label_recorder_close(struct label_recorder *l);

/*
 * label-rights.c: return whether the kernel can run programs at the first COUNT of EVENTS.  False:
 * reported.
 */
bool label_rights_events(const struct event_list *events, size_t count, struct report *report);

/*
 * Write why labels cannot be recorded, and a remedy, to REASON (SIZE bytes).  ERROR: errno of the
 * step that failed, or 0.  WHY: name of that step, or the kernel's message.
 */
void label_rights_explain(int error, const char *why, char *reason, size_t size);

/* Store what identifies our namespace of processes; zeros: the first namespace, or unknown. */
void label_rights_namespace(uint64_t *device, uint64_t *inode);
