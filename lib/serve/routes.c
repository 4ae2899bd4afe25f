/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "linux/proc.h"
#include "linux/read.h"
#include "serve/internal.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
	QUERY_TARGET = QUERY_PID | QUERY_COMM | QUERY_DEBUG,
	QUERY_OUTPUT = QUERY_LABEL | QUERY_TYPES | QUERY_DEBUG,
	QUERY_HOW = QUERY_SECONDS | QUERY_CALLGRAPH | QUERY_OUTPUT | QUERY_TARGET,
	QUERY_PROFILE = QUERY_HOW | QUERY_EVENT | QUERY_PERIOD | QUERY_RATE | QUERY_HZ |
			QUERY_FALLBACK,
	QUERY_HISTORY = QUERY_OUTPUT | QUERY_FROM | QUERY_TO,
};

/* A request, as handlers get it. */
struct ask {
	struct server *server;
	struct evhttp_request *request;
	struct query *query;		/* the handler frees it, or passes it on */
	bool trusted;			/* it has the token, or came by a Unix socket */
};

static const char text_type[] = "text/plain; charset=utf-8";

/* Write the local address that REQUEST was sent to.  Return false if it is a Unix socket. */
static bool local_address(struct evhttp_request *request, char text[INET6_ADDRSTRLEN])
{
	struct bufferevent *buffer =
		evhttp_connection_get_bufferevent(evhttp_request_get_connection(request));
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} a = { .any.sa_family = AF_UNSPEC };
	socklen_t size = sizeof(a);

	text[0] = '\0';
	if (getsockname(bufferevent_getfd(buffer), &a.any, &size) < 0)
		return true;		/* no Host equals the empty text */
	if (a.any.sa_family == AF_INET)
		inet_ntop(AF_INET, &a.in.sin_addr, text, INET6_ADDRSTRLEN);
	else if (a.any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&a.in6.sin6_addr))
		inet_ntop(AF_INET, &a.in6.sin6_addr.s6_addr[12], text, INET6_ADDRSTRLEN);
	else if (a.any.sa_family == AF_INET6)
		inet_ntop(AF_INET6, &a.in6.sin6_addr, text, INET6_ADDRSTRLEN);
	return a.any.sa_family != AF_UNIX;
}

/* Return whether the request may be answered.  If not, refuse it. */
static bool may_ask(struct ask *ask)
{
	struct evkeyvalq *headers = evhttp_request_get_input_headers(ask->request);
	char local[INET6_ADDRSTRLEN];
	bool is_tcp = local_address(ask->request, local);
	const char *host = evhttp_uri_get_host(evhttp_request_get_evhttp_uri(ask->request));
	const struct access_request what = {
		.host = host ? host : evhttp_find_header(headers, "Host"),
		.origin = evhttp_find_header(headers, "Origin"),
		.fetch_site = evhttp_find_header(headers, "Sec-Fetch-Site"),
		.fetch_mode = evhttp_find_header(headers, "Sec-Fetch-Mode"),
		.fetch_dest = evhttp_find_header(headers, "Sec-Fetch-Dest"),
		.purpose = evhttp_find_header(headers, "Sec-Purpose"),
		.authorization = evhttp_find_header(headers, "Authorization"),
		.local = is_tcp ? local : NULL,
	};
	const char *why;
	int status = access_check(&ask->server->rules, &what, &ask->trusted, &why);

	ask->trusted |= !is_tcp;
	if (status)
		reply_error(ask->server, ask->request, status, 0, "%s", why);
	return status == 0;
}

static void give_text(struct ask *ask, const char *type, struct evbuffer *body)
{
	free(ask->query);
	reply_send(ask->server, ask->request, 200, type, body, 0);
}

static void give_index(struct ask *ask)
{
	struct evbuffer *body = evbuffer_new();

	index_page_write(ask->server, body);
	evhttp_add_header(evhttp_request_get_output_headers(ask->request),
			  "Content-Security-Policy",
			  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
			  "frame-ancestors 'none'; base-uri 'none'");
	give_text(ask, "text/html; charset=utf-8", body);
}

static void go_to_index(struct ask *ask)
{
	evhttp_add_header(evhttp_request_get_output_headers(ask->request), "Location",
			  "/debug/pprof/");
	free(ask->query);
	reply_send(ask->server, ask->request, 302, text_type, evbuffer_new(), 0);
}

/* Return how to sample Q: the events that it names, or the timer. */
static enum recipe_kind kind_of(const struct query *q)
{
	return q->events ? RECIPE_EVENTS : RECIPE_TIMER;
}

static void give_profile(struct ask *ask)
{
	job_start(ask->server, ask->request, JOB_PROFILE, kind_of(ask->query), ask->query);
}

static void give_off_cpu(struct ask *ask)
{
	job_start(ask->server, ask->request, JOB_PROFILE, RECIPE_OFF_CPU, ask->query);
}

static void give_block(struct ask *ask)
{
	job_start(ask->server, ask->request, JOB_PROFILE, RECIPE_BLOCK, ask->query);
}

static void give_mutex(struct ask *ask)
{
	job_start(ask->server, ask->request, JOB_PROFILE, RECIPE_MUTEX, ask->query);
}

static void give_page(struct ask *ask)
{
	job_start(ask->server, ask->request, JOB_PAGE, kind_of(ask->query), ask->query);
}

static void give_history(struct ask *ask)
{
	job_start_history(ask->server, ask->request, JOB_PROFILE, ask->query);
}

static void give_history_page(struct ask *ask)
{
	job_start_history(ask->server, ask->request, JOB_PAGE, ask->query);
}

static void give_events(struct ask *ask)
{
	job_start(ask->server, ask->request, JOB_EVENTS, RECIPE_TIMER, ask->query);
}

/* Answer as Go does: arguments separated by NULs; if the request is not trusted, only the name. */
static void give_command(struct ask *ask)
{
	char arguments[4096], name[PROC_NAME_SIZE];
	const char *why;
	ssize_t size = 0;
	pid_t pid;
	int status = target_find(ask->server, ask->query, &pid, &why);

	if (status && status != 400) {	/* pprof requests this without naming a process */
		reply_error(ask->server, ask->request, status, 0, "%s", why);
		free(ask->query);
		return;
	}
	struct evbuffer *body = evbuffer_new();
	if (status == 0 && pid && ask->trusted)
		size = linux_read(arguments, sizeof(arguments), "%s",
				  proc_path(pid, "cmdline").text);
	if (size > 0)
		evbuffer_add(body, arguments, (size_t)size - (arguments[size - 1] == '\0'));
	else
		evbuffer_add_printf(body, "%s", status == 0 && pid && proc_name(pid, pid, name)
				    ? name : "pmu-serve");
	give_text(ask, text_type, body);
}

static void give_line(struct ask *ask, const char *line)
{
	struct evbuffer *body = evbuffer_new();

	evbuffer_add_printf(body, "%s\n", line);
	give_text(ask, text_type, body);
}

/* Profiles have names already, so pprof has nothing to look up. */
static void give_symbols(struct ask *ask)
{
	give_line(ask, "num_symbols: 0");
}

static void give_metrics(struct ask *ask)
{
	struct evbuffer *body = evbuffer_new();

	metrics_print(&ask->server->metrics, ask->server->running, server_now(), body);
	if (ask->server->keeper)
		keeper_print(ask->server->keeper, body);
	give_text(ask, "text/plain; version=0.0.4; charset=utf-8", body);
}

static void give_health(struct ask *ask)
{
	give_line(ask, "ok");
}

static const struct route {
	const char *path;
	void (*give)(struct ask *ask);
	unsigned parameters;
	enum evhttp_cmd_type method;	/* the method allowed besides GET */
	bool for_all;			/* needs no token */
} routes[] = {
	{ "/", go_to_index, 0, EVHTTP_REQ_HEAD, false },
	{ "/debug/pprof", go_to_index, 0, EVHTTP_REQ_HEAD, false },
	{ "/debug/pprof/", give_index, 0, EVHTTP_REQ_HEAD, false },
	{ "/debug/pprof/profile", give_profile, QUERY_PROFILE, EVHTTP_REQ_GET, false },
	{ "/debug/pprof/pmu", give_profile, QUERY_PROFILE, EVHTTP_REQ_GET, false },
	{ "/debug/pprof/offcpu", give_off_cpu, QUERY_HOW, EVHTTP_REQ_GET, false },
	{ "/debug/pprof/block", give_block, QUERY_HOW, EVHTTP_REQ_GET, false },
	{ "/debug/pprof/mutex", give_mutex, QUERY_HOW, EVHTTP_REQ_GET, false },
	{ "/debug/pprof/events", give_events, 0, EVHTTP_REQ_GET, false },
	{ "/debug/pprof/cmdline", give_command, QUERY_TARGET, EVHTTP_REQ_HEAD, false },
	{ "/debug/pprof/symbol", give_symbols, ~0u, EVHTTP_REQ_POST, false },
	{ "/symbolz", give_symbols, ~0u, EVHTTP_REQ_POST, false },	/* for pprof at /history */
	{ "/flame", give_page, QUERY_PROFILE, EVHTTP_REQ_GET, false },
	{ "/history", give_history, QUERY_HISTORY, EVHTTP_REQ_GET, false },
	{ "/history/flame", give_history_page, QUERY_HISTORY, EVHTTP_REQ_GET, false },
	{ "/metrics", give_metrics, 0, EVHTTP_REQ_HEAD, false },
	{ "/healthz", give_health, 0, EVHTTP_REQ_HEAD, true },
};

static const char *methods_of(const struct route *route)
{
	return route->method == EVHTTP_REQ_GET ? "GET"
		: route->method == EVHTTP_REQ_HEAD ? "GET, HEAD" : "GET, POST";
}

static const struct route *find_route(const char *path)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++)
		if (!strcmp(routes[i].path, path))
			return &routes[i];
	return NULL;
}

void routes_handle(struct evhttp_request *request, void *context)
{
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
	struct ask ask = { .server = context, .request = request };
	const char *path = evhttp_uri_get_path(uri);
	const struct route *route = find_route(path && *path ? path : "/");
	enum evhttp_cmd_type method = evhttp_request_get_command(request);

	if (!(route && route->for_all) && !may_ask(&ask))
		return;
	if (!route) {
		reply_error(ask.server, request, 404, 0, "there is nothing here; /debug/pprof/ "
			    "shows what there is");
		return;
	}
	if (method != EVHTTP_REQ_GET && method != route->method) {
		evhttp_add_header(evhttp_request_get_output_headers(request), "Allow",
				  methods_of(route));
		reply_error(ask.server, request, 405, 0, "use GET");
		return;
	}
	ask.query = mem_zeroed(1, sizeof(*ask.query));
	bool any_query = route->give == give_symbols;	/* its query is addresses */
	if (any_query || query_parse(ask.query, evhttp_uri_get_query(uri), route->parameters)) {
		route->give(&ask);
		return;
	}
	reply_error(ask.server, request, 400, 0, "%s", ask.query->wrong);
	free(ask.query);
}
