/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_reader - the records of a stream or of a perf.data file, in order.
 *
 *	struct stream_reader *in = stream_open("-", &report);
 *	struct record rec;
 *
 *	while (stream_next(in, &rec))
 *		...
 *	stream_close(in);
 *
 * A seekable perf.data file reads as the pipe would have carried it: what its
 * header holds comes first, as ATTR, EVENT_UPDATE, FEATURE and BUILD_ID
 * records (record.made), then its data.
 *
 * The reader follows the events' definitions and the header features as they
 * pass by.  Memory is one buffer, whatever the length of the stream; nothing
 * is allocated per record.  Damage is reported with the file and the offset,
 * and ends the stream: what was whole before it has been returned.
 */
#pragma once
#include "base/report.h"
#include "record/events.h"
#include "record/origin.h"
#include "record/record.h"
#include "record/sample.h"

#include <signal.h>

struct stream_reader;

/*
 * Open FILE ("-": stdin) and read its header.  REPORT must outlive the reader.
 * NULL when it cannot be opened or is no stream: that has been reported, and
 * the functions below take NULL for an empty stream.
 */
struct stream_reader *stream_open(const char *file, struct report *report);

/* End the stream, as if whole, once *STOP is set, even while waiting for input. */
void stream_stop_on(struct stream_reader *in, const volatile sig_atomic_t *stop);

/* The next record into *REC; false at the end.  Views of the last one die. */
bool stream_next(struct stream_reader *in, struct record *rec);

/*
 * Decode REC, a SAMPLE just read.  False when it is damaged or its event is
 * unknown: that has been reported.
 */
bool stream_sample(struct stream_reader *in, const struct record *rec, struct sample *out);

/* The time of REC in the stream's clock, SAMPLE or not; 0 where it has none. */
uint64_t stream_time(const struct stream_reader *in, const struct record *rec);

/* REC was found damaged: report it, as a record that is skipped. */
void stream_damaged(struct stream_reader *in, const struct record *rec, const char *why);

/* What the stream has said so far.  Never NULL; they live as long as the reader. */
const struct stream_events *stream_events(const struct stream_reader *in);
const struct stream_origin *stream_origin(const struct stream_reader *in);

/* Whether the end was reached with nothing missing or damaged on the way. */
bool stream_is_whole(const struct stream_reader *in);

/* Whether bytes wait in the buffer: if not, the next record may be long in coming. */
bool stream_has_more(const struct stream_reader *in);

void stream_close(struct stream_reader *in);
