/* SPDX-License-Identifier: Apache-2.0 */
/*
 * post - sends parts of files by HTTP POST, one after the other, over one connection.
 *
 * The connection is kept while the server allows it; the address of the server is looked up anew
 * for each connection.  Each step has a time limit, and each answer a limit of bytes.
 */
#pragma once
#include "push/push-url.h"

#include <event2/event.h>
#include <stdbool.h>
#include <sys/types.h>

struct poster;

/* Time limits, in s. */
struct post_limits {
	double connect;		/* for each address */
	double progress;	/* in which the server takes no byte of the request */
	double send;		/* until the server has taken all of the request */
	double answer;		/* from then on */
};

struct post_request {
	const char *target;		/* path and query */
	const char *type;		/* Content-Type */
	const char *authorization;	/* value of the header; NULL: none */
	int fd;				/* of the body; stays open */
	off_t offset, size;		/* bytes of FD to send */
};

enum post_outcome {
	POST_ANSWERED,
	POST_NO_NAME,		/* the host has no address */
	POST_NO_CONNECTION,
	POST_TIMED_OUT,
	POST_BROKEN,		/* the connection ended before the answer did */
	POST_NOT_HTTP,		/* the answer is not HTTP, or too long */
};

struct post_result {
	enum post_outcome outcome;
	int status;		/* of an answer */
	double retry_after;	/* s that the server asks to wait; 0: it does not */
	char why[256];		/* a failure, or what the answer says; safe for a terminal */
};

typedef void post_done(void *context, const struct post_result *r);

/* Return a poster for the server of URL, which must outlive it. */
struct poster *poster_new(struct event_base *base, const struct push_url *url,
			  const struct post_limits *limits, post_done *done, void *context);

/* The request is dropped, and DONE is not called.  BASE needs to run once more. */
void poster_free(struct poster *p);

/* Send R.  When that has ended, DONE is called; never before this function returns. */
void poster_send(struct poster *p, const struct post_request *r);
