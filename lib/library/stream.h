/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream - a stream that is read record by record, sample by sample, or into a profile.
 *
 * The records of a raw stream are followed by a resolver, as in pmu-symbolize, so that names can be
 * looked up for any sample; copies of stacks are unwound when their sample is read.  In a stream
 * that is resolved already, the records define the names.
 */
#pragma once
#include "labels/label-join.h"
#include "library/frame-list.h"
#include "library/given.h"
#include "record/group.h"
#include "resolve/resolver.h"
#include "stream/reader.h"
#include "stream/selection.h"
#include "unwind/leaf.h"
#include "unwind/unwind.h"

/* Where the bytes of a stream come from. */
struct stream_input {
	const char *name;		/* in messages */
	int fd;				/* -1: READ is called */
	bool is_lent;			/* FD is the caller's */
	pmukit_read *read;
	void *context;			/* of READ */
	struct owned file;		/* of FD, if it is the library's */
	struct owned wake;		/* eventfd: pmukit_stream_stop() was called */
};

/* What pmukit_stream_frames() is asked about. */
enum stream_last {
	LAST_OTHER,			/* no record, or none that is a sample */
	LAST_LABELS,			/* the labels record of a sample */
	LAST_RAW,			/* SAMPLE */
	LAST_RESOLVED,			/* RESOLVED */
};

struct pmukit_stream {
	struct handle handle;
	struct options options;
	struct stream_input input;
	volatile sig_atomic_t is_stopped;
	bool has_begun;			/* records were asked for */
	bool is_told;			/* the end was returned, and its error, if there is one */
	char damage[1024];		/* the first message about damage, or "" */
	struct stream_reader *in;
	struct selection selection;
	bool selects;
	/* of a raw stream: */
	struct resolver *resolver;
	struct unwind *unwind;		/* NULL: copies of stacks are not unwound */
	uint8_t *unwound;		/* RECORD_MAX_SIZE bytes: the record of SAMPLE */
	struct leaf_callers leaf_callers;
	struct label_join labels;
	struct groups groups;
	/* of a resolved stream: */
	struct resolved_reader reader;
	uint32_t *ids;			/* frames of RESOLVED: RESOLVED_FRAMES_MAX */
	bool has_end;
	/* of both: */
	struct resolved tables;
	bool is_raw, is_resolved;	/* so far; a stream is never both */
	/* the last record: */
	enum stream_last last;
	struct record record;
	struct sample sample;
	struct resolved_sample resolved;
	struct group_increase increase[GROUP_EVENTS_MAX];
	uint32_t increases, increase_at;	/* of SAMPLE: its samples, and the next of them */
	/* what was returned: */
	struct pmukit_record shown_record;
	struct pmukit_sample shown;
	uint64_t *callchain;
	size_t callchain_room;		/* elements of CALLCHAIN */
	struct pmukit_label *label;	/* LABEL_SET_PAIRS_MAX of them */
	struct frame_list frames;
	struct stream_event_shown **event;
	uint32_t events;
	struct pmukit_origin origin;
};

/* An event that was asked for.  It stays where it is. */
struct stream_event_shown {
	struct pmukit_stream_event event;
	struct perf_event_attr attr;
};

/*
 * In a call that works for S: read the next record to S->record, and follow it.  If it is a sample,
 * S->last says so, and it is decoded; if it is damaged, it is skipped.  Return false at the end.
 */
bool stream_step(struct pmukit_stream *s);

/*
 * In a call that works for S, after something was read: keep the first message about damage.
 * pmukit_error() says it at the end, which may be many calls later.
 */
void stream_keep_damage(struct pmukit_stream *s);

/*
 * In a call that works for S, after its last record: return 0, or the first time, the status that
 * says what was wrong with S.
 */
int stream_end(struct pmukit_stream *s);

/* Set C to what TEXT, pmukit_options.select, says.  TEXT must outlive C.  False: reported. */
bool select_parse(struct selection *c, char *text, struct report *report);

/* Read from S->input: a callback of the reader, whose CONTEXT is S. */
ssize_t stream_input_read(void *context, void *bytes, size_t size);
