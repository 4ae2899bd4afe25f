/* SPDX-License-Identifier: Apache-2.0 */
/* internal - a server, as its parts see it. */
#pragma once
#include "serve/access.h"
#include "serve/connections.h"
#include "serve/listen.h"
#include "serve/metrics.h"
#include "serve/query.h"
#include "serve/recipe.h"
#include "serve/kept-files.h"
#include "serve/serve-settings.h"
#include "serve/work.h"

#include <event2/http.h>
#include <signal.h>

struct job;
struct keeper;

enum { LISTEN_NAME = 160 };	/* bytes of a name of an address, with its NUL */

struct server {
	const struct serve_settings *settings;
	struct report *report;
	struct event_base *base;
	struct evhttp *http;
	struct workshop *shop;
	struct connections *connections;
	struct access_rules rules;
	struct metrics metrics;
	struct keeper *keeper;		/* or NULL */
	struct job *jobs;		/* list */
	unsigned running;		/* jobs in it */
	struct event *on_signal, *on_stop;
	struct {
		char name[LISTEN_NAME];
		struct evconnlistener *listener;
	} *listening;			/* for each address of SETTINGS */
	int signals;			/* signalfd */
	int pidfd;			/* of the process that settings name; or -1 */
	bool stops;			/* the server was asked to stop */
	double stopped;			/* when, monotonic, in s */
	sigset_t before;
};

/* Return the monotonic time, in seconds. */
double server_now(void);

/* Answer with BODY, of this content type, and free BODY.  RETRY: Retry-After, in s; 0: none. */
void reply_send(struct server *s, struct evhttp_request *request, int status, const char *type,
		struct evbuffer *body, unsigned retry);

/* Answer with a sentence that go tool pprof prints. */
void reply_error(struct server *s, struct evhttp_request *request, int status, unsigned retry,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));

/*
 * If OUT is the HTML page by which libevent refuses a request that it cannot read, replace the page
 * by a sentence that go tool pprof prints, and return its status.  Otherwise return 0.
 */
int reply_replace_page(struct evbuffer *out);

/* What a job answers with. */
enum job_kind { JOB_PROFILE, JOB_PAGE, JOB_EVENTS };

/*
 * Answer REQUEST by tools: a profile or a page by KIND, or what can be sampled.  QUERY is from
 * malloc(), and freed.
 */
void job_start(struct server *s, struct evhttp_request *request, enum job_kind answer,
	       enum recipe_kind kind, struct query *query);

/* Answer REQUEST with the sum of the kept profiles in the range of QUERY, or with its page. */
void job_start_history(struct server *s, struct evhttp_request *request, enum job_kind answer,
		       struct query *query);

/* The server stops: jobs that sample answer with what they have; AT_ONCE: all end now. */
void jobs_stop(struct server *s, bool at_once);

/*
 * Find the process or processes of QUERY.  Return 0, or an HTTP status and *WHY.  Set *PID to the
 * process, or to 0 if there are several, or if QUERY names none.
 */
int target_find(const struct server *s, const struct query *query, pid_t *pid, const char **why);

/* Keep profiles, as the settings say.  Return NULL if that is impossible: reported. */
struct keeper *keeper_open(struct server *s);
void keeper_close(struct keeper *k);

/* The server stops: the tools write what they have; AT_ONCE: they end now. */
void keeper_stop(struct keeper *k, bool at_once);

/* Return whether its tools run. */
bool keeper_is_busy(const struct keeper *k);

/* Return the kept files.  They are not deleted until keeper_release(k, *TURN). */
const struct kept_files *keeper_read(struct keeper *k, unsigned *turn);
void keeper_release(struct keeper *k, unsigned turn);

/* Write its metrics. */
void keeper_print(const struct keeper *k, struct evbuffer *out);

/* Write the page that builds addresses. */
void index_page_write(const struct server *s, struct evbuffer *out);

enum { ALLOW_JSON_MOST = 1 << 16 };	/* bytes of pmu-events' output that are read */

/* Return whether JSON, the output of pmu-events, has a tracepoint. */
bool allow_has_tracepoint(const char *json);

/*
 * Open a socket for TEXT, and write how to address it to NAME: "http://127.0.0.1:6060",
 * "unix:PATH".  Port 0 is a free port.  Return a non-blocking descriptor, or -1 (reported).
 */
int listen_open(const char *text, char name[LISTEN_NAME], struct report *report);

/* Remove the Unix socket of TEXT, if it is one. */
void listen_remove(const char *text);
