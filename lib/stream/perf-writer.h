/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf-writer - turns a stream in pipe mode into a perf.data file, which has its events and the
 * facts about the recording at fixed places, and so must be seekable.
 *
 *	struct perf_writer *w = perf_writer_new(out);
 *
 *	write the stream to OUT, perhaps as several files
 *	output_close(out);
 *	perf_writer_free(w);
 *
 * Until a file is closed, its header says that it has no data, as perf's own does: readers then
 * read on to the end of the file, and say that the recorder did not end it.
 */
#pragma once
#include "base/output.h"

struct perf_writer;

/* What was not written. */
struct perf_writer_drops {
	uint64_t private_records;	/* that only our tools know */
	uint64_t left_out;	/* records of facts for which there is no room, or no place */
	bool has_no_events;	/* a file has none, and nobody reads such a file */
};

/* Let OUT, to which nothing was written yet, write perf.data files. */
struct perf_writer *perf_writer_new(struct output *out);

struct perf_writer_drops perf_writer_drops(const struct perf_writer *w);

/* Call this after output_close(). */
void perf_writer_free(struct perf_writer *w);
