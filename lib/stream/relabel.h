/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relabel - a record of one stream, rewritten for another that holds several.
 *
 * In the joint stream every event samples an IDENTIFIER, and every record of
 * the kernel's ends in a sample_id: so each can be told from those of other
 * events, whatever these sample.  Ids are new, so that they are unique.
 */
#pragma once
#include "stream/reader.h"
#include "stream/writer.h"

struct relabel {
	struct stream_reader *in;	/* whose records they are */
	const uint64_t *new_id;		/* for each of stream_events(in)->id */
	const uint64_t *event_id;	/* for each event of IN: that of samples without one */
	int64_t shift;			/* ns to add to times */
};

/* What an event's attr is in the joint stream. */
struct perf_event_attr relabel_attr(const struct perf_event_attr *attr);

/* Write REC, a record of the kernel's, or a SAMPLE.  A damaged one is reported, and skipped. */
void relabel_write(const struct relabel *r, const struct record *rec, struct output *out);
