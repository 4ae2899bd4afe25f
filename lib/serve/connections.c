/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/connections.h"
#include "base/arena.h"

#include <event2/bufferevent.h>
#include <stdlib.h>
#include <sys/socket.h>

enum {
	CLIENTS = 256,			/* at most */
	READ_SECONDS = 30,		/* to send a request */
	WRITE_SECONDS = 60,		/* to take the answer */
};

enum phase { READING, WORKING, WRITING };

/*
 * A connection.  We hold a reference to its buffer: evhttp, which owns the connection, does not
 * say when it frees it, but then the buffer has no callbacks any more.
 */
struct client {
	struct client *next;		/* the one that connected before */
	struct connections *all;
	struct bufferevent *buffer;
	struct event *deadline;
	enum phase phase;
};

struct connections {
	struct event_base *base;
	struct client *clients;		/* list, newest first */
	unsigned count;
};

static bool is_closed(const struct client *client)
{
	bufferevent_event_cb on_event;

	bufferevent_getcb(client->buffer, NULL, NULL, &on_event, NULL);
	return !on_event;
}

/* The connection ends: evhttp reads its end, or cannot write, and frees it. */
static void shut(const struct client *client)
{
	if (!is_closed(client))
		shutdown(bufferevent_getfd(client->buffer), SHUT_RDWR);
}

/* Forget connections that are closed. */
static void sweep(struct connections *c)
{
	for (struct client **link = &c->clients, *client; (client = *link); ) {
		if (!is_closed(client)) {
			link = &client->next;
			continue;
		}
		*link = client->next;
		event_free(client->deadline);
		bufferevent_decref(client->buffer);
		free(client);
		c->count--;
	}
}

static void time_is_up(evutil_socket_t fd, short what, void *context)
{
	struct client *client = context;

	(void)fd;
	(void)what;
	shut(client);
	sweep(client->all);
}

static void set_deadline(struct client *client, enum phase phase)
{
	static const struct timeval times[] = {
		[READING] = { .tv_sec = READ_SECONDS }, [WRITING] = { .tv_sec = WRITE_SECONDS },
	};

	client->phase = phase;
	if (phase == WORKING)
		evtimer_del(client->deadline);
	else
		evtimer_add(client->deadline, &times[phase]);
}

/* There are too many: the oldest that makes us wait goes. */
static void make_room(struct connections *c)
{
	struct client *oldest = NULL;

	for (struct client *client = c->clients; client; client = client->next)
		if (client->phase != WORKING)
			oldest = client;
	if (oldest)
		shut(oldest);
}

/* A client connects: return its buffer for evhttp. */
static struct bufferevent *add(struct event_base *base, void *context)
{
	struct connections *c = context;
	struct client *client = mem_zeroed(1, sizeof(*client));

	sweep(c);
	if (c->count >= CLIENTS)
		make_room(c);
	*client = (struct client){ .next = c->clients, .all = c };
	client->buffer = bufferevent_socket_new(base, -1, 0);
	client->deadline = evtimer_new(base, time_is_up, client);
	if (!client->buffer || !client->deadline)
		abort();	/* out of memory */
	bufferevent_incref(client->buffer);
	c->clients = client;
	c->count++;
	set_deadline(client, READING);
	return client->buffer;
}

struct connections *connections_new(struct event_base *base, struct evhttp *http)
{
	struct connections *c = mem_zeroed(1, sizeof(*c));

	c->base = base;
	evhttp_set_bevcb(http, add, c);
	return c;
}

void connections_free(struct connections *c)
{
	if (!c)
		return;
	for (struct client *client = c->clients, *next; client; client = next) {
		next = client->next;
		event_free(client->deadline);
		bufferevent_decref(client->buffer);
		free(client);
	}
	free(c);
}

static struct client *find(struct connections *c, struct evhttp_request *request)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(request);
	const struct bufferevent *buffer =
		connection ? evhttp_connection_get_bufferevent(connection) : NULL;
	struct client *client = c->clients;

	while (client && client->buffer != buffer)
		client = client->next;
	return client;
}

void connections_hold(struct connections *c, struct evhttp_request *request)
{
	struct client *client = find(c, request);

	if (client)
		set_deadline(client, WORKING);
}

void connections_release(struct connections *c, struct evhttp_request *request)
{
	struct client *client = find(c, request);

	if (client)
		set_deadline(client, WRITING);
}

unsigned connections_count(struct connections *c, bool close_idle)
{
	for (const struct client *client = c->clients; client && close_idle; client = client->next)
		if (client->phase == READING)
			shut(client);
	sweep(c);
	return c->count;
}
