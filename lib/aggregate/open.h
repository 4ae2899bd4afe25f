/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open - reads whatever holds samples as a decoded profile: a pprof profile, rows, folded text, a
 * raw or resolved stream, or a perf.data file; plain, or compressed by gzip or zstd.
 *
 * The first bytes show which.  A stream is aggregated in this process; a raw one comes
 * through pmu-symbolize, and one with dumps of stacks through pmu-unwind, which are started
 * for that.
 *
 *	struct decoded *d = open_profile(file, &options, &report);
 *	...
 *	decoded_free(d);
 *
 * A caller that shows a stream while it comes uses the steps one by one.
 */
#pragma once
#include "aggregate/collect.h"
#include "pprof/decode.h"
#include "stream/reader.h"

/* Zero-initialised: as pmu-topprof does without options. */
struct open_options {
	const char *labels;	/* labels of a stream's samples, as for labeler_choose(); NULL: the
				   usual ones */
	uint64_t slices;	/* of a stream's time (collect_options); 0: none */
	void (*when_read)(void);	/* called once all input has been read; or NULL */
};

/*
 * Read FILE ("-": stdin).  Return NULL (reported) if FILE cannot be read, is of no kind
 * above, or is damaged so that nothing is left.  The caller frees with decoded_free().
 */
struct decoded *open_profile(const char *file, const struct open_options *options,
			     struct report *report);

enum open_kind {
	OPEN_PROFILE,		/* a pprof profile, rows, or an unknown format */
	OPEN_FOLDED,		/* lines of text */
	OPEN_RESOLVED,		/* a stream after pmu-symbolize */
	OPEN_RAW,		/* a stream before it, or a perf.data file */
};

/* An input whose first bytes have been looked at. */
struct opened;

/* Open FILE and look at its first bytes.  NULL: reported.  REPORT must outlive the result. */
struct opened *opened_new(const char *file, struct report *report);

enum open_kind opened_kind(const struct opened *o);

/* Return whether the input is a pipe or socket, so that data may come slowly. */
bool opened_is_live(const struct opened *o);

/*
 * Return a reader of O, a stream, resolved; NULL: reported.  Starts the filters that a raw
 * stream needs.  The caller closes it before opened_free().  At most once.
 */
struct stream_reader *opened_stream(struct opened *o);

/* Return the descriptor that the reader of opened_stream() waits for. */
int opened_fd(const struct opened *o);

/* Return O's profile, or NULL (reported), as open_profile() does.  At most once. */
struct decoded *opened_profile(struct opened *o, const struct open_options *options);

/* Return what the aggregation C has collected in SUBJECT as a decoded profile; NULL: reported. */
struct decoded *opened_subject(struct opened *o, struct collect *c,
			       struct collect_subject *subject);

/*
 * Close all.  Wait for the filters that were started, and report if one failed; STOPPED: the
 * caller has not read all, so that their failures mean nothing.
 */
void opened_free(struct opened *o, bool stopped);
