/* SPDX-License-Identifier: Apache-2.0 */
#include "locate/fetch.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/sibling.h"
#include "base/signals.h"
#include "record/record.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { AT_ONCE = 8, TIMEOUT_SECONDS = 30 };

/* A file that was asked for. Each file is asked for once. */
struct download {
	char hex[BUILD_ID_HEX];
	enum locate_kind kind;
	pid_t pid;		/* the client, and its process group; 0: it has ended */
	uint64_t started;	/* ns of CLOCK_MONOTONIC */
};

const char *fetch_kind_name(enum locate_kind kind)
{
	return kind == LOCATE_PROGRAM ? "executable" : "debuginfo";
}

bool fetch_is_on(const struct fetcher *f)
{
	return f && f->urls && !f->given_up && !is_stopped(f->stop);
}

/*
 * Set the client's environment, once. The client gives up on a server that sends nothing for a
 * time. Unless the user sets that time, it is shorter than the client's default of 90 seconds.
 */
static void begin(struct fetcher *f)
{
	char text[16];

	if (f->begun)
		return;
	f->begun = true;
	snprintf(text, sizeof(text), "%d", TIMEOUT_SECONDS);
	setenv("DEBUGINFOD_URLS", f->urls, 1);
	setenv("DEBUGINFOD_TIMEOUT", text, 0);
	f->timeout = strtoul(getenv("DEBUGINFOD_TIMEOUT"), NULL, 10) * 1000000000;
}

static uint64_t hash_of(const char *hex, enum locate_kind kind)
{
	return hash_more(hash_bytes(hex, strlen(hex)), kind);
}

static struct download *find(struct fetcher *f, const char *hex, enum locate_kind kind)
{
	uint32_t id = TABLE_FIND(&f->table, hash_of(hex, kind), i,
				 f->query[i].kind == kind && !strcmp(f->query[i].hex, hex));

	return id == TABLE_NONE ? NULL : &f->query[id];
}

/* Start the client.  Return its pid and process group, so that all its processes can be killed. */
static pid_t start_client(const char *hex, enum locate_kind kind)
{
	char *const arguments[] = { (char *)(uintptr_t)"debuginfod-find",
				    (char *)(uintptr_t)fetch_kind_name(kind),
				    (char *)(uintptr_t)hex, NULL };

	return sibling_spawn_apart(arguments);
}

static struct download *start(struct fetcher *f, const char *hex, enum locate_kind kind)
{
	begin(f);
	f->query = array_grow(f->query, f->queries, sizeof(*f->query));
	struct download *q = &f->query[f->queries];
	*q = (struct download){
		.kind = kind,
		.pid = start_client(hex, kind),
		.started = monotonic_ns(),
	};
	snprintf(q->hex, sizeof(q->hex), "%s", hex);
	f->running += q->pid > 0;
	table_add(&f->table, hash_of(hex, kind), f->queries++);
	return q;
}

static void end_all(struct fetcher *f)
{
	for (uint32_t i = 0; i < f->queries && f->running; i++) {
		struct download *q = &f->query[i];
		if (!q->pid)
			continue;
		kill(-q->pid, SIGKILL);
		waitpid(q->pid, NULL, 0);
		q->pid = 0;
		f->running--;
	}
}

static void give_up(struct fetcher *f, uint64_t waited)
{
	if (!f->given_up && !is_stopped(f->stop))
		report_note(f->report, "debuginfod: '%s' did not answer within %.0f s: nothing "
			    "more is fetched, and names may be missing", f->urls,
			    (double)waited / 1e9);
	f->given_up = true;
	end_all(f);
}

/*
 * Return whether a client failed after about the time that it waits for a server that does not
 * answer.
 */
static bool has_hung(const struct fetcher *f, const struct download *q, int status)
{
	return status != 0 && f->timeout && monotonic_ns() - q->started >= f->timeout / 10 * 9;
}

/* Reap the clients that have ended. Gives up fetching if a server did not answer. */
static void reap(struct fetcher *f)
{
	bool hung = false;
	int status;

	for (uint32_t i = 0; i < f->queries && f->running; i++) {
		struct download *q = &f->query[i];
		if (!q->pid || waitpid(q->pid, &status, WNOHANG) == 0)
			continue;
		q->pid = 0;
		f->running--;
		hung = hung || has_hung(f, q, status);
	}
	if (hung)
		give_up(f, f->timeout);
}

/* Wait 10 ms. Gives up if the total exceeds the limit, or if this process is to stop. */
static void wait_a_moment(struct fetcher *f)
{
	const struct timespec moment = { .tv_nsec = 10000000 };
	uint64_t start = monotonic_ns();

	nanosleep(&moment, NULL);
	reap(f);
	f->waited += monotonic_ns() - start;
	if (f->running && (is_stopped(f->stop) || f->waited >= f->limit))
		give_up(f, f->limit);
}

void fetch_begin(struct fetcher *f, const char *hex, enum locate_kind kind)
{
	if (!fetch_is_on(f) || find(f, hex, kind))
		return;
	if (f->running == AT_ONCE)
		reap(f);
	if (f->running < AT_ONCE && !f->given_up)
		start(f, hex, kind);
}

bool fetch_wait(struct fetcher *f, const char *hex, enum locate_kind kind)
{
	struct download *q = f ? find(f, hex, kind) : NULL;

	if (!q && !fetch_is_on(f))
		return false;
	while (!q && f->running == AT_ONCE)
		wait_a_moment(f);
	if (!q && !f->given_up)
		q = start(f, hex, kind);
	while (q && q->pid)
		wait_a_moment(f);
	return q;
}

void fetch_release(struct fetcher *f)
{
	end_all(f);
	free(f->query);
	table_release(&f->table);
}
