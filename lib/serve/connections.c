/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/clock.h"
#include "serve/internal.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>

enum {
	CLIENTS = 256,			/* limit, not counting clients that tools work for */
	FULL_ROUND = 10,		/* ms between checks for room */
};

enum phase { READING, WORKING, WRITING };

/* Seconds that a client has to send its request, and to receive the answer. */
static const time_t deadline[] = { [READING] = 30, [WRITING] = 60 };

/* The same while new clients wait for room. */
static const time_t deadline_if_full[] = { [READING] = 1, [WRITING] = 10 };

/*
 * A connection.  evhttp owns it, and does not notify us when it frees it.  So we hold a reference
 * to its buffer: a buffer without callbacks belongs to a connection that was freed.
 */
struct client {
	struct client *next;		/* the client that connected before this one */
	struct connections *all;
	struct bufferevent *buffer;
	struct event *deadline;
	enum phase phase;
	time_t since;			/* when PHASE started, monotonic, in s */
};

struct connections {
	struct evhttp *http;
	struct metrics *metrics;
	struct client *clients;		/* list, newest first */
	unsigned count, most;
	struct event *on_full;		/* while there is no room */
	bool stopped;			/* new clients are not accepted any more */
};

static time_t now(void)
{
	return (time_t)(monotonic_ns() / 1000000000);
}

static bool is_closed(const struct client *client)
{
	bufferevent_event_cb on_event;

	bufferevent_getcb(client->buffer, NULL, NULL, &on_event, NULL);
	return !on_event;
}

/* Close the connection: evhttp notices when it next reads or writes, and frees it. */
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
	client->phase = phase;
	client->since = now();
	if (phase == WORKING) {
		evtimer_del(client->deadline);
		return;
	}
	const struct timeval time = { .tv_sec = deadline[phase] };
	evtimer_add(client->deadline, &time);
}

static bool is_full(const struct connections *c)
{
	unsigned waited_for = 0;

	for (const struct client *client = c->clients; client; client = client->next)
		waited_for += client->phase != WORKING;
	return waited_for >= c->most;
}

static void pause_one(struct evhttp_bound_socket *socket, void *context)
{
	(void)context;
	evconnlistener_disable(evhttp_bound_socket_get_listener(socket));
}

static void resume_one(struct evhttp_bound_socket *socket, void *context)
{
	(void)context;
	evconnlistener_enable(evhttp_bound_socket_get_listener(socket));
}

/*
 * Called in rounds while there is no room and new clients wait in the kernel's queue.  Clients
 * that are connected may have sent requests that we have not read yet, so only those that exceed
 * their shorter time are closed.
 */
static void look_for_room(evutil_socket_t fd, short what, void *context)
{
	struct connections *c = context;
	time_t time = now();

	(void)fd;
	(void)what;
	for (const struct client *client = c->clients; client; client = client->next)
		if (client->phase != WORKING &&
		    time - client->since > deadline_if_full[client->phase])
			shut(client);
	sweep(c);
	if (is_full(c))
		return;
	evtimer_del(c->on_full);
	if (!c->stopped)
		evhttp_foreach_bound_socket(c->http, resume_one, NULL);
}

static void wait_for_room(struct connections *c)
{
	static const struct timeval round = { .tv_usec = FULL_ROUND * 1000 };

	evhttp_foreach_bound_socket(c->http, pause_one, NULL);
	event_add(c->on_full, &round);
}

/* If evhttp itself refuses a request that we have not seen, replace its page. */
static void on_output(struct evbuffer *out, const struct evbuffer_cb_info *info, void *context)
{
	struct client *client = context;
	int status = info->n_added && client->phase == READING ? reply_replace_page(out) : 0;

	if (!status)
		return;
	metrics_count(client->all->metrics, status);
	set_deadline(client, WRITING);
}

/* A client connects.  Return its buffer for evhttp. */
static struct bufferevent *add(struct event_base *base, void *context)
{
	struct connections *c = context;
	struct client *client = mem_zeroed(1, sizeof(*client));

	sweep(c);
	*client = (struct client){ .next = c->clients, .all = c };
	client->buffer = bufferevent_socket_new(base, -1, 0);
	client->deadline = evtimer_new(base, time_is_up, client);
	if (!client->buffer || !client->deadline)
		abort();	/* out of memory */
	bufferevent_incref(client->buffer);
	if (!evbuffer_add_cb(bufferevent_get_output(client->buffer), on_output, client))
		abort();
	c->clients = client;
	c->count++;
	set_deadline(client, READING);
	if (is_full(c))
		wait_for_room(c);
	return client->buffer;
}

struct connections *connections_new(struct event_base *base, struct evhttp *http,
				    struct metrics *metrics)
{
	struct connections *c = mem_zeroed(1, sizeof(*c));
	struct rlimit files = { .rlim_cur = CLIENTS };

	getrlimit(RLIMIT_NOFILE, &files);
	c->http = http;
	c->metrics = metrics;
	/* the rest of the descriptors is for the tools */
	c->most = files.rlim_cur / 2 < CLIENTS ? (unsigned)files.rlim_cur / 2 : CLIENTS;
	c->on_full = event_new(base, -1, EV_PERSIST, look_for_room, c);
	if (!c->on_full)
		abort();	/* out of memory */
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
	event_free(c->on_full);
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

void connections_stop(struct connections *c)
{
	c->stopped = true;
	evhttp_foreach_bound_socket(c->http, pause_one, NULL);
}

unsigned connections_count(struct connections *c, bool close_idle)
{
	for (const struct client *client = c->clients; client && close_idle; client = client->next)
		if (client->phase == READING)
			shut(client);
	sweep(c);
	return c->count;
}
