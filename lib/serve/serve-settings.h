/* SPDX-License-Identifier: Apache-2.0 */
/* serve-settings - what the operator of a server chose. */
#pragma once
#include "base/command.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct query;

struct serve_settings {
	const struct command_list *addresses;	/* each passes listen_check() */

	/* what is sampled: at most one, or none if requests choose */
	int pid;			/* 0: none */
	const char *comm, *cgroup, *user;
	bool system;
	bool any;			/* requests may choose a process */

	const char *allow;		/* events: kinds and names, separated by commas */
	const char *token_file;		/* NULL: none */
	const char *call_graph;		/* as query.callgraph */
	const char *cache;		/* directory of pmu-symbolize; NULL: none */
	uint64_t max_seconds;		/* longest profile, in ns */
	uint64_t jobs;			/* requests that sample at the same time, at most */
	double max_cost;		/* share of one CPU that all of this may take */

	/* profiles that are kept */
	uint64_t keep;			/* for this time, in ns; 0: none are */
	uint64_t interval;		/* a file for each, in ns */
	uint64_t keep_bytes;		/* of all files, at most */
	const char *keep_dir;
	const struct query *keep_query;	/* what is sampled, and how */
};
