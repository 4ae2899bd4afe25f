/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profiles that are kept: one pipe that samples without end, and whose last tool writes a file
 * for each interval.  Here it is started, again if it ends, and the oldest files are deleted.
 */
#include "base/arena.h"
#include "serve/internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const unsigned WAIT_MOST = 60;	/* s until the tools are started again */

struct keeper {
	struct server *server;
	struct kept_files ring;
	const struct query *query;
	struct work *work;		/* NULL: no tools run */
	struct arena arena;		/* the names of the tools that run */
	struct event *on_round;		/* look for files to delete */
	struct event *on_start;		/* start the tools */
	double started;			/* monotonic, in s */
	unsigned wait;			/* s until the next start, if the tools end soon */
	unsigned readers;		/* jobs that read the files */
	uint64_t starts;
	bool complained;		/* that there are no new files */
};

/* Return the length of an interval, in s, rounded up. */
static uint64_t interval(const struct keeper *k)
{
	return (k->server->settings->interval + 999999999) / 1000000000;
}

/* A file that is being read stays. */
static void trim(struct keeper *k)
{
	const struct serve_settings *settings = k->server->settings;
	uint64_t now = (uint64_t)time(NULL), keep = settings->keep / 1000000000;

	ring_look(&k->ring);
	if (k->readers == 0)
		ring_trim(&k->ring, now > keep ? now - keep : 0, settings->keep_bytes);
}

static void on_round(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	trim(context);
}

static void start_later(struct keeper *k)
{
	const struct timeval time = { .tv_sec = (time_t)k->wait };

	evtimer_add(k->on_start, &time);
	k->wait = 2 * k->wait < WAIT_MOST ? 2 * k->wait : WAIT_MOST;
}

/* Say, once, why there are no new files. */
static void complain(struct keeper *k, const char *who, const char *why)
{
	if (!k->complained)
		report_note(k->server->report, "no profiles are kept at the moment: %s%s%s", who,
			    *who ? ": " : "", why);
	k->complained = true;
}

static void ended(void *context, struct work_result *r)
{
	struct keeper *k = context;
	struct server *s = k->server;

	k->work = NULL;
	close(r->output);
	if (s->stops)
		return;
	if (server_now() - k->started > WAIT_MOST) {	/* it worked: say it again */
		k->complained = false;
		k->wait = 1;
	}
	if (r->failed)
		complain(k, r->failed, r->why);
	start_later(k);
}

static void start(struct keeper *k)
{
	const struct server *s = k->server;
	struct recipe recipe = {
		.kind = k->query->events ? RECIPE_EVENTS : RECIPE_TIMER,
		.query = k->query, .settings = s->settings,
	};
	const char *why;

	if (target_find(s, k->query, &recipe.pid, &why)) {
		complain(k, "", why);
		if (!s->settings->pid)	/* a process that has ended does not come back */
			start_later(k);
		return;
	}
	char *template = ring_template(&k->ring, interval(k));
	recipe.template = template;
	k->started = server_now();
	k->starts++;
	arena_release(&k->arena);
	k->work = work_start(s->shop, recipe_profile(&recipe, &k->arena), WORK_ENDLESS, ended, k);
	if (!k->work)
		start_later(k);
	free(template);
}

static void on_start(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	start(context);
}

struct keeper *keeper_open(struct server *s)
{
	const struct timeval round = {
		.tv_sec = s->settings->interval < 60 * UINT64_C(1000000000)
			  ? (time_t)(s->settings->interval / 1000000000) : 60,
	};
	struct keeper *k = mem_zeroed(1, sizeof(*k));

	*k = (struct keeper){ .server = s, .query = s->settings->keep_query, .wait = 1 };
	if (!ring_open(&k->ring, s->settings->keep_dir, s->report)) {
		free(k);
		return NULL;
	}
	k->on_round = event_new(s->base, -1, EV_PERSIST, on_round, k);
	k->on_start = evtimer_new(s->base, on_start, k);
	if (!k->on_round || !k->on_start)
		abort();	/* out of memory */
	event_add(k->on_round, &round);
	trim(k);
	start(k);
	return k;
}

void keeper_stop(struct keeper *k, bool at_once)
{
	if (!k)
		return;
	evtimer_del(k->on_start);
	if (k->work && at_once) {
		work_cancel(k->work);
		k->work = NULL;
	} else if (k->work) {
		work_finish(k->work);	/* the last tool writes the interval so far */
	}
}

bool keeper_is_busy(const struct keeper *k)
{
	return k && k->work;
}

void keeper_close(struct keeper *k)
{
	if (!k)
		return;
	event_free(k->on_round);
	event_free(k->on_start);
	ring_close(&k->ring);
	arena_release(&k->arena);
	free(k);
}

const struct kept_files *keeper_read(struct keeper *k)
{
	k->readers++;
	ring_look(&k->ring);
	return &k->ring;
}

void keeper_release(struct keeper *k)
{
	k->readers--;
}

void keeper_print(const struct keeper *k, struct evbuffer *out)
{
	metrics_print_one(out, "keep_cpu_seconds_total", "counter",
			  "CPU time of the tools of --keep.",
			  workshop_endless_cpu(k->server->shop));
	metrics_print_one(out, "keep_starts_total", "counter",
			  "Times that the tools of --keep were started.", (double)k->starts);
	metrics_print_one(out, "keep_files", "gauge", "Profiles that are kept.",
			  (double)k->ring.files);
	metrics_print_one(out, "keep_bytes", "gauge", "Bytes of the profiles that are kept.",
			  (double)k->ring.bytes);
}
