/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job is a request that tools answer, one after the other:
 *
 *	profile by events	pmu-events encodes the events; the pipe samples them
 *	profile by time		the pipe samples a timer
 *	events			pmu-events lists the events; pmu-events --doctor
 *	history			pmu-topprof merges kept profiles
 */
#include "base/arena.h"
#include "serve/allow.h"
#include "serve/internal.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const double GRACE = 15;	/* seconds that tools may take longer than the sampling */

struct job {
	struct job *next;
	struct server *server;
	struct evhttp_request *request;
	enum job_kind answer;
	struct recipe recipe;
	struct query *query;
	struct arena arena;
	struct work *work;		/* the tools that run */
	struct event *on_client;	/* the client closed its connection or sent more bytes */
	size_t extra;			/* number of bytes sent after the request */
	struct evbuffer *first;		/* JOB_EVENTS: the list of events */
	double ends;			/* planned end of the sampling, monotonic, in s */
	bool samples;			/* the pipe is running */
	bool reads_kept;		/* the files that are kept */
	unsigned kept_turn;		/* of keeper_read() */
};

static void job_free(struct job *job)
{
	struct job **link = &job->server->jobs;

	while (*link != job)
		link = &(*link)->next;
	*link = job->next;
	job->server->running--;
	if (job->reads_kept)
		keeper_release(job->server->keeper, job->kept_turn);
	if (job->on_client)
		event_free(job->on_client);
	if (job->first)
		evbuffer_free(job->first);
	arena_release(&job->arena);
	free(job->query);
	free(job);
}

/* Answer with an error, and end JOB. */
#define job_refuse(job, status, ...) do { \
	reply_error((job)->server, (job)->request, status, 0, __VA_ARGS__); \
	job_free(job); \
} while (0)

/* Add a header that tells the client about the profile. */
static void add_note(struct job *job, const char *note)
{
	evhttp_add_header(evhttp_request_get_output_headers(job->request), "X-Pmu-Note", note);
}

/* Say in headers how the profile differs from what was asked for; MESSAGES are those of tools. */
static void add_notes(struct job *job, const char *messages)
{
	static const char name[] = "pmu-sample: ", replaced[] = " is sampled instead\n";
	char line[512];

	if (query_ignores_period(job->query, false))
		add_note(job, "the period does not apply to the timer, which takes 100 samples "
			 "per second");
	for (const char *at = messages; job->query->fallback && *at; ) {
		size_t size = strcspn(at, "\n") + 1;
		if (!strncmp(at, name, strlen(name)) && size > strlen(name) + strlen(replaced) &&
		    !strncmp(at + size - strlen(replaced), replaced, strlen(replaced))) {
			snprintf(line, sizeof(line), "%.*s", (int)(size - 1 - strlen(name)),
				 at + strlen(name));
			add_note(job, line);
		}
		at += strnlen(at, size);
	}
}

/* Answer with the file in memory FD, which is closed at last. */
static void answer_file(struct job *job, int fd, off_t size)
{
	struct evbuffer *body = evbuffer_new();
	struct evkeyvalq *headers = evhttp_request_get_output_headers(job->request);

	if (size <= 0) {
		close(fd);
		evbuffer_free(body);
		job_refuse(job, 500, "the tools wrote nothing");
		return;
	}
	evbuffer_add_file(body, fd, 0, size);	/* it closes FD, even if it fails */
	if (job->answer == JOB_PROFILE)
		evhttp_add_header(headers, "Content-Disposition",
				  "attachment; filename=\"profile.pb.gz\"");
	reply_send(job->server, job->request, 200, job->answer == JOB_PROFILE
		   ? "application/octet-stream" : "text/html; charset=utf-8", body, 0);
	job_free(job);
}

/* If the tools failed, answer with an error, end JOB and return true. */
static bool has_failed(struct job *job, const struct work_result *r)
{
	struct server *s = job->server;

	job->work = NULL;
	if (!r->failed)
		return false;
	if (r->timed_out && job->reads_kept)
		job_refuse(job, 500, "%s did not end in time; ask for a shorter time", r->failed);
	else if (r->timed_out)
		job_refuse(job, 500, "%s did not end within %.0f s after the sampling", r->failed,
			   GRACE);
	else
		job_refuse(job, s->stops ? 503 : 500, "%s: %s", r->failed, r->why);
	return true;
}

static void sampled(void *context, struct work_result *r)
{
	struct job *job = context;

	metrics_add_samples(&job->server->metrics, r->messages);
	if (has_failed(job, r)) {
		close(r->output);
		return;
	}
	add_notes(job, r->messages);
	answer_file(job, r->output, r->size);
}

static void start_work(struct job *job, recipe_tools tools, double seconds, work_done *done)
{
	job->ends = server_now() + seconds;
	job->work = work_start(job->server->shop, tools, seconds + GRACE, done, job);
	if (!job->work)
		job_refuse(job, 500, "pmu-serve cannot start its tools; its log says why");
}

static void start_sampling(struct job *job)
{
	if (job->recipe.unlabelled && job->query->program_labels) {
		job_refuse(job, 400, "label: no labels of programs are recorded at tracepoints");
		return;
	}
	if (recipe_records_waits(job->recipe.kind) && job->query->callgraph &&
	    !strcmp(job->query->callgraph, "none")) {
		job_refuse(job, 400, "callgraph: waits need callchains, so it cannot be none");
		return;
	}
	job->samples = true;
	start_work(job, recipe_profile(&job->recipe, &job->arena),
		   (double)job->recipe.duration / 1e9, sampled);
}

/* pmu-events has described the events. */
static void encoded(void *context, struct work_result *r)
{
	struct job *job = context;
	char why[256];

	job->work = NULL;
	char *json = work_output_text(r, ALLOW_JSON_MOST);
	bool allowed = !r->failed && r->size <= ALLOW_JSON_MOST &&
		       allow_all(job->server->settings->allow, json, why, sizeof(why));
	job->recipe.unlabelled = allow_has_tracepoint(json);
	free(json);
	close(r->output);
	if (job->server->stops)
		job_refuse(job, 503, "the server is stopping");
	else if (r->failed && r->timed_out)
		job_refuse(job, 500, "%s did not end", r->failed);
	else if (r->failed)
		job_refuse(job, 400, "event: %s", r->why);
	else if (r->size > ALLOW_JSON_MOST)
		job_refuse(job, 400, "event: these are too many");
	else if (!allowed)
		job_refuse(job, 403, "%s", why);
	else
		start_sampling(job);
}

static void examined(void *context, struct work_result *r)
{
	struct job *job = context;

	job->work = NULL;
	/* the doctor exits with 1 if it found a problem; its output is still complete */
	evbuffer_add_printf(job->first, ",\n\"doctor\": ");
	if (r->size > 0)
		evbuffer_add_file(job->first, r->output, 0, r->size);
	else
		evbuffer_add_printf(job->first, "[]");
	evbuffer_add_printf(job->first, "}\n");
	if (r->size <= 0)
		close(r->output);
	reply_send(job->server, job->request, 200, "application/json", job->first, 0);
	job->first = NULL;
	job_free(job);
}

static void listed(void *context, struct work_result *r)
{
	struct job *job = context;

	if (has_failed(job, r)) {
		close(r->output);
		return;
	}
	job->first = evbuffer_new();
	evbuffer_add_printf(job->first, "{\"events\": ");
	evbuffer_add_file(job->first, r->output, 0, r->size);
	start_work(job, recipe_doctor(&job->arena), 0, examined);
}

/* The client has closed its connection: end JOB without an answer. */
static void drop(struct job *job)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(job->request);

	if (job->work)
		work_cancel(job->work);
	metrics_count(&job->server->metrics, 499);
	job_free(job);
	evhttp_connection_free(connection);	/* with its request */
}

/* While tools work for a request, evhttp does not read, so we must notice a closed connection. */
static void on_client(evutil_socket_t fd, short what, void *context)
{
	enum { EXTRA = 1 << 20 };	/* bytes after a request that are ignored */
	struct job *job = context;
	char bytes[4096];

	(void)what;
	ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	job->extra += n > 0 ? (size_t)n : 0;
	if (n <= 0 || job->extra > EXTRA)
		drop(job);
}

static void watch_client(struct job *job)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(job->request);
	int fd = bufferevent_getfd(evhttp_connection_get_bufferevent(connection));

	job->on_client = event_new(job->server->base, fd, EV_READ | EV_PERSIST, on_client, job);
	event_add(job->on_client, NULL);
}

/* Return the seconds until the next job ends, at least 1. */
static unsigned next_end(const struct server *s)
{
	double now = server_now(), next = 3600;

	for (const struct job *job = s->jobs; job; job = job->next)
		if (job->ends - now < next)
			next = job->ends - now;
	return next < 1 ? 1 : (unsigned)next + 1;
}

/* Return whether another job may start now; if not, answer with an error. */
static bool has_room(struct server *s, struct evhttp_request *request)
{
	double now = server_now(), share = metrics_share(&s->metrics, now);

	if (s->stops)
		reply_error(s, request, 503, 1, "the server is stopping");
	else if (s->running >= s->settings->jobs)
		reply_error(s, request, 429, next_end(s), "%u requests sample already, as many as "
			    "pmu-serve --jobs allows; try again", s->running);
	else if (share > s->settings->max_cost)
		reply_error(s, request, 429,
			    metrics_wait(&s->metrics, s->settings->max_cost, now),
			    "profiling takes %.3g %% of a CPU, and pmu-serve --max-cost allows "
			    "%.3g %%; try again", 100 * share, 100 * s->settings->max_cost);
	else
		return true;
	return false;
}

/* Return a new job for REQUEST. */
static struct job *job_new(struct server *s, struct evhttp_request *request,
			   struct query *query)
{
	struct job *job = mem_zeroed(1, sizeof(*job));

	job->server = s;
	job->request = request;
	job->query = query;
	job->next = s->jobs;
	s->jobs = job;
	s->running++;
	watch_client(job);
	connections_hold(s->connections, request);
	return job;
}

/*
 * Set *PID to the process of QUERY.  If QUERY cannot be sampled, answer with an error and return
 * false.
 */
static bool may_sample(struct server *s, struct evhttp_request *request,
		       const struct query *query, pid_t *pid)
{
	uint64_t most = s->settings->max_seconds;
	const char *why;
	int status = target_find(s, query, pid, &why);

	if (status)
		reply_error(s, request, status, 0, "%s", why);
	else if (query->seconds > most)
		reply_error(s, request, 400, 0, "seconds: at most %.9g here (pmu-serve "
			    "--max-seconds)", (double)most / 1e9);
	else if (query->program_labels && !s->settings->labels)
		reply_error(s, request, 400, 0, "label: this server records no labels of programs "
			    "(pmu-serve --labels)");
	else
		return true;
	return false;
}

void job_start(struct server *s, struct evhttp_request *request, enum job_kind answer,
	       enum recipe_kind kind, struct query *query)
{
	enum { SECONDS = 30 };		/* as Go's default */
	uint64_t most = s->settings->max_seconds, normal = SECONDS * UINT64_C(1000000000);
	pid_t pid = 0;

	if ((answer != JOB_EVENTS && !may_sample(s, request, query, &pid)) ||
	    !has_room(s, request)) {
		free(query);
		return;
	}
	struct job *job = job_new(s, request, query);
	job->answer = answer;
	job->recipe = (struct recipe){
		.kind = kind, .page = answer == JOB_PAGE, .query = query, .pid = pid,
		.settings = s->settings, .unlabelled = recipe_records_waits(kind),
		.duration = query->seconds ? query->seconds : normal < most ? normal : most,
	};
	if (answer == JOB_EVENTS)
		start_work(job, recipe_list(&job->arena), 0, listed);
	else if (kind == RECIPE_EVENTS)
		start_work(job, recipe_encode(&job->recipe, &job->arena), 0, encoded);
	else
		start_sampling(job);
}

/* Answer that no kept profile is in the range of the query, and which range has profiles. */
static void refuse_range(struct server *s, struct evhttp_request *request,
			 const struct kept_files *kept)
{
	char first[MOMENT_SIZE], last[MOMENT_SIZE];

	if (kept->files == 0) {
		reply_error(s, request, 404, 0, "there is no profile yet; the first is written "
			    "when pmu-serve --interval has passed");
		return;
	}
	moment_format(first, kept->file[0].start);
	moment_format(last, kept->file[kept->files - 1].end);
	reply_error(s, request, 404, 0, "no profile covers this time; kept profiles cover %s to %s",
		    first, last);
}

/* Return the paths of the FILES files at FILE, in ARENA; NULL: they are too long. */
static char *const *kept_paths(const struct kept_files *kept, const struct kept_file *file,
			       size_t files, struct arena *arena)
{
	/* bytes of a command line: half of what the kernel takes, which depends on ulimit -s */
	size_t most = (size_t)sysconf(_SC_ARG_MAX) / 2;
	size_t room = strlen(kept->path) + 1 + KEPT_FILE_NAME;
	char name[KEPT_FILE_NAME];

	if (files > most / (room + sizeof(char *)))
		return NULL;
	char **path = arena_alloc(arena, files * sizeof(*path));
	for (size_t i = 0; i < files; i++) {
		path[i] = arena_alloc(arena, room);
		kept_file_name(&file[i], name);
		snprintf(path[i], room, "%s/%s", kept->path, name);
	}
	return path;
}

void job_start_history(struct server *s, struct evhttp_request *request, enum job_kind answer,
		       struct query *query)
{
	enum { SECONDS = 30 };		/* seconds, plus GRACE, to merge profiles */
	unsigned turn;
	size_t first;

	if (!s->keeper)
		reply_error(s, request, 404, 0, "this server keeps no profiles; pmu-serve --keep "
			    "does");
	if (!s->keeper || !has_room(s, request)) {
		free(query);
		return;
	}
	const struct kept_files *kept = keeper_read(s->keeper, &turn);
	uint64_t to = query->to && query->to == query->from ? query->to + 1 : query->to;
	size_t files = kept_files_find(kept, query->from, to ? to : UINT64_MAX, &first);
	if (files == 0) {
		refuse_range(s, request, kept);
		keeper_release(s->keeper, turn);
		free(query);
		return;
	}
	struct job *job = job_new(s, request, query);
	job->answer = answer;
	job->reads_kept = true;
	job->kept_turn = turn;
	job->recipe = (struct recipe){
		.page = answer == JOB_PAGE, .query = query, .settings = s->settings,
	};
	char *const *path = kept_paths(kept, kept->file + first, files, &job->arena);
	if (path)
		start_work(job, recipe_merge(&job->recipe, path, files, &job->arena), SECONDS,
			   sampled);
	else
		job_refuse(job, 400, "%zu profiles are too many; ask for a shorter time", files);
}

void jobs_stop(struct server *s, bool at_once)
{
	for (struct job *job = s->jobs, *next; job; job = next) {
		next = job->next;
		if (job->samples && !at_once) {
			work_finish(job->work);
			continue;
		}
		if (job->work)
			work_cancel(job->work);
		job_refuse(job, 503, "the server is stopping");
	}
}
