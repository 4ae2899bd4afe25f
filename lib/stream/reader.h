/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader - reads the records of a stream or of a perf.data file, in order of time.
 *
 *	struct stream_reader *in = stream_open("-", NULL, &report);
 *	struct record rec;
 *
 *	while (stream_next(in, &rec))
 *		...
 *	stream_close(in);
 *
 * A perf.data file is read like a stream in pipe mode: the contents of its header
 * come first, as ATTR, EVENT_UPDATE, FEATURE and BUILD_ID records (record.made),
 * then its data.
 *
 * The reader keeps the events and header features that the records define.  Memory
 * does not depend on the length of the stream; nothing is allocated per record.
 * Damage is reported with the file and the offset.  The reader continues at the next
 * place where records follow each other.
 */
#pragma once
#include "base/report.h"
#include "record/events.h"
#include "record/origin.h"
#include "record/record.h"
#include "record/sample.h"

#include <signal.h>
#include <sys/types.h>

struct stream_reader;

/*
 * Open FILE ("-": stdin) and read its header.  STOP: as in stream_stop_on(), or NULL.  REPORT
 * must outlive the reader.  Return NULL if it cannot be opened or is not a stream (reported), or
 * if *STOP was set before the header came; the functions below treat NULL as an empty stream.
 */
struct stream_reader *stream_open(const char *file, const volatile sig_atomic_t *stop,
				  struct report *report);

/* Callback: as read(2): read up to SIZE bytes, and return their number, 0 at the end, or -1. */
typedef ssize_t stream_read(void *context, void *bytes, size_t size);

/* What a stream is read from.  FILE is its name in messages, and must outlive the reader. */
struct stream_source {
	const char *file;
	stream_read *read;	/* NULL: FD is read */
	void *context;		/* of READ */
	int fd;			/* -1 if READ is given */
	bool is_lent;		/* FD stays the caller's */
};

/* As stream_open(), but read from SOURCE, which is copied. */
struct stream_reader *stream_open_source(const struct stream_source *source,
					 const volatile sig_atomic_t *stop,
					 struct report *report);

/*
 * Open the stream in FD, whose first SIZE bytes (up to STREAM_HEAD_MAX) the caller has read to
 * HEAD already.  Messages call it FILE.  FD belongs to the reader.
 */
enum { STREAM_HEAD_MAX = 128 * 1024 };
struct stream_reader *stream_open_rest(int fd, const char *file, const void *head, size_t size,
				       struct report *report);

/* End the stream without a report of damage once *STOP is set, even while it waits for input. */
void stream_stop_on(struct stream_reader *in, const volatile sig_atomic_t *stop);

/* Read the next record into *REC.  The previous record becomes invalid.  False: the end. */
bool stream_next(struct stream_reader *in, struct record *rec);

/*
 * After a SAMPLE, return the next record in *REC, if it is a SAMPLE, too, and available without
 * waiting.  Earlier records stay valid until the next stream_next().
 */
bool stream_next_sample(struct stream_reader *in, struct record *rec);

/* The same for CHAIN_SAMPLEs of a resolved stream. */
bool stream_next_chain_sample(struct stream_reader *in, struct record *rec);

/*
 * Decode REC, a SAMPLE just read.  Return false if it is damaged or its event is
 * unknown (reported).
 */
bool stream_sample(struct stream_reader *in, const struct record *rec, struct sample *out);

/*
 * Read IN only to count: from now on records come in the order of the input and are not copied,
 * unless the order of samples changes the counts of an event.
 */
void stream_only_count(struct stream_reader *in);

/*
 * Let records take at most BYTES of memory while they wait to be sorted by time.  A round of the
 * recorder that has more is not sorted completely.
 */
void stream_limit_waiting(struct stream_reader *in, size_t bytes);

/*
 * Do not report at the end of IN what this version does not know, or that the recorder's last
 * record is missing: the filter that writes IN, which this tool started, reports that, or its
 * failure is reported.
 */
void stream_leave_newer(struct stream_reader *in);

/*
 * For readers that only count: call this for each SAMPLE just read.  Decode the fields of REC that
 * counting needs.  Return false, without a report, if stream_sample() is needed.
 */
bool stream_count_sample(struct stream_reader *in, const struct record *rec,
			 struct sample_brief *out);

/*
 * Return the time of REC, of any record type, in the stream's clock; 0 if it has no time, or an
 * impossible one.
 */
uint64_t stream_time(const struct stream_reader *in, const struct record *rec);

/*
 * Return TIME, of a record of IN, or 0 if it is more than ten years in the future: then it is not
 * really a time.  Such a time would move the end of a recording, and its intervals.  Without the
 * stream's clock, any time is possible.
 */
uint64_t stream_possible_time(const struct stream_reader *in, uint64_t time);

/*
 * Return whether records follow in the buffer, and all are before TIME.  A record whose time is
 * much later than the times before and after it has a wrong time.  This looks at 64 times, and
 * returns false after 1,000 wrong times.
 */
bool stream_goes_back(struct stream_reader *in, uint64_t time);

/* Report that REC is damaged and skipped; WHY says what is wrong. */
void stream_damaged(struct stream_reader *in, const struct record *rec, const char *why);

/*
 * Return whether the fields of REC fit into it; if not, report that REC is damaged.  Only types
 * that matter to readers are checked: MMAP, MMAP2, COMM, FORK, EXIT, LOST, LOST_SAMPLES, KSYMBOL,
 * BUILD_ID.
 */
bool stream_fits(struct stream_reader *in, const struct record *rec);

/* If T, which follows IN, has forgotten more threads or names for lack of room, report that. */
struct tasks;
void stream_note_tasks(struct stream_reader *in, const struct tasks *t);

/* If G, which splits the samples of IN, has left more samples unsplit, report that. */
struct groups;
void stream_note_groups(struct stream_reader *in, const struct groups *g);

/* Return what the stream has defined so far.  Never NULL; valid as long as the reader. */
const struct stream_events *stream_events(const struct stream_reader *in);
const struct stream_origin *stream_origin(const struct stream_reader *in);

/* Return whether the stream was read to its end, and nothing was damaged or missing. */
bool stream_is_whole(const struct stream_reader *in);

/* Return errno of the read that failed and ended the stream, or 0. */
int stream_error(const struct stream_reader *in);

/* Return whether the stream has the other byte order; records are converted. */
bool stream_is_swapped(const struct stream_reader *in);

/* Return whether bytes are buffered; if not, stream_next() may wait for input. */
bool stream_has_more(const struct stream_reader *in);

/* Callback: a record that stream_next() will return later.  It is valid during the call. */
typedef void stream_follower(void *context, const struct record *rec);

/*
 * For use during long work: call FOLLOW(CONTEXT, ...) once for each record that has come since and
 * is not compressed, in the order of the input.  The records that were returned stay valid.  It
 * looks no further than the buffer has room.
 */
void stream_look_ahead(struct stream_reader *in, stream_follower *follow, void *context);

/*
 * Wait until there is input, its end, or a signal.  Return false if MS milliseconds pass before.  A
 * callback is not waited for: the result is true.
 */
bool stream_wait(const struct stream_reader *in, int ms);

void stream_close(struct stream_reader *in);
