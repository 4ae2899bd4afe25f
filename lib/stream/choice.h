/* SPDX-License-Identifier: Apache-2.0 */
/* choice - selects samples of a stream. */
#pragma once
#include "stream/reader.h"

/* A field that is -1, NULL or (for times) 0 does not restrict the selection. */
struct choice {
	pid_t pid, tid;			/* -1: any; 0 is the idle task */
	int cpu;			/* -1: any */
	const char *comm;		/* the thread's name at the time of the sample */
	const char *event;		/* the event's name in the stream */
	uint64_t from, to;		/* in the stream's clock, TO exclusive; TO 0: no end */
	struct tasks *tasks;		/* the threads' names; allocated when needed */
};

#define CHOICE_ALL { .pid = -1, .tid = -1, .cpu = -1 }

/* The values of a sample by which it is selected. */
struct choice_facts {
	pid_t pid, tid;
	uint32_t cpu;
	uint64_t time;
	const char *event, *comm;	/* names; NULL: unknown */
};

/* Return whether CHOICE restricts the selection. */
bool choice_selects(const struct choice *choice);

/* Return whether SAMPLE is selected. */
bool choice_wants(const struct choice *choice, const struct choice_facts *sample);

/*
 * Parse "FROM,TO", each a duration (base/units.h) or empty, into a struct choice.  Return NULL, or
 * TEXT if it is wrong.  For command_option.parse.
 */
const char *choice_parse_time(const char *text, void *choice);

/* The rows of a table of options (base/command.h) that fill CHOICE, a struct choice. */
#define CHOICE_OPTIONS(choice) \
	{ 'p', "pid", "PID", "only samples of process PID", .integer = &(choice).pid }, \
	{ 't', "tid", "TID", "only samples of thread TID", .integer = &(choice).tid }, \
	{ 0, "comm", "NAME", "only samples of threads called NAME", .text = &(choice).comm }, \
	{ 'C', "cpu", "CPU", "only samples taken on CPU", .integer = &(choice).cpu }, \
	{ 'e', "event", "NAME", "only samples of this event", .text = &(choice).event }, \
	{ 0, "time", "FROM,TO", "only samples from FROM until before TO, in seconds", \
	  .parse = choice_parse_time, .value = &(choice), \
	  .takes = "FROM,TO in seconds of the stream's clock, either of which may be missing" }

/*
 * Return whether to keep REC, just read from IN: true for selected samples and for all
 * other records, because samples cannot be interpreted without them.  A damaged sample is
 * reported and not kept.
 */
bool choice_takes(struct choice *choice, struct stream_reader *in, const struct record *rec);

void choice_release(struct choice *choice);
