/* SPDX-License-Identifier: Apache-2.0 */
/*
 * origin - where a stream was recorded and how: its header features.
 *
 * A pipe has each feature in a FEATURE record, a file in a section after its
 * data; the bytes are the same (tools/perf/Documentation/perf.data-file-format.txt).
 */
#pragma once
#include "base/cursor.h"
#include "base/intern.h"

/* Numbers of the features we read or write. */
enum {
	FEATURE_TRACING_DATA	= 1,	/* only in files: the data of a TRACING_DATA record */
	FEATURE_BUILD_ID	= 2,	/* only in files: BUILD_ID records */
	FEATURE_HOSTNAME	= 3,
	FEATURE_OSRELEASE	= 4,
	FEATURE_VERSION		= 5,	/* version of the recorder */
	FEATURE_ARCH		= 6,
	FEATURE_NRCPUS		= 7,
	FEATURE_CPUDESC		= 8,
	FEATURE_CPUID		= 9,	/* vendor, family, model and stepping of the CPU */
	FEATURE_CMDLINE		= 11,
	FEATURE_EVENT_DESC	= 12,	/* attrs, names and ids of all events */
	FEATURE_PMU_MAPPINGS	= 16,	/* numbers and names of the PMUs */
	FEATURE_CACHE		= 20,	/* the CPU's caches */
	FEATURE_SAMPLE_TIME	= 21,	/* first and last time of the recording */
	FEATURE_CPU_PMU_CAPS	= 28,	/* sysfs: caps of the CPU's PMU */
	FEATURE_CLOCK_DATA	= 29,
	FEATURE_FILE		= 128,	/* simpleperf: symbols of files */
	FEATURE_META_INFO	= 129,	/* simpleperf: its settings and the types of events */
	FEATURE_FILE2		= 132,	/* simpleperf since 2021: FILE as protocol buffers */
};

/* Unknown strings are NULL or "".  Zero-initialised: nothing is known. */
struct stream_origin {
	const char *host;
	const char *kernel;		/* release, as uname -r prints it */
	const char *version;		/* version of the recorder */
	const char *arch;		/* machine, as uname -m prints it */
	const char *cpu;		/* model name */
	const char *command;		/* the recorder's command line */
	uint32_t cpus;			/* CPUs online; 0: unknown */
	uint32_t slots;			/* of a cycle, by the PMU's caps; 0: unknown */
	uint32_t cache_line;		/* bytes of a line of the first cache; 0: unknown */
	uint64_t first_time, last_time;	/* in the stream's clock; 0: unknown */
	bool has_ended;			/* FIRST_TIME and LAST_TIME were in the stream */
	bool is_simpleperf;		/* the recorder is simpleperf */
	bool has_clock;			/* CLOCK, CLOCK_TIME and WALL_TIME are known */
	bool is_ours;			/* the recorder is pmu-sample; see origin_is_ours() */
	uint32_t clock;			/* CLOCK_*: the clock of the records' times */
	uint64_t clock_time;		/* CLOCK at some instant, in ns */
	uint64_t wall_time;		/* wall clock at the same instant, in ns since 1970 */
	struct intern texts;		/* memory of the strings */
};

/* Add the feature with number FEATURE from its DATA.  Return false if it is damaged. */
bool origin_add(struct stream_origin *origin, uint64_t feature, struct cursor data);

/*
 * Return whether the recorder is pmu-sample.  Its streams start with its name and end with
 * the time of the end (last_time).
 */
static inline bool origin_is_ours(const struct stream_origin *origin)
{
	return origin->is_ours;
}

void origin_release(struct stream_origin *origin);
