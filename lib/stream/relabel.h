/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relabel - rewrites the records of one stream for a stream that joins several.
 *
 * In the joint stream every event samples an IDENTIFIER, and every record of the
 * kernel ends in a sample_id.  So the event of each record is known, even if the
 * events sample different fields.  Ids are new, so that they are unique.
 */
#pragma once
#include "stream/reader.h"
#include "stream/writer.h"

struct relabel {
	struct stream_reader *in;	/* stream that the records come from */
	const uint64_t *new_id;		/* new id for each of stream_events(in)->id */
	const uint64_t *event_id;	/* for each event of IN: new id of samples without an id */
	const uint32_t *event_index;	/* for each event of IN: its index in the joint stream */
	int64_t shift;			/* ns to add to times */
};

/* Return the attr that the event with ATTR has in the joint stream. */
struct perf_event_attr relabel_attr(const struct perf_event_attr *attr);

/* Write REC, a record of the kernel.  A damaged record is reported and skipped. */
void relabel_write(const struct relabel *r, const struct record *rec, struct output *out);
