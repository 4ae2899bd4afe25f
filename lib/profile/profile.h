/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile - resolved samples, aggregated, to pprof's profile.proto.
 *
 *	struct profile p = { .resolved = &tables };
 *
 *	profile_add(&p, &sample);		for each
 *	profile_write(&p, events, origin, out);
 *	profile_release(&p);
 */
#pragma once
#include "base/output.h"
#include "profile/stacks.h"
#include "stream/resolved.h"

/* What is learned of an event from its samples. */
struct profile_event {
	uint64_t samples;
	uint64_t sum;		/* of their periods */
	uint64_t period;	/* of the first one */
	bool varies;		/* others had another: the event has no one period */
	uint64_t enabled, running;	/* ns that it should have counted, and did; 0: not known */
};

/* Zero-initialised but for RESOLVED: empty. */
struct profile {
	const struct resolved *resolved;	/* what the samples' frame ids mean */
	struct stacks stacks;
	struct profile_event *event;		/* by index */
	uint32_t events;
	bool no_scale;				/* values as counted, however short a time */
	uint64_t first_time, last_time;		/* of any record, in the stream's clock; 0: none */
	char **comment;				/* ours */
	size_t comments;
};

void profile_add(struct profile *p, const struct resolved_sample *sample);

/*
 * Event EVENT should have counted for ENABLED ns more, and did for RUNNING ns.
 * Unless NO_SCALE its values are scaled by what it was not counted for.
 */
void profile_ran(struct profile *p, uint32_t event, uint64_t enabled, uint64_t running);

/* What to multiply the values of event EVENT by: 1 where it counted all the time. */
double profile_scale(const struct profile *p, uint32_t event);

/* Something happened at TIME (0: unknown): the profile's duration covers it. */
void profile_time(struct profile *p, uint64_t time);

/* A line for the people who read the profile. */
void profile_comment(struct profile *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Write the profile, gzip'd, and flush.  Failures to write are reported by OUT. */
void profile_write(const struct profile *p, const struct stream_events *events,
		   const struct stream_origin *origin, struct output *out);

void profile_release(struct profile *p);
