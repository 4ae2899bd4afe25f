/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps profiles.  Starts one pipe that samples without end and writes a file for each interval,
 * restarts the pipe when it ends or hangs, and deletes the oldest files.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "serve/allow.h"
#include "serve/internal.h"
#include "serve/pusher.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const unsigned WAIT_MOST = 60;	/* s until the tools are started again */
static const unsigned ROUND_MOST = 60;	/* s until the next look for files to delete */
static const double REPORT_INTERVAL = 3600;	/* s until the same reason is reported again */

struct keeper {
	struct server *server;
	struct kept_files kept;
	struct pusher *pusher;		/* sends them; or NULL */
	const struct query *query;
	struct recipe recipe;		/* of the tools that run, without the names of the files */
	struct work *work;		/* NULL: no tools run */
	struct arena arena;		/* the names of the tools that run */
	struct event *on_round;		/* look after the tools, and for files to delete */
	struct event *on_start;		/* start the tools */
	double started;			/* monotonic, in s */
	double wall_clock;		/* s that the time of day was ahead of STARTED's clock */
	unsigned wait;			/* s until the next start, if the tools end soon */
	/*
	 * Number of jobs that read the files, by the turn in which they started.  When files
	 * expire, the turn changes.  Later jobs do not see these files, which are deleted when the
	 * jobs of the previous turn have ended.  So overlapping jobs cannot keep a file forever.
	 */
	unsigned readers[2], turn;
	uint64_t starts;
	struct watch watch;
	uint64_t failures;		/* files that could not be written */
	time_t written;			/* when the last file was written, s since 1970; or 0 */
	double report_due;		/* when a lack of files may be reported; monotonic, s */
	char passed_on[512];		/* the last message of a tool */
	double passed_on_at;		/* when; monotonic, in s */
};

/* Return the length of an interval, in s, rounded up. */
static uint64_t interval(const struct keeper *k)
{
	uint64_t ns = k->server->settings->interval, second = 1000000000;

	return ns / second + (ns % second != 0);
}

static void trim(struct keeper *k)
{
	const struct serve_settings *settings = k->server->settings;
	unsigned before = !k->turn;

	if (!kept_files_read(&k->kept))
		return;
	pusher_look(k->pusher);
	if (k->readers[before] > 0)
		return;		/* the expired files are still being read */
	kept_files_trim(&k->kept, (uint64_t)time(NULL), settings->keep / 1000000000,
			settings->keep_bytes);
	pusher_look(k->pusher);		/* it counts what has expired unsent */
	k->turn = before;
	if (k->readers[!before] == 0)
		kept_files_delete(&k->kept);
}

/* Return by how much the time of day is ahead of the clock of the samples, in s. */
static double wall_clock(void)
{
	return 1e-9 * (double)clock_ns(CLOCK_REALTIME) - server_now();
}

/*
 * The tools know the time of day from their start: start them again after it was set, or the
 * machine was suspended.
 */
static void check_clock(struct keeper *k)
{
	double ahead = wall_clock();

	if (!k->work || fabs(ahead - k->wall_clock) <= 1)
		return;
	k->wall_clock = ahead;
	work_finish(k->work);
}

/* Pass on what the tools report while they run, but not the same message after each start. */
static void pass_on(struct keeper *k)
{
	char line[sizeof(k->passed_on)];
	double now = server_now();

	while (k->work && work_next_message(k->work, line, sizeof(line))) {
		if (!strcmp(line, k->passed_on) && now - k->passed_on_at < REPORT_INTERVAL)
			continue;
		snprintf(k->passed_on, sizeof(k->passed_on), "%s", line);
		k->passed_on_at = now;
		report_event(k->server->report, "--keep: %s", line);
	}
}

/* Take the lines that pmu-topprof --print-files has printed. */
static void note_files(struct keeper *k)
{
	static const char written[] = "written\t", failed[] = "failed\t";
	char line[PATH_MAX + sizeof(written)];

	while (k->work && work_next_output(k->work, line, sizeof(line))) {
		bool is_written = !strncmp(line, written, strlen(written));
		if (!is_written && strncmp(line, failed, strlen(failed)) != 0)
			continue;
		watch_file(&k->watch, is_written);
		if (!is_written) {
			k->failures++;
			continue;
		}
		const char *slash = strrchr(line, '/');
		k->written = kept_files_time(&k->kept, slash ? slash + 1 : line + strlen(written));
		k->wait = 1;
	}
}

/* Report, once an hour, why there are no new files. */
static void report_why(struct keeper *k, const char *who, const char *why)
{
	double now = server_now();

	if (now < k->report_due)
		return;
	k->report_due = now + REPORT_INTERVAL;
	report_event(k->server->report, "no profiles are kept at the moment: %s%s%s", who,
		     *who ? ": " : "", why);
}

/* Return whether there is a directory for the files: a new one if the old one was deleted. */
static bool has_directory(struct keeper *k)
{
	const char *path = k->server->settings->keep_dir;
	char why[KEPT_FILES_WHY];

	if (kept_files_exist(&k->kept))
		return true;
	kept_files_close(&k->kept);
	if (!kept_files_open(&k->kept, path, why)) {
		report_why(k, path, why);
		return false;
	}
	report_event(k->server->report, "'%s' is another directory now: profiles are kept there",
		     path);
	pusher_reopen(k->pusher);
	return true;
}

static void next_round(struct keeper *k)
{
	enum { FILES = 1000 };		/* looking at so many per second costs little */
	uint64_t seconds = interval(k), least = k->kept.files / FILES;

	seconds = seconds < least ? least : seconds;
	seconds = seconds < ROUND_MOST ? seconds : ROUND_MOST;
	const struct timeval time = { .tv_sec = (time_t)seconds };
	k->watch.round = (double)seconds;
	evtimer_add(k->on_round, &time);
}

static void start_later(struct keeper *k)
{
	const struct timeval time = { .tv_sec = (time_t)k->wait };

	evtimer_add(k->on_start, &time);
	k->wait = 2 * k->wait < WAIT_MOST ? 2 * k->wait : WAIT_MOST;
}

/* Kill the tools, and start them again later. */
static void stop_tools(struct keeper *k)
{
	if (!k->work)
		return;
	work_cancel(k->work);
	k->work = NULL;
	start_later(k);
}

/* If the tools write no files any more, report why, and start them again if that may help. */
static void watch_tools(struct keeper *k)
{
	struct report *report = k->server->report;
	char why[WATCH_WHY];

	if (!k->work)
		return;
	bool restart = watch_look(&k->watch, k->work, server_now(), why);
	if (restart) {
		report_note(report, "--keep: %s: the tools are started again", why);
		stop_tools(k);
	} else if (*why) {
		report_rarely(report, "no profiles are kept at the moment: %s", why);
	}
}

static void on_round(evutil_socket_t fd, short what, void *context)
{
	struct keeper *k = context;

	(void)fd;
	(void)what;
	report_check_hour(k->server->report);
	pass_on(k);
	note_files(k);
	watch_tools(k);
	check_clock(k);
	if (has_directory(k))
		trim(k);
	else
		stop_tools(k);	/* they must not write into a directory that is not ours */
	next_round(k);
}

static void ended(void *context, struct work_result *r)
{
	struct keeper *k = context;
	struct server *s = k->server;

	note_files(k);
	k->work = NULL;
	close(r->output);
	if (s->stops) {
		if (kept_files_read(&k->kept))
			pusher_look(k->pusher);		/* with the last file */
		return;
	}
	if (server_now() - k->started > WAIT_MOST) {	/* it worked: report a failure again */
		k->report_due = 0;
		k->wait = 1;
	}
	if (r->failed)
		report_why(k, r->failed, r->why);
	start_later(k);
}

static void start_sampling(struct keeper *k)
{
	struct recipe recipe = k->recipe;
	char *template = kept_files_template(&k->kept, interval(k));

	recipe.template = template;
	k->work = work_start(k->server->shop, recipe_profile(&recipe, &k->arena), WORK_ENDLESS,
			     ended, k);
	if (!k->work)
		start_later(k);
	free(template);
}

/* pmu-events has described the events, or failed: then pmu-sample fails, too, and says why. */
static void encoded(void *context, struct work_result *r)
{
	struct keeper *k = context;
	char *json = work_output_text(r, ALLOW_JSON_MOST);

	k->work = NULL;
	k->recipe.unlabelled = allow_has_tracepoint(json);
	free(json);
	close(r->output);
	if (k->server->stops)
		return;
	if (k->recipe.unlabelled && k->query->program_labels)	/* it stays so */
		report_event(k->server->report, "no profiles are kept: --keep-query asks for "
			     "labels of programs, which are not recorded at tracepoints");
	else
		start_sampling(k);
}

/* Find out about the events, which matters only with --labels, and start to sample them. */
static void start_tools(struct keeper *k)
{
	k->started = server_now();
	k->wall_clock = wall_clock();
	k->starts++;
	watch_start(&k->watch, k->started);
	arena_release(&k->arena);
	if (!k->recipe.settings->labels || k->recipe.kind != RECIPE_EVENTS) {
		start_sampling(k);
		return;
	}
	k->work = work_start(k->server->shop, recipe_encode(&k->recipe, &k->arena), WORK_ENDLESS,
			     encoded, k);
	if (!k->work)
		start_later(k);
}

static void start(struct keeper *k)
{
	const struct server *s = k->server;
	const char *why;

	k->recipe = (struct recipe){
		.kind = k->query->events ? RECIPE_EVENTS : RECIPE_TIMER,
		.query = k->query, .settings = s->settings,
	};
	if (target_find(s, k->query, &k->recipe.pid, &why)) {
		if (s->settings->pid) {		/* it does not come back */
			report_event(s->report, "no more profiles are kept: %s", why);
			return;
		}
		report_why(k, "", why);
		start_later(k);
		return;
	}
	if (!has_directory(k)) {
		start_later(k);
		return;
	}
	start_tools(k);
}

static void on_start(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	start(context);
}

struct keeper *keeper_open(struct server *s)
{
	const char *path = s->settings->keep_dir;
	char why[KEPT_FILES_WHY];
	struct keeper *k = mem_zeroed(1, sizeof(*k));

	*k = (struct keeper){ .server = s, .query = s->settings->keep_query, .wait = 1,
			     .watch.interval = 1e-9 * (double)s->settings->interval };
	if (!kept_files_open(&k->kept, path, why)) {
		report_error(s->report, "cannot keep profiles in '%s': %s", path, why);
		free(k);
		return NULL;
	}
	k->pusher = s->settings->push ? pusher_open(s, &k->kept) : NULL;
	if (s->settings->push && !k->pusher) {
		kept_files_close(&k->kept);
		free(k);
		return NULL;
	}
	k->on_round = evtimer_new(s->base, on_round, k);
	k->on_start = evtimer_new(s->base, on_start, k);
	if (!k->on_round || !k->on_start)
		abort();	/* out of memory */
	trim(k);
	k->written = k->kept.written;
	next_round(k);
	start(k);
	return k;
}

void keeper_stop(struct keeper *k, bool at_once)
{
	if (!k)
		return;
	evtimer_del(k->on_round);
	evtimer_del(k->on_start);
	pusher_stop(k->pusher);
	if (k->work && at_once) {
		work_cancel(k->work);
		k->work = NULL;
	} else if (k->work) {
		work_finish(k->work);	/* the last tool writes the interval so far */
	}
}

bool keeper_is_busy(const struct keeper *k)
{
	return k && (k->work || pusher_is_busy(k->pusher));
}

void keeper_close(struct keeper *k)
{
	if (!k)
		return;
	event_free(k->on_round);
	event_free(k->on_start);
	pusher_close(k->pusher);
	kept_files_close(&k->kept);
	arena_release(&k->arena);
	free(k);
}

const struct kept_files *keeper_read(struct keeper *k, unsigned *turn)
{
	*turn = k->turn;
	k->readers[k->turn]++;
	kept_files_read(&k->kept);
	return &k->kept;
}

void keeper_release(struct keeper *k, unsigned turn)
{
	k->readers[turn]--;
	if (turn != k->turn && k->readers[turn] == 0)
		kept_files_delete(&k->kept);
}

void keeper_print(const struct keeper *k, struct evbuffer *out)
{
	metrics_print_one(out, "keep_cpu_seconds_total", "counter",
			  "CPU time of the tools of --keep.",
			  workshop_endless_cpu(k->server->shop));
	metrics_print_one(out, "keep_starts_total", "counter",
			  "Times that the tools of --keep were started.", (double)k->starts);
	metrics_print_one(out, "keep_last_profile_timestamp_seconds", "gauge",
			  "When the last profile was kept, in seconds since 1970; 0: none was.",
			  (double)k->written);
	metrics_print_one(out, "keep_failed_writes_total", "counter",
			  "Profiles that could not be written.", (double)k->failures);
	metrics_print_one(out, "keep_files", "gauge", "Profiles that are kept.",
			  (double)k->kept.files);
	metrics_print_one(out, "keep_bytes", "gauge", "Bytes of the profiles that are kept.",
			  (double)k->kept.bytes);
	pusher_print(k->pusher, out);
}
