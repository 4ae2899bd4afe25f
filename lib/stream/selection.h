/* SPDX-License-Identifier: Apache-2.0 */
/* selection - selects samples of a stream. */
#pragma once
#include "stream/reader.h"

/* A field that is -1, NULL or (for times) 0 does not restrict the selection. */
struct selection {
	pid_t pid, tid;			/* -1: any; 0 is the idle task */
	int cpu;			/* -1: any */
	const char *comm;		/* the thread's name at the time of the sample */
	const char *event;		/* the event's name in the stream */
	uint64_t from, to;		/* in the stream's clock, TO exclusive; TO 0: no end */
	struct tasks *tasks;		/* the threads' names; allocated when needed */
};

#define SELECTION_ALL { .pid = -1, .tid = -1, .cpu = -1 }

/* The values of a sample by which it is selected. */
struct selection_values {
	pid_t pid, tid;
	uint32_t cpu;
	uint64_t time;
	const char *event, *comm;	/* names; NULL: unknown */
};

/* Return whether SELECTION has any restriction. */
bool selection_restricts(const struct selection *selection);

/*
 * After the end of a stream with EVENTS: an event that the stream does not have selects nothing, so
 * report which events it has, and return false.
 */
bool selection_check_event(const struct selection *selection, const struct stream_events *events,
			   struct report *report);

/* Return whether SAMPLE is selected. */
bool selection_contains(const struct selection *selection, const struct selection_values *sample);

/*
 * Return whether S, a sample of a thread called COMM, is selected.  If S is a labels record, its
 * sample's event decides.
 */
bool selection_takes(const struct selection *selection, const struct stream_events *events,
		     const struct sample *s, const char *comm);

/*
 * Parse "FROM,TO", each a duration (base/units.h) or empty, into a struct selection.  Return
 * NULL, or TEXT if it is wrong.  For command_option.parse.
 */
const char *selection_parse_time(const char *text, void *selection);

/*
 * Return whether to keep REC, just read from IN: true for selected samples and for all
 * other records, because samples cannot be interpreted without them.  A labels record is kept
 * if its sample is kept.  A damaged sample is reported and not kept.
 */
bool selection_keeps(struct selection *selection, struct stream_reader *in,
		     const struct record *rec);

void selection_release(struct selection *selection);
