/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch - fetches files from debuginfod servers, with debuginfod-find(1), several at once.
 *
 * The time of waiting is limited for all files together. If a server does not answer, nothing
 * more is fetched in this run.
 */
#pragma once
#include "base/report.h"
#include "base/table.h"

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

enum locate_kind {
	LOCATE_PROGRAM,		/* a file with code */
	LOCATE_DEBUG,		/* a file with debug information or symbols */
};

struct fetcher {
	const char *urls;	/* NULL: nothing is fetched */
	uint64_t limit;		/* ns of waiting, for all files together */
	const volatile sig_atomic_t *stop;	/* set: wait no longer; or NULL */
	struct report *report;
	/* the rest is private to the implementation, zero at first */
	uint64_t waited;	/* ns of waiting so far */
	uint64_t timeout;	/* ns after which the client gives up; 0: unknown */
	bool begun, given_up;	/* the environment is set; nothing more is fetched */
	struct download *query;
	uint32_t queries, running;	/* RUNNING: clients that have not ended */
	struct table table;	/* over QUERY, by build ID and kind */
};

/* Return the name of KIND in the debuginfod protocol. */
const char *fetch_kind_name(enum locate_kind kind);

/* Return whether more files may be fetched. F may be NULL. */
bool fetch_is_on(const struct fetcher *f);

/*
 * Start to fetch the file with build ID HEX, and do not wait. Does nothing if the file was asked
 * for before, or if too many fetches are running.
 */
void fetch_begin(struct fetcher *f, const char *hex, enum locate_kind kind);

/*
 * Fetch the file with build ID HEX, and wait for the end of the fetch. Returns whether the file
 * was asked for, now or before. The client stores it where debuginfod_find_debuginfo(3) says.
 */
bool fetch_wait(struct fetcher *f, const char *hex, enum locate_kind kind);

/* Kill all running clients, and free F's memory. */
void fetch_release(struct fetcher *f);
