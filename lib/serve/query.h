/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query - the parameters of a request: "event=cycles&period=10000&seconds=30".
 *
 * Everything here comes from outside.  A parsed query has numbers within their bounds, and texts
 * without control characters; the tools' own parsers judge what the texts mean.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	QUERY_SIZE = 4096,		/* bytes of a query string, at most */
	QUERY_EVENTS = 16,		/* event= parameters, at most */
	QUERY_FREQUENCY = 10000,	/* Hz, at most */
};

/* Parameters, as bits: those that an address allows. */
enum query_parameter {
	QUERY_SECONDS = 1 << 0,
	QUERY_EVENT = 1 << 1,
	QUERY_PERIOD = 1 << 2,
	QUERY_RATE = 1 << 3,
	QUERY_HZ = 1 << 4,		/* frequency= */
	QUERY_CALLGRAPH = 1 << 5,
	QUERY_LABEL = 1 << 6,
	QUERY_PID = 1 << 7,
	QUERY_COMM = 1 << 8,
	QUERY_DEBUG = 1 << 9,		/* Go's: accepted, and without meaning */
	QUERY_TYPES = 1 << 10,
	QUERY_FROM = 1 << 11,
	QUERY_TO = 1 << 12,
};

struct query {
	char text[QUERY_SIZE + 1];	/* the decoded values */
	char wrong[256];		/* what is wrong, and what is right */

	const char *event[QUERY_EVENTS];
	size_t events;
	uint64_t seconds;		/* in ns; 0: not given, as for all below */
	uint64_t period;		/* events per sample */
	uint64_t rate;			/* a frequency for timers, a period for other events */
	uint64_t frequency;		/* Hz */
	const char *callgraph;		/* what pmu-sample --call-graph takes, or "auto" */
	const char *label;		/* what pmu-topprof --label takes */
	pid_t pid;
	const char *comm;
	bool one_type;			/* types=one: the default sample type only */
	uint64_t from, to;		/* s since 1970 */
};

/*
 * Parse TEXT, what comes after '?' (NULL: nothing), into Q.  ALLOWED: bits of enum
 * query_parameter.  A parameter without a value counts as not given.  Return false if TEXT is
 * wrong: Q->wrong says why.
 */
bool query_parse(struct query *q, const char *text, unsigned allowed);

/* Return whether Q samples by timers only: rate= is a frequency then, else a period. */
bool query_is_by_time(const struct query *q);

/* Set Q->callgraph to VALUE.  Return false if that is no way to record callchains. */
bool query_take_callgraph(struct query *q, const char *value);
