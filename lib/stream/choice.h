/* SPDX-License-Identifier: Apache-2.0 */
/* choice - which samples of a stream are wanted. */
#pragma once
#include "stream/reader.h"

/* What is -1, NULL or a time of 0 is not asked for. */
struct choice {
	pid_t pid, tid;			/* -1: any; 0 is the idle task */
	int cpu;			/* -1: any */
	const char *comm;		/* the thread's name at that time */
	const char *event;		/* by its name in the stream */
	uint64_t from, to;		/* in the stream's clock; TO 0: no end */
	struct tasks *tasks;		/* to know their names; made when needed */
};

#define CHOICE_ALL { .pid = -1, .tid = -1, .cpu = -1 }

/* Of a sample, what is asked for. */
struct choice_facts {
	pid_t pid, tid;
	uint32_t cpu;
	uint64_t time;
	const char *event, *comm;	/* names; NULL: not known */
};

bool choice_wants(const struct choice *choice, const struct choice_facts *sample);

/* "FROM,TO": seconds in the stream's clock, either may be missing.  False if it is not so. */
bool choice_parse_time(struct choice *choice, const char *text);

/*
 * Whether REC, just read from IN, stays: samples that are wanted, and every
 * other record, since these say what samples mean.  A damaged sample, which is
 * reported, does not stay.
 */
bool choice_takes(struct choice *choice, struct stream_reader *in, const struct record *rec);

void choice_release(struct choice *choice);
