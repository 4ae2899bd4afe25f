/* SPDX-License-Identifier: Apache-2.0 */
/* The events and the facts about a recording that the header of a perf.data file leads to. */
#pragma once
#include "base/buffer.h"
#include "record/events.h"

/* A part of the file: bytes from its start, and its size in bytes. */
struct perf_place {
	uint64_t offset, size;
};

/* An event as the stream defines it, of any version. */
struct perf_written_event {
	uint8_t *attr;
	size_t size;		/* bytes of ATTR */
	uint64_t *id;
	size_t ids;
	bool is_named;		/* the stream names it */
};

enum { PERF_FEATURES = 256 };

/* Zero-initialised: empty. */
struct perf_header {
	struct perf_written_event *event;
	uint32_t events;
	struct stream_events known;	/* the same events, to find the times of samples */
	struct buffer feature[PERF_FEATURES];
	bool has_feature[PERF_FEATURES];
	uint64_t first_time, last_time;	/* of the samples; 0: unknown */
	size_t memory;			/* bytes of all ids and features */
	bool is_written;		/* the events were written */
	bool has_changed;		/* and have changed since */
	struct perf_place attrs;	/* where they were written */
};

/* These take the contents of a record.  They return false if there is no room for it. */
bool perf_header_attr(struct perf_header *h, struct cursor body);
bool perf_header_feature(struct perf_header *h, struct cursor body);
bool perf_header_build_id(struct perf_header *h, const struct record *rec);
bool perf_header_tracing(struct perf_header *h, const uint8_t *bytes, uint64_t size);
void perf_header_name(struct perf_header *h, struct cursor body);	/* EVENT_UPDATE */
void perf_header_sample(struct perf_header *h, struct cursor body);

/* Return whether there is room for SIZE more bytes. */
bool perf_header_has_room(const struct perf_header *h, size_t size);

/*
 * Return the bytes of an attr in the file: the fewest that an older version had and that have all
 * that is not 0.  perf refuses a file whose attrs are larger than its own.
 */
size_t perf_header_attr_size(const struct perf_header *h);

/* Add the ids and the attr entries, which will be at offset AT of the file, to OUT. */
void perf_header_events(const struct perf_header *h, uint64_t at, struct buffer *out,
			struct perf_place *attrs);

/* Add the features, which will be at offset AT of the file, to OUT, and set their bits in BITS. */
void perf_header_features(struct perf_header *h, uint64_t at, struct buffer *out,
			  uint64_t bits[PERF_FEATURES / 64]);

/* Free what H has: it is empty then. */
void perf_header_release(struct perf_header *h);
