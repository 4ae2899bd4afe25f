/* SPDX-License-Identifier: Apache-2.0 */
/* serve-settings - the operator's choices for a server. */
#pragma once
#include "base/word-list.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct push_url;
struct query;

/* The form in which profiles are sent. */
enum push_form { PUSH_ROWS, PUSH_PPROF, PUSH_ROWS_DETAIL };

struct serve_settings {
	const struct word_list *addresses;	/* each passes listen_check() */

	/* target: at most one of these; none if requests choose */
	int pid;			/* 0: none */
	const char *comm, *cgroup, *user;
	bool system;
	bool any;			/* requests may choose a process */

	const char *allow;		/* events: kinds and names, separated by commas */
	const char *token_file;		/* NULL: none */
	const char *call_graph;		/* as query.callgraph */
	const char *labels;		/* argument of pmu-sample --labels; NULL: none */
	const char *cache;		/* directory of pmu-symbolize; NULL: none */
	uint64_t max_seconds;		/* longest profile, in ns */
	uint64_t jobs;			/* requests that sample at the same time, at most */
	double max_cost;		/* share of one CPU that requests may take */

	/* kept profiles */
	uint64_t keep;			/* how long they are kept, in ns; 0: none are kept */
	uint64_t interval;		/* time per file, in ns */
	uint64_t keep_bytes;		/* size limit of all files together */
	const char *keep_dir;
	const struct query *keep_query;	/* events and options */

	/* where kept profiles are sent */
	const struct push_url *push;	/* NULL: they are not sent */
	int push_as;			/* enum push_form */
	const char *push_credentials;	/* file; NULL: none */
	const char *host;		/* of this machine, for the receiver; NULL: as uname(2) */
	const char *service;		/* what is sampled, for the receiver; or NULL */
};
