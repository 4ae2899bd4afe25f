/* SPDX-License-Identifier: Apache-2.0 */
/* push-log - counts what became of the profiles that a pusher sends, and reports failures. */
#pragma once
#include "base/report.h"

#include <event2/buffer.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Why a profile was not sent, this time. */
enum push_failure {
	PUSH_NAME,		/* the name of the host has no address */
	PUSH_CONNECT,
	PUSH_TIMEOUT,
	PUSH_CONNECTION,	/* it ended before the answer did */
	PUSH_ANSWER,		/* it is not HTTP, or too long */
	PUSH_REDIRECT,		/* 3xx */
	PUSH_UNAUTHORIZED,	/* 401, 403 */
	PUSH_MISSING,		/* 404 */
	PUSH_BUSY,		/* 408, 429 */
	PUSH_SERVER,		/* 5xx */
	PUSH_REFUSED,		/* other 4xx */
	PUSH_CREDENTIALS,	/* their file cannot be used */
	PUSH_PROFILE,		/* it cannot be read, or made into rows */
	PUSH_MARK,		/* it was sent, but the mark cannot be written */
	PUSH_FAILURES,
};

/* Why a profile will not be sent. */
enum push_drop { PUSH_DELETED, PUSH_NOT_TAKEN, PUSH_DAMAGED, PUSH_DROPS };

struct push_log {
	struct report *report;
	const char *server;		/* its name in messages */
	uint64_t profiles, bytes;	/* sent */
	uint64_t failures[PUSH_FAILURES], drops[PUSH_DROPS];
	time_t succeeded;		/* the last time, s since 1970; or 0 */
	double due[PUSH_FAILURES];	/* when it may be reported again; monotonic, in s */
	uint64_t lost;			/* deleted profiles that were not reported yet */
	double lost_due;
	bool has_failed;		/* reported, and nothing was sent since */
};

/* Count FAILURE, and report it once an hour: WHY, and that WAITING profiles wait. */
void push_log_failure(struct push_log *l, enum push_failure failure, const char *why,
		      size_t waiting);

/* Count BYTES that were sent; WHOLE: with them a profile is. */
void push_log_sent(struct push_log *l, uint64_t bytes, bool whole);

/* Count COUNT profiles that were deleted unsent; report them once an hour. */
void push_log_deleted(struct push_log *l, size_t count);

/* The profile NAME will not be sent, because of WHY. */
void push_log_dropped(struct push_log *l, enum push_drop drop, const char *name, const char *why);

/* Write the metrics.  WAITING: profiles to be sent. */
void push_log_print(const struct push_log *l, size_t waiting, struct evbuffer *out);
