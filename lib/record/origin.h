/* SPDX-License-Identifier: Apache-2.0 */
/*
 * origin - where a stream was recorded and how: its header features.
 *
 * A pipe carries each as a FEATURE record, a file as a section behind its
 * data; both have the same bytes (tools/perf/Documentation/perf.data-file-format.txt).
 */
#pragma once
#include "base/arena.h"
#include "base/cursor.h"

/* Numbers of the features we read or write. */
enum {
	FEATURE_TRACING_DATA	= 1,	/* a file's only: what is behind TRACING_DATA records */
	FEATURE_BUILD_ID	= 2,	/* a file's only: BUILD_ID records */
	FEATURE_HOSTNAME	= 3,
	FEATURE_OSRELEASE	= 4,
	FEATURE_VERSION		= 5,	/* of the recorder */
	FEATURE_ARCH		= 6,
	FEATURE_NRCPUS		= 7,
	FEATURE_CPUDESC		= 8,
	FEATURE_CMDLINE		= 11,
	FEATURE_EVENT_DESC	= 12,	/* attrs, names and ids of all events */
	FEATURE_SAMPLE_TIME	= 21,	/* when the recording began and ended */
	FEATURE_CLOCK_DATA	= 29,
	FEATURE_FILE		= 128,	/* simpleperf's: symbols of files, */
	FEATURE_META_INFO	= 129,	/* what it was asked for, */
	FEATURE_FILE2		= 132,	/* and the symbols as it writes them since 2021 */
};

/* Strings are "" where the stream does not say.  Zero-initialised: nothing said. */
struct stream_origin {
	const char *host;
	const char *kernel;		/* release, as of uname -r */
	const char *version;		/* of the recorder */
	const char *arch;		/* as of uname -m */
	const char *cpu;		/* model name */
	const char *command;		/* the recorder's command line */
	uint32_t cpus;			/* online; 0: not said */
	uint64_t first_time, last_time;	/* in the stream's clock; 0: not said */
	bool has_ended;			/* these two were said */
	bool is_simpleperf;		/* the recorder */
	bool has_clock;			/* these three are known: */
	uint32_t clock;			/* CLOCK_*: what records' times are of */
	uint64_t clock_time;		/* ns of CLOCK at some instant */
	uint64_t wall_time;		/* ns since 1970 at that instant */
	struct arena arena;		/* the strings */
};

/* Take in the feature of this number from its DATA.  False if it is damaged. */
bool origin_add(struct stream_origin *origin, uint64_t feature, struct cursor data);

/*
 * Whether the recorder is of this project: it says so first of all, and when
 * it ended (last_time) last of all.
 */
bool origin_is_ours(const struct stream_origin *origin);

void origin_release(struct stream_origin *origin);
