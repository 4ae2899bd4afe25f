/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connections - the clients of a server: how many, and how long each may take.
 *
 * evhttp knows no limit of either.  It gets its buffers here, and each has a deadline: to send
 * the request, and to take the answer.  A connection carries one request.  Where all places are
 * taken, new clients wait in the kernel's queue.
 */
#pragma once
#include <event2/event.h>
#include <event2/http.h>
#include <stdbool.h>

struct connections;

/* Make the connections of HTTP.  They live as long as HTTP: free HTTP first. */
struct connections *connections_new(struct event_base *base, struct evhttp *http);
void connections_free(struct connections *c);

/* The request has been read: no deadline while it is worked on. */
void connections_hold(struct connections *c, struct evhttp_request *request);

/* The answer is ready: the client has a minute to take it. */
void connections_release(struct connections *c, struct evhttp_request *request);

/* Take no new ones. */
void connections_stop(struct connections *c);

/* Return how many there are.  IDLE: those that have sent no whole request are closed. */
unsigned connections_count(struct connections *c, bool close_idle);
