/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access-stream - reads the samples with data addresses of a resolved stream.
 *
 *	struct access_stream *s = access_stream_new(opened, &selection, &report);
 *	struct access_sample access;
 *
 *	while (access_stream_next(s, &access))
 *		...
 *	use access_stream_facts(s)
 *	access_stream_free(s);
 */
#pragma once
#include "access/accesses.h"
#include "aggregate/open.h"
#include "stream/selection.h"

/* What is known of a stream after its end. */
struct access_facts {
	uint64_t samples;	/* that were selected and have a data address */
	uint64_t without;	/* that were selected and have none */
	uint64_t lost;		/* samples, or records that may have been samples */
	uint32_t events;	/* that have samples with a data address */
	const char *event;	/* name of the first of these events; NULL: no event */
	bool has_sources, has_weights, has_physical;	/* of some sample with a data address */
	bool is_complete;	/* each occurrence of these events is a sample */
};

struct access_stream;

/*
 * Return a reader of the samples in O, a stream, that are in SELECTION; NULL: reported.  All
 * arguments must outlive it.
 */
struct access_stream *access_stream_new(struct opened *o, const struct selection *selection,
					struct report *report);

/* Read the next sample that has a data address and is selected.  False: the end. */
bool access_stream_next(struct access_stream *s, struct access_sample *out);

const struct access_facts *access_stream_facts(const struct access_stream *s);

/* Return the events of the stream, and where it was recorded. */
const struct stream_events *access_stream_events(const struct access_stream *s);

/*
 * Return the size of a cache line of the machine that recorded the stream, in bytes: by the stream,
 * of this machine, or 64.  After the first access_stream_next().
 */
uint64_t access_stream_line(const struct access_stream *s);

void access_stream_free(struct access_stream *s);
