/* SPDX-License-Identifier: Apache-2.0 */
/* tally - what a stream has in all: records by type, samples by event, losses, time. */
#pragma once
#include "record/group.h"
#include "stream/reader.h"

enum { TALLY_TYPES = 128 };	/* the kernel's and perf's; ours follow */

/* Zero-initialised: nothing yet. */
struct tally {
	uint64_t records, bytes;
	uint64_t type[TALLY_TYPES];
	uint64_t resolved[8];		/* from RECORD_STRING on */
	uint64_t unknown;		/* of other types */
	struct tally_event {
		uint64_t samples;	/* with those of its group, where it went on */
		uint64_t sum;		/* of their periods, or of what the group's samples read */
	} *event;			/* by index */
	struct groups groups;
	uint32_t events;
	uint64_t lost, throttled;
	uint64_t first_time, last_time;	/* 0: no record has one */
};

/* Count REC, just read from IN. */
void tally_add(struct tally *tally, struct stream_reader *in, const struct record *rec);

/* Print it on stdout, a line each or as one JSON object. */
void tally_print(const struct tally *tally, const struct stream_reader *in, bool json);

void tally_release(struct tally *tally);
