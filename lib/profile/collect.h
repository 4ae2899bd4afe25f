/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect - a stream, raw or resolved, to a profile.
 *
 * Samples of a raw stream go through the same resolver that pmu-symbolize
 * has, without symbols: their frames are addresses in objects, which pprof can
 * name later by itself.
 */
#pragma once
#include "profile/profile.h"
#include "symbol/resolver.h"

struct collect {
	struct profile profile;
	struct resolved tables;
	uint64_t lost;		/* records that never came into the stream, by its own word */
	uint64_t throttled;	/* times that an event was stopped for coming too fast */
	/* the rest is the implementation's */
	struct report *report;
	struct resolver *resolver;
	uint32_t *frame;
	bool is_resolved;	/* a filter before us has resolved it */
	bool is_raw;		/* samples came that none had; a stream is never both */
	bool has_end;		/* and its END came, with counts that agree */
};

void collect_init(struct collect *c, struct report *report);

/* Take in all records of IN, to its end. */
void collect_stream(struct collect *c, struct stream_reader *in);

/* Say in the profile's comments where, how and how well IN was recorded. */
void collect_comment(struct collect *c, const struct stream_reader *in);

void collect_release(struct collect *c);
