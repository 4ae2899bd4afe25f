/* SPDX-License-Identifier: Apache-2.0 */
#include "push/post.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/text.h"
#include "push/answer.h"
#include "push/lookup.h"
#include "push/pauses.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

enum poster_step { IDLE, LOOKING_UP, CONNECTING, SENDING, RECEIVING, DONE };

struct poster {
	struct event_base *base;
	const struct push_url *url;
	struct post_limits limits;
	post_done *done;
	void *context;
	enum poster_step step;
	struct bufferevent *connection;	/* or NULL */
	bool reused;			/* it has carried an earlier request */
	struct host_lookup *lookup;
	struct lookup_result found;
	size_t next;			/* index of the next address to try */
	struct event *on_limit;		/* time is up */
	struct event *on_done;		/* RESULT is complete */
	int fd;				/* of the body; a duplicate */
	off_t offset, size;
	size_t unsent;			/* bytes of the request, when ON_LIMIT was set */
	double sending;			/* s for which the request has been sent */
	char *head;			/* of the request */
	struct answer answer;
	struct post_result result;
	char why[128];			/* why the last address was not connected */
};

static void connect_next(struct poster *p);

static void disconnect(struct poster *p)
{
	if (p->connection)
		bufferevent_free(p->connection);
	p->connection = NULL;
}

static void set_limit(struct poster *p, double seconds)
{
	const struct timeval time = clock_timeval(seconds);

	evtimer_add(p->on_limit, &time);
}

/* The request has ended: call DONE soon. */
static void end(struct poster *p, enum post_outcome outcome, const char *why)
{
	p->result.outcome = outcome;
	snprintf(p->result.why, sizeof(p->result.why), "%s", why);
	text_make_safe(p->result.why);
	if (outcome != POST_ANSWERED)
		disconnect(p);
	evtimer_del(p->on_limit);
	p->step = DONE;
	event_active(p->on_done, EV_TIMEOUT, 0);
}

/* Return how many bytes of the request are not sent yet. */
static size_t unsent(const struct poster *p)
{
	return evbuffer_get_length(bufferevent_get_output(p->connection));
}

/* The answer is as whole as it needs to be. */
static void end_answered(struct poster *p)
{
	const struct answer *a = &p->answer;
	char text[sizeof(a->text)];

	snprintf(text, sizeof(text), "%s", *a->location && a->status / 100 == 3 ? a->location
		 : a->text);
	text[strcspn(text, "\r\n")] = '\0';
	p->result.status = a->status;
	if (!pauses_parse(a->retry_after, time(NULL), &p->result.retry_after))
		p->result.retry_after = 0;
	if (unsent(p) > 0 && a->status < 300) {
		end(p, POST_BROKEN, "the server answered before it had the whole request");
		return;
	}
	/* what was not sent yet, or came after the answer, would confuse the next request */
	if (a->closes || a->state != ANSWER_WHOLE || unsent(p) > 0 ||
	    evbuffer_get_length(bufferevent_get_input(p->connection)) > 0)
		disconnect(p);
	end(p, POST_ANSWERED, text);
}

/* Feed what has been received to the answer. */
static void receive(struct poster *p)
{
	struct evbuffer *in = bufferevent_get_input(p->connection);
	char bytes[4096];

	for (int n; p->answer.state < ANSWER_WHOLE &&
	     (n = (int)evbuffer_copyout(in, bytes, sizeof(bytes))) > 0; )
		evbuffer_drain(in, answer_read(&p->answer, bytes, (size_t)n));
}

/* Return whether the answer is one of failure: then its status counts, whole or not. */
static bool is_refusal(const struct answer *a)
{
	return a->status >= 300 && a->state > ANSWER_HEADER &&
	       (a->state != ANSWER_WRONG || a->body > 0);
}

/* The connection has ended, or FAILURE, an errno, has ended it. */
static void end_broken(struct poster *p, int failure)
{
	receive(p);
	if (!failure)
		answer_end(&p->answer);
	if (p->answer.state == ANSWER_WHOLE || is_refusal(&p->answer)) {
		end_answered(p);
		return;
	}
	bool silent = p->answer.head + p->answer.line_size == 0;
	if (p->reused && silent) {	/* the server closed it as we began to use it */
		disconnect(p);
		p->next = 0;
		p->reused = false;
		p->found.addresses = 0;
		connect_next(p);
		return;
	}
	end(p, POST_BROKEN, failure ? strerror(failure) : silent
	    ? "the server closed the connection without an answer" : p->answer.why);
}

static void on_input(struct bufferevent *connection, void *context)
{
	struct poster *p = context;

	(void)connection;
	if (p->step != SENDING && p->step != RECEIVING) {
		disconnect(p);		/* nothing was asked */
		return;
	}
	receive(p);
	if (p->answer.state == ANSWER_WHOLE)
		end_answered(p);
	else if (p->answer.state == ANSWER_WRONG && is_refusal(&p->answer))
		end_answered(p);
	else if (p->answer.state == ANSWER_WRONG)
		end(p, POST_NOT_HTTP, p->answer.why);
}

/* All of the request was sent. */
static void on_output(struct bufferevent *connection, void *context)
{
	struct poster *p = context;

	(void)connection;
	if (p->step != SENDING)
		return;
	p->step = RECEIVING;
	set_limit(p, p->limits.answer);
}

static void send_request(struct poster *p)
{
	struct evbuffer *out = bufferevent_get_output(p->connection);
	int fd = fcntl(p->fd, F_DUPFD_CLOEXEC, 0);

	p->answer = (struct answer){ .status = 0 };
	p->step = SENDING;
	set_limit(p, p->limits.progress);
	evbuffer_add(out, p->head, strlen(p->head));
	if (fd < 0 || evbuffer_add_file(out, fd, p->offset, p->size) < 0)
		end(p, POST_BROKEN, strerror(errno));
	else
		p->unsent = unsent(p);
	p->sending = 0;
}

/*
 * The server may have answered before it closed the connection, while we were still writing: read
 * that answer.
 */
static void read_last(struct poster *p)
{
	evutil_socket_t fd = bufferevent_getfd(p->connection);
	char bytes[4096];

	receive(p);
	for (ssize_t n; p->answer.state < ANSWER_WHOLE &&
	     (n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0; )
		answer_read(&p->answer, bytes, (size_t)n);
}

/* FAILURE, an errno, prevented the connection: try the next address. */
static void connect_other(struct poster *p, int failure)
{
	snprintf(p->why, sizeof(p->why), "%s", strerror(failure));
	disconnect(p);
	connect_next(p);
}

static void on_event(struct bufferevent *connection, short what, void *context)
{
	struct poster *p = context;
	int failure = what & BEV_EVENT_ERROR ? EVUTIL_SOCKET_ERROR() : 0;

	switch (p->step) {
	case CONNECTING:
		if (what & BEV_EVENT_CONNECTED) {
			send_request(p);
			return;
		}
		connect_other(p, failure);
		return;
	case SENDING:
	case RECEIVING:
		if (what & BEV_EVENT_WRITING) {
			bufferevent_disable(connection, EV_WRITE);
			read_last(p);
		}
		end_broken(p, failure);
		return;
	default:
		disconnect(p);
	}
}

/* Connect to ADDRESS.  Return false, and set why, if that fails at once. */
static bool start_connection(struct poster *p, const struct lookup_address *address)
{
	int fd = socket(address->any.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(p->why, sizeof(p->why), "%s", strerror(errno));
	if (fd < 0)
		return false;
	p->step = CONNECTING;
	p->connection = bufferevent_socket_new(p->base, fd, BEV_OPT_CLOSE_ON_FREE |
					       BEV_OPT_DEFER_CALLBACKS);
	if (!p->connection)
		abort();	/* out of memory */
	bufferevent_setcb(p->connection, on_input, on_output, on_event, p);
	bufferevent_enable(p->connection, EV_READ | EV_WRITE);
	set_limit(p, p->limits.connect);
	if (bufferevent_socket_connect(p->connection, (const struct sockaddr *)&address->any,
				       (int)address->size) == 0)
		return true;
	snprintf(p->why, sizeof(p->why), "%s", strerror(EVUTIL_SOCKET_ERROR()));
	disconnect(p);
	return false;
}

static void found_addresses(void *context, const struct lookup_result *r)
{
	struct poster *p = context;

	p->lookup = NULL;
	p->found = *r;
	if (r->addresses == 0)
		end(p, POST_NO_NAME, r->why);
	else
		connect_next(p);
}

static void add_socket(struct poster *p)
{
	struct lookup_address *a = &p->found.address[0];
	struct sockaddr_un *un = (void *)&a->any;

	un->sun_family = AF_UNIX;
	snprintf(un->sun_path, sizeof(un->sun_path), "%s", p->url->socket);
	a->size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(un->sun_path) + 1);
	p->found.addresses = 1;
}

/* Connect to the next address; first, find the addresses. */
static void connect_next(struct poster *p)
{
	const struct push_url *url = p->url;

	if (p->found.addresses == 0 && url->socket) {
		add_socket(p);
	} else if (p->found.addresses == 0) {
		p->step = LOOKING_UP;
		evtimer_del(p->on_limit);	/* a look-up has its own */
		p->lookup = lookup_start(p->base, url->host, url->port, found_addresses, p);
		return;
	}
	while (p->next < p->found.addresses)
		if (start_connection(p, &p->found.address[p->next++]))
			return;
	end(p, POST_NO_CONNECTION, p->why);
}

/* A time limit is over.  Return whether the server still takes bytes, and may take more time. */
static bool progresses(struct poster *p)
{
	size_t before = p->unsent;

	p->unsent = unsent(p);
	p->sending += p->limits.progress;
	return p->unsent < before && p->sending < p->limits.send;
}

static void on_limit(evutil_socket_t fd, short what, void *context)
{
	struct poster *p = context;

	(void)fd;
	(void)what;
	if (p->step == CONNECTING) {
		connect_other(p, ETIMEDOUT);
	} else if (is_refusal(&p->answer)) {
		end_answered(p);
	} else if (p->step == SENDING && progresses(p)) {
		set_limit(p, p->limits.progress);
	} else {
		end(p, POST_TIMED_OUT, p->step == SENDING
		    ? "the server did not take the request in time"
		    : "the server did not send a whole answer in time");
	}
}

static void forget_request(struct poster *p)
{
	free(p->head);
	p->head = NULL;
	descriptor_close(p->fd);
	p->fd = -1;
}

static void on_done(evutil_socket_t fd, short what, void *context)
{
	struct poster *p = context;
	struct post_result result = p->result;

	(void)fd;
	(void)what;
	forget_request(p);
	p->step = IDLE;
	p->done(p->context, &result);
}

struct poster *poster_new(struct event_base *base, const struct push_url *url,
			  const struct post_limits *limits, post_done *done, void *context)
{
	struct poster *p = mem_zeroed(1, sizeof(*p));

	*p = (struct poster){ .base = base, .url = url, .limits = *limits, .done = done,
			      .context = context, .fd = -1 };
	p->on_limit = evtimer_new(base, on_limit, p);
	p->on_done = evtimer_new(base, on_done, p);
	if (!p->on_limit || !p->on_done)
		abort();	/* out of memory */
	return p;
}

void poster_free(struct poster *p)
{
	if (!p)
		return;
	lookup_cancel(p->lookup);
	disconnect(p);
	event_free(p->on_limit);
	event_free(p->on_done);
	forget_request(p);
	free(p);
}

/* Return the head of the request R.  The caller frees. */
static char *write_head(const struct poster *p, const struct post_request *r)
{
	static const char format[] = "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\n"
		"Content-Length: %lld\r\n%s%s%s\r\n";
	const char *authorization = r->authorization ? r->authorization : "";
	size_t size = strlen(format) + strlen(r->target) + strlen(p->url->authority) +
		      strlen(r->type) + strlen(authorization) + 64;
	char *head = mem_zeroed(size, 1);

	snprintf(head, size, format, r->target, p->url->authority, r->type, (long long)r->size,
		 *authorization ? "Authorization: " : "", authorization,
		 *authorization ? "\r\n" : "");
	return head;
}

void poster_send(struct poster *p, const struct post_request *r)
{
	p->head = write_head(p, r);
	p->fd = fcntl(r->fd, F_DUPFD_CLOEXEC, 0);
	p->offset = r->offset;
	p->size = r->size;
	p->result = (struct post_result){ .status = 0 };
	p->reused = p->connection != NULL;
	p->found.addresses = 0;
	p->next = 0;
	if (p->connection)
		send_request(p);
	else
		connect_next(p);
}
