/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server - an HTTP server that samples.  One loop, by libevent's evhttp, waits for clients and for
 * the tools that work for them.
 */
#pragma once
#include "base/report.h"
#include "serve/serve-settings.h"

struct server;

/* Return a server that listens by SETTINGS, or NULL (reported).  SETTINGS must outlive it. */
struct server *server_open(const struct serve_settings *settings, struct report *report);

/* Return the name of address I ("http://127.0.0.1:6060"), or NULL if there are no more. */
const char *server_address(const struct server *s, size_t i);

/* Serve until SIGTERM, SIGINT or SIGHUP.  Return at most 2 seconds later. */
void server_run(struct server *s);

void server_close(struct server *s);
