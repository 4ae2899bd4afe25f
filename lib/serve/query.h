/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query - parses the parameters of a request: "event=cycles&period=10000&seconds=30".
 *
 * The input is not trusted.  In a parsed query, numbers are within their bounds and texts have no
 * control characters; the tools check what the texts mean.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	QUERY_SIZE = 16384,		/* bytes of the decoded query string, at most */
	QUERY_EVENTS = 16,		/* event= parameters, at most */
	QUERY_FREQUENCY = 10000,	/* Hz, at most */
};

/* Parameters, as bits of a set. */
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
	QUERY_DEBUG = 1 << 9,		/* a parameter of Go's; accepted and ignored */
	QUERY_TYPES = 1 << 10,
	QUERY_FROM = 1 << 11,
	QUERY_TO = 1 << 12,
	QUERY_FALLBACK = 1 << 13,
};

struct query {
	char text[QUERY_SIZE + 1];	/* storage of the decoded values */
	char wrong[256];		/* error message of query_parse() */

	const char *event[QUERY_EVENTS];
	size_t events;
	uint64_t seconds;		/* in ns; 0: not given, as for all below */
	uint64_t period;		/* events per sample */
	uint64_t rate;			/* a frequency for timers, a period for other events */
	uint64_t frequency;		/* Hz */
	const char *callgraph;		/* argument of pmu-sample --call-graph, or "auto" */
	const char *label;		/* argument of pmu-topprof --label */
	bool program_labels;		/* LABEL has labels that the program sets */
	pid_t pid;
	const char *comm;
	bool one_type;			/* types=one: only the default sample type */
	bool fallback;			/* fallback=1: the timer replaces what cannot be sampled */
	uint64_t from, to;		/* s since 1970 */
};

/*
 * Parse TEXT, the part of an address after '?' (NULL: none), into Q.  ALLOWED is a set of enum
 * query_parameter.  Parameters without a value are ignored.  Return false if TEXT is wrong, and
 * set Q->wrong to the reason.
 */
bool query_parse(struct query *q, const char *text, unsigned allowed);

/* Return whether all events of Q are timers: rate= is then a frequency, otherwise a period. */
bool query_is_by_time(const struct query *q);

/*
 * Return whether Q has a period that does not apply to one of its events: the timer has none.
 * ONLY: the timer is all that is sampled, so that the period does not apply at all.
 */
bool query_ignores_period(const struct query *q, bool only);

/* Set Q->callgraph to VALUE.  Return false if VALUE is not a method to record callchains. */
bool query_set_callgraph(struct query *q, const char *value);
