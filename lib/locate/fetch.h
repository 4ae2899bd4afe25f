/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch - asks debuginfod servers for files, by debuginfod-find(1), several at once.
 *
 * Servers that do not answer are not asked again in this run: what waiting for them may
 * cost is limited for all files together.
 */
#pragma once
#include "base/report.h"
#include "base/table.h"

#include <stddef.h>
#include <sys/types.h>

enum locate_kind {
	LOCATE_PROGRAM,		/* with its code */
	LOCATE_DEBUG,		/* with debug information or symbols */
};

struct fetcher {
	const char *urls;	/* NULL: nothing is fetched */
	uint64_t limit;		/* ns of waiting, for all files */
	struct report *report;
	/* the rest is the implementation's, zero at first */
	uint64_t waited;	/* ns */
	uint64_t patience;	/* ns after which the client gives up; 0: not known */
	bool begun, given_up;
	struct query *query;
	uint32_t queries, running;
	struct table table;
};

/* As a debuginfod server calls the KIND. */
const char *fetch_kind_name(enum locate_kind kind);

/* Whether files are fetched, still. */
bool fetch_is_on(const struct fetcher *f);

/* Begin to fetch the file with build ID HEX, unless it was asked for or too many are under way. */
void fetch_begin(struct fetcher *f, const char *hex, enum locate_kind kind);

/*
 * Fetch that file, and wait for it; returns whether it was asked for, now or before.
 * The client puts it where debuginfod_find_debuginfo(3) says.
 */
bool fetch_wait(struct fetcher *f, const char *hex, enum locate_kind kind);

/* End what is under way. */
void fetch_release(struct fetcher *f);
