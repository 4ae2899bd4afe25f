/* SPDX-License-Identifier: Apache-2.0 */
/* internal - a server, as its parts see it. */
#pragma once
#include "serve/access.h"
#include "serve/kept-files.h"
#include "serve/listen.h"
#include "serve/metrics.h"
#include "serve/query.h"
#include "serve/recipe.h"
#include "serve/serve-settings.h"
#include "serve/work.h"

#include <event2/event.h>
#include <event2/http.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

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

/*
 * connections - limits how many clients a server has, and how long each may take.
 *
 * evhttp itself has neither limit.  It gets the buffer of each connection here, with a deadline
 * for sending the request and another for receiving the answer.  A connection carries one
 * request.  While there is no room, new clients wait in the kernel's queue.
 */

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

/* moment - parses and formats points in time. */

enum { MOMENT_SIZE = 32 };	/* bytes of a formatted time, with its NUL */

/*
 * Parse TEXT and set *MOMENT, in s since 1970.  TEXT is a time in RFC 3339's format
 * ("2026-11-22T03:12:00Z"; seconds may be left out), a number of seconds since 1970, or a duration
 * before NOW ("-1h").  Fractions of a second are ignored.  Return false if TEXT is malformed.
 */
bool moment_parse(const char *text, uint64_t now, uint64_t *moment);

/* Write MOMENT in RFC 3339's format, in UTC. */
void moment_format(char text[MOMENT_SIZE], uint64_t moment);

/* routes - maps the paths of a server to handlers. */

/* Answer REQUEST, now or by a job.  CONTEXT: the struct server. */
void routes_handle(struct evhttp_request *request, void *context);

/*
 * watch - notices when the tools of --keep stop writing profiles, although they run.
 *
 * The CPU time and the unread input of a tool show if it hangs.  If all tools work, but no sample
 * comes, then either the target is idle, or something is wrong that only a restart corrects.  So
 * the tools are restarted once; if that changes nothing, not again for a day.
 *
 * Time is counted in the caller's rounds, so it does not pass while the whole machine is stopped.
 */

/* Zero-initialised except for the lengths. */
struct watch {
	double interval;	/* s between files */
	double round;		/* s between calls of watch_look() */
	double looked;		/* time of the last look; monotonic, in s */
	double silence;		/* s since the start or the last file */
	bool has_written;	/* since the start of the tools */
	double silent_until;	/* until then samples may be missing; monotonic, in s */
};

enum { WATCH_WHY = 160 };	/* bytes of a reason, with its NUL */

/* The tools start, NOW. */
void watch_start(struct watch *w, double now);

/* The last tool has written a file, or tried. */
void watch_file(struct watch *w, bool is_written);

/*
 * Look at the running TOOLS, NOW.  Return true and set WHY if they must be started again.  If no
 * files come, but that would not help, set WHY to the reason, else to "".
 */
bool watch_look(struct watch *w, struct work *tools, double now, char why[WATCH_WHY]);
