/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample - the fields of a SAMPLE record.
 *
 * Where a field lies depends only on the event's attr, so it is computed once
 * per event (struct sample_layout); a sample then costs one check of its size
 * and plain loads.  Fields that its event did not ask for are 0, the pids -1.
 */
#pragma once
#include "record/events.h"

/* 64-bit words in a record, at any alignment. */
struct words {
	const uint8_t *at;
	uint64_t count;
};

static inline uint64_t word_at(struct words w, uint64_t i)
{
	uint64_t v;

	memcpy(&v, w.at + 8 * i, 8);
	return v;
}

/* Bytes in a record. */
struct bytes {
	const uint8_t *at;
	uint64_t size;
};

struct sample {
	uint32_t event;			/* index into the stream's events */
	uint16_t misc;			/* PERF_RECORD_MISC_*: the CPU's mode */
	pid_t pid, tid;
	uint32_t cpu;
	uint64_t ip;			/* where the CPU was */
	uint64_t time;			/* in the stream's clock, usually ns */
	uint64_t addr;			/* the data address, or what the event says */
	uint64_t id, stream_id;
	uint64_t period;		/* events since the last sample of this event */
	struct words read;		/* counter values, by attr.read_format */
	struct words callchain;		/* leaf first, with PERF_CONTEXT_* markers */
	struct bytes raw;		/* a tracepoint's fields */
	struct words branches;		/* 3 words each: from, to, flags */
	struct words user_regs;		/* of those in sample_regs_user, lowest bit first */
	uint64_t user_regs_abi;		/* PERF_SAMPLE_REGS_ABI_* */
	struct bytes user_stack;
	uint64_t weight;		/* or the three parts of WEIGHT_STRUCT */
	uint64_t data_src;
	uint64_t transaction;
	struct words intr_regs;
	uint64_t intr_regs_abi;
	uint64_t phys_addr;
	uint64_t cgroup;
	uint64_t data_page_size, code_page_size;	/* bytes */
	struct bytes aux;		/* what the hardware traced right before; not decoded */
};

/*
 * Decode REC, a SAMPLE of EVENT, which is the INDEX-th of its stream.  False
 * when the record is shorter than its fields; NEEDED is then how many bytes of
 * body they take at least.
 */
bool sample_decode(const struct stream_event *event, uint32_t index, const struct record *rec,
		   struct sample *out, uint64_t *needed);

/*
 * Convert the SIZE bytes of BODY, a SAMPLE of EVENT from a machine of the other byte order, to
 * ours, in place.  Conversion ends at a count that does not fit: sample_decode() then finds the
 * same count, and fails.
 */
void sample_swap(const struct stream_event *event, uint8_t *body, size_t size);
