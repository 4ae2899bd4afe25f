/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/server.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/sibling.h"
#include "serve/internal.h"
#include "serve/listen.h"

#include <event2/event.h>
#include <event2/listener.h>
#include <math.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	HEADERS = 8192, BODY = 16384,	/* bytes of a request, at most */
	STOP_ROUND = 20,		/* ms between checks while the server stops */
};

/* Seconds after a signal when the tools are killed, and when the server ends at the latest. */
static const double stop_kill = 1.2, stop_end = 1.5;

double server_now(void)
{
	return 1e-9 * (double)monotonic_ns();
}

/* Kill all tools. */
static void end_work(struct server *s)
{
	jobs_stop(s, true);
	keeper_stop(s->keeper, true);
}

/* End the server when all answers are sent, or after STOP_END.  Rounds may come late. */
static void stop_round(evutil_socket_t fd, short what, void *context)
{
	struct server *s = context;

	(void)fd;
	(void)what;
	double since = server_now() - s->stopped;
	if (since >= stop_kill)
		end_work(s);
	if ((!s->jobs && !keeper_is_busy(s->keeper) &&
	     connections_count(s->connections, true) == 0) || since >= stop_end)
		event_base_loopbreak(s->base);
}

static void stop(struct server *s)
{
	const struct timeval round = { .tv_usec = STOP_ROUND * 1000 };

	if (s->stops)
		return;		/* it is stopping already */
	s->stops = true;
	s->stopped = server_now();
	connections_stop(s->connections);
	jobs_stop(s, false);
	keeper_stop(s->keeper, false);
	s->on_stop = event_new(s->base, -1, EV_PERSIST, stop_round, s);
	event_add(s->on_stop, &round);
}

static void on_signal(evutil_socket_t fd, short what, void *context)
{
	struct signalfd_siginfo info;
	struct server *s = context;

	(void)what;
	while (read(fd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			stop(s);
	workshop_reap(s->shop);
	metrics_add_cost(&s->metrics, workshop_cpu(s->shop) - s->metrics.cpu, server_now());
}

static bool catch_signals(struct server *s)
{
	s->signals = sibling_signals(&s->before, s->report);
	if (s->signals < 0)
		return false;
	s->on_signal = event_new(s->base, s->signals, EV_READ | EV_PERSIST, on_signal, s);
	event_add(s->on_signal, NULL);
	return true;
}

static bool start_http(struct server *s)
{
	s->base = event_base_new();
	s->http = s->base ? evhttp_new(s->base) : NULL;
	if (!s->http) {
		report_failure(s->report, "cannot start libevent");
		return false;
	}
	evhttp_set_max_headers_size(s->http, HEADERS);
	evhttp_set_max_body_size(s->http, BODY);
	/* accept more methods than we support: libevent would answer with an HTML page */
	evhttp_set_allowed_methods(s->http, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD |
				   EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS |
				   EVHTTP_REQ_PATCH);
	evhttp_set_gencb(s->http, routes_handle, s);
	s->connections = connections_new(s->base, s->http, &s->metrics);
	s->shop = workshop_new(s->base, s->report);
	return true;
}

static bool listen_everywhere(struct server *s)
{
	const struct word_list *all = s->settings->addresses;

	s->listening = mem_zeroed(all->count, sizeof(*s->listening));
	for (size_t i = 0; i < all->count; i++) {
		int fd = listen_open(all->item[i], s->listening[i].name, s->report);
		if (fd < 0)
			return false;
		struct evconnlistener *listener = evconnlistener_new(s->base, NULL, NULL,
			LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
		if (!listener || !evhttp_bind_listener(s->http, listener))
			abort();	/* out of memory */
		s->listening[i].listener = listener;
	}
	return true;
}

struct server *server_open(const struct serve_settings *settings, struct report *report)
{
	struct server *s = mem_zeroed(1, sizeof(*s));

	*s = (struct server){ .settings = settings, .report = report, .signals = -1, .pidfd = -1 };
	bool good = !settings->token_file ||
		    access_read_token(&s->rules, settings->token_file, report);
	if (good && settings->pid) {
		s->pidfd = (int)syscall(SYS_pidfd_open, settings->pid, 0);
		good = s->pidfd >= 0;
		if (!good)
			report_failure(report, "cannot watch process %d", settings->pid);
	}
	good = good && start_http(s) && catch_signals(s) && listen_everywhere(s);
	if (good && settings->keep) {
		s->keeper = keeper_open(s);
		good = s->keeper != NULL;
	}
	if (good)
		return s;
	server_close(s);
	return NULL;
}

const char *server_address(const struct server *s, size_t i)
{
	return i < s->settings->addresses->count ? s->listening[i].name : NULL;
}

void server_run(struct server *s)
{
	event_base_dispatch(s->base);
}

void server_close(struct server *s)
{
	if (!s)
		return;
	if (s->shop)
		end_work(s);
	keeper_close(s->keeper);
	workshop_free(s->shop);
	for (size_t i = 0; s->listening && i < s->settings->addresses->count; i++)
		if (s->listening[i].listener)
			listen_remove(s->settings->addresses->item[i]);
	if (s->http)
		evhttp_free(s->http);
	connections_free(s->connections);
	if (s->on_signal)
		event_free(s->on_signal);
	if (s->on_stop)
		event_free(s->on_stop);
	if (s->base) {
		event_base_loop(s->base, EVLOOP_NONBLOCK);	/* the end of what was cancelled */
		event_base_free(s->base);
	}
	descriptor_close(s->signals);
	descriptor_close(s->pidfd);
	free(s->listening);
	free(s);
}
