/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connections - limits how many clients a server has, and how long each may take.
 *
 * evhttp itself has neither limit.  It gets the buffer of each connection here, with a deadline
 * for sending the request and another for receiving the answer.  A connection carries one
 * request.  While there is no room, new clients wait in the kernel's queue.
 */
#pragma once
#include <event2/event.h>
#include <event2/http.h>
#include <stdbool.h>

struct connections;
struct metrics;

/*
 * Make the connections of HTTP.  They live as long as HTTP: free HTTP first.  METRICS counts the
 * requests that evhttp itself refuses.
 */
struct connections *connections_new(struct event_base *base, struct evhttp *http,
				    struct metrics *metrics);
void connections_free(struct connections *c);

/* The request has been read: no deadline while it is worked on. */
void connections_hold(struct connections *c, struct evhttp_request *request);

/* The answer is ready: the client has a minute to take it. */
void connections_release(struct connections *c, struct evhttp_request *request);

/* Accept no new connections. */
void connections_stop(struct connections *c);

/*
 * Return the number of connections.  With CLOSE_IDLE, first close those that have not sent a
 * whole request.
 */
unsigned connections_count(struct connections *c, bool close_idle);
