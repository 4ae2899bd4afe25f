/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample - decodes the fields of a SAMPLE record.
 *
 * The offsets of the fixed fields depend only on the event's attr, so they are
 * computed once per event (struct sample_layout).  Decoding a sample then takes one
 * check of its size and plain loads.
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

/*
 * The labels that the sampled thread had (record/label-payload.h).  If the sample has no labels
 * record, its labels are unknown.
 */
struct sample_labels {
	bool is_known;		/* a labels record was found for the sample */
	uint8_t status;		/* enum label_status */
	uint8_t flags;		/* LABEL_CUT, LABEL_FAULT, LABEL_LEFT_OUT */
	uint8_t form;		/* enum label_form */
	uint8_t pairs;		/* number of pairs in TEXT, all within it */
	struct bytes text;	/* for each pair: u8 size, key, u8 size, value */
};

/* A decoded sample.  Fields that its event does not have are 0; PID and TID are then -1. */
struct sample {
	uint32_t event;			/* index into the stream's events */
	uint16_t misc;			/* PERF_RECORD_MISC_*: the CPU's mode */
	pid_t pid, tid;
	uint32_t cpu;
	uint64_t ip;			/* address of the instruction */
	uint64_t time;			/* in the stream's clock, usually ns */
	uint64_t addr;			/* data address; its meaning depends on the event */
	uint64_t id, stream_id;
	uint64_t period;		/* events since the last sample of this event */
	struct words read;		/* counter values, by attr.read_format */
	struct words callchain;		/* leaf first, with PERF_CONTEXT_* markers */
	struct bytes raw;		/* a tracepoint's fields */
	struct words branches;		/* 3 words per branch: from, to, flags */
	struct words user_regs;		/* registers in attr.sample_regs_user, lowest bit first */
	uint64_t user_regs_abi;		/* PERF_SAMPLE_REGS_ABI_* */
	struct bytes user_stack;
	uint64_t weight;		/* or the three numbers of PERF_SAMPLE_WEIGHT_STRUCT */
	uint64_t data_src;
	uint64_t transaction;
	struct words intr_regs;
	uint64_t intr_regs_abi;
	uint64_t phys_addr;
	uint64_t cgroup;
	uint64_t data_page_size, code_page_size;	/* bytes */
	struct bytes aux;		/* hardware trace before the sample; not decoded */
	struct sample_labels labels;	/* set by label_join_take() (labels/label-join.h) */
};

/*
 * Decode REC, a SAMPLE of EVENT, which has INDEX in its stream.  Return false if
 * the record is shorter than its fields; *NEEDED is then the minimum size of the
 * body in bytes.
 */
bool sample_decode(const struct stream_event *event, uint32_t index, const struct record *rec,
		   struct sample *out, uint64_t *needed);

/*
 * Copy to TO those of REGISTERS, the registers in the mask HAVE, that are in the mask WANTED: u64
 * each.  Return the number of bytes.
 */
size_t sample_choose_registers(uint8_t *to, struct words registers, uint64_t have, uint64_t wanted);

/* The fields that counting needs, as in struct sample. */
struct sample_brief {
	uint32_t event;
	uint64_t time, period;
};

/*
 * Decode only these fields.  Return false if sample_decode() is needed: REC is damaged, or its
 * event has fields of variable size other than a callchain.
 */
bool sample_decode_brief(const struct stream_event *event, uint32_t index,
			 const struct record *rec, struct sample_brief *out);

/* The fields of a sample that counting its stack needs, as in struct sample. */
struct sample_plain {
	uint64_t ip, time, period;
	struct words callchain;
	pid_t pid, tid;
};

/* Decode only these fields.  Return false as above. */
bool sample_decode_plain(const struct stream_event *event, const struct record *rec,
			 struct sample_plain *out);

/*
 * Convert the SIZE bytes of BODY, a SAMPLE of EVENT in the other byte order, in place.
 * The conversion ends at a count that does not fit; sample_decode() fails at the same count.
 */
void sample_swap(const struct stream_event *event, uint8_t *body, size_t size);
