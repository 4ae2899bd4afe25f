/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/pusher.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/digest.h"
#include "base/random.h"
#include "base/regular.h"
#include "push/pauses.h"
#include "push/post.h"
#include "push/push-url.h"
#include "push/sent.h"
#include "serve/internal.h"
#include "serve/push-log.h"
#include "serve/push-request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
	TRIES = 3,			/* to read a profile, between others that are good */
	MARK_FILES = 5000,		/* a mark of so many is written each second at most */
};

static const double after_refusal = 0.1;	/* s; the server works: go on with the next file */
static const double tool_limit = 300;	/* s that pmu-topprof may take */
static const struct post_limits limits = {
	.connect = 5, .progress = 30, .send = 300, .answer = 30,
};

/* A kept profile that was not sent. */
struct queued_file {
	struct sent_file file;		/* first: compared by sent_compare() */
	bool is_suspect;		/* it could not be read */
	unsigned failures;		/* to read it, for which it may be the reason */
	uint64_t reads;			/* of the pusher, at the last of these */
	bool was_refused;		/* by the server, which may be wrong about all profiles */
	uint64_t taken;			/* of the pusher, at that time */
	uint64_t tries;			/* of the pusher, after the last failure */
	bool dropped;			/* it was damaged */
};

struct pusher {
	struct server *server;
	const struct serve_settings *settings;
	const struct kept_files *kept;
	struct utsname own;
	const char *host;		/* name of this machine */
	struct push_log log;
	char mark[32];			/* name of its file */
	struct sent sent;
	bool unwritten;			/* the mark does not have all of SENT */
	double mark_due;		/* when it may be written again; monotonic, in s */
	struct queued_file *waiting;	/* oldest first; owned */
	size_t count;			/* of WAITING */
	struct poster *poster;
	bool posts;			/* POSTER is at work */
	struct sent_file current;	/* the profile that is being sent */
	bool has_current;
	bool current_is_gone;		/* its file was deleted */
	struct work *work;		/* the tool that makes CURRENT into rows; or NULL */
	struct arena arena;		/* its command line */
	struct event *on_limit;		/* it takes too long */
	int fd;				/* what is to be sent of CURRENT; -1: not known yet */
	off_t size, offset, piece;	/* bytes of FD: all, sent, in the current request */
	uint64_t reads;			/* profiles that were opened, or made into rows */
	unsigned unread;		/* failures to do so since the last one */
	uint64_t taken;			/* profiles that the server has taken */
	uint64_t tries;			/* profiles that were put back, to be tried again */
	struct event *on_turn;		/* go on */
	bool pauses_now;		/* ON_TURN comes after a pause */
	struct pauses pauses;
	bool stops;			/* the server stops */
};

/* Go on after SECONDS. */
static void wake(struct pusher *p, double seconds)
{
	const struct timeval time = clock_timeval(seconds);

	p->pauses_now = seconds > 0;
	if (p->pauses_now && p->stops)
		return;
	evtimer_add(p->on_turn, &time);
}

static size_t pending(const struct pusher *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->count; i++)
		n += !p->waiting[i].dropped;
	return n;
}

static struct queued_file *find(const struct pusher *p, const struct sent_file *f)
{
	return p->count == 0 ? NULL
		: bsearch(f, p->waiting, p->count, sizeof(*p->waiting), sent_compare);
}

static void name_of(const struct sent_file *f, char name[KEPT_FILE_NAME])
{
	const struct kept_file file = { .start = f->start, .length = f->length };

	kept_file_name(&file, name);
}

/* Nothing of the current profile is being sent. */
static void forget_current(struct pusher *p)
{
	descriptor_close(p->fd);
	p->fd = -1;
	p->has_current = p->current_is_gone = false;
}

/* It failed.  If the current profile was deleted meanwhile, it will never be sent. */
static void note_failure(struct pusher *p, enum push_failure failure, const char *why)
{
	push_log_failure(&p->log, failure, why, pending(p));
	if (!p->current_is_gone)
		return;
	forget_current(p);
	push_log_deleted(&p->log, 1);
}

/* It failed: try again after a pause, for which the server asks ASKED seconds. */
static void fail(struct pusher *p, enum push_failure failure, const char *why, double asked)
{
	note_failure(p, failure, why);
	wake(p, pauses_next(&p->pauses, asked));
}

/* The mark may be written later: then profiles are sent twice if the server is killed before. */
static void write_mark(struct pusher *p)
{
	double now = server_now();

	if (!p->unwritten || (now < p->mark_due && !p->stops))
		return;
	p->mark_due = now + (double)p->sent.files / MARK_FILES;
	p->unwritten = !sent_write(&p->sent, p->kept->fd, p->mark);
	if (p->unwritten)
		push_log_failure(&p->log, PUSH_MARK, strerror(errno), pending(p));
}

/* The current profile was sent, or is never to be sent. */
static void settle(struct pusher *p)
{
	struct queued_file *w = find(p, &p->current);

	sent_add(&p->sent, &p->current);
	if (w) {
		p->count--;
		memmove(w, w + 1, (size_t)(p->waiting + p->count - w) * sizeof(*w));
	}
	forget_current(p);
	p->unwritten = true;
	write_mark(p);
}

/*
 * The current profile cannot be read, because of WHY.  Go on with the next one, and come back.  If
 * others can be read again and again, and this one cannot, it is damaged.  BY_SIGNAL: a signal
 * ended the tool, for lack of memory perhaps, which says nothing about the profile.
 */
static void fail_to_read(struct pusher *p, const char *why, bool by_signal)
{
	struct queued_file *q = find(p, &p->current);
	bool is_gone = p->current_is_gone;
	char name[KEPT_FILE_NAME], text[640];

	name_of(&p->current, name);
	snprintf(text, sizeof(text), "%s: %s", name, why);
	note_failure(p, PUSH_PROFILE, text);
	forget_current(p);
	if (q && !is_gone) {
		q->tries = ++p->tries;
		q->failures += !by_signal && (!q->is_suspect || q->reads != p->reads);
		q->is_suspect = true;
		q->reads = p->reads;
		q->dropped = q->failures == TRIES;
		if (q->dropped)
			push_log_dropped(&p->log, PUSH_DAMAGED, name, why);
	}
	wake(p, ++p->unread > 1 ? pauses_next(&p->pauses, 0) : 0);
}

/* The current profile is the SIZE bytes of FD. */
static void start_to_send(struct pusher *p, int fd, off_t size)
{
	p->fd = fd;
	p->size = size;
	p->reads++;
	p->unread = 0;
	wake(p, 0);
}

static void send_piece(struct pusher *p)
{
	char authorization[AUTHORIZATION_MOST], why[SECRET_WHY];

	if (!push_request_authorize(p->settings, authorization, why)) {
		fail(p, PUSH_CREDENTIALS, why, 0);
		return;
	}
	char *target = push_request_target(p->settings, p->host, p->current.start,
					   p->current.length);
	p->piece = push_request_piece(p->settings, p->fd, p->offset, p->size);
	p->posts = true;
	const struct post_request request = {
		.target = target,
		.type = p->settings->push_as == PUSH_PPROF ? "application/octet-stream"
			: "application/x-ndjson",
		.authorization = *authorization ? authorization : NULL,
		.fd = p->fd, .offset = p->offset, .size = p->piece,
	};
	poster_send(p->poster, &request);
	free(target);
}

/* Return what kind of failure an answer with STATUS is. */
static enum push_failure failure_of(int status)
{
	switch (status) {
	case 401:
	case 403:
		return PUSH_UNAUTHORIZED;
	case 404:
		return PUSH_MISSING;
	case 408:
	case 429:
		return PUSH_BUSY;
	default:
		return status < 400 ? PUSH_REDIRECT : status < 500 ? PUSH_REFUSED : PUSH_SERVER;
	}
}

/*
 * The server refuses the current profile, because of WHY.  With a wrong URL, table or version it
 * refuses all.  So the profile is dropped only when it is refused again, after another was taken.
 */
static void refuse_current(struct pusher *p, const char *why, double asked)
{
	struct queued_file *q = find(p, &p->current);
	char name[KEPT_FILE_NAME];

	if (q && q->was_refused && p->taken > q->taken) {
		name_of(&p->current, name);
		push_log_dropped(&p->log, PUSH_NOT_TAKEN, name, why);
		settle(p);
		wake(p, after_refusal);
		return;
	}
	note_failure(p, PUSH_REFUSED, why);
	forget_current(p);
	if (q) {
		q->was_refused = true;
		q->taken = p->taken;
		q->tries = ++p->tries;
	}
	wake(p, pauses_next(&p->pauses, asked));
}

static void refused(struct pusher *p, const struct post_result *r)
{
	enum push_failure failure = failure_of(r->status);
	char why[sizeof(r->why) + 32];

	snprintf(why, sizeof(why), "status %d%s%s", r->status, *r->why ? ": " : "", r->why);
	if (failure == PUSH_REFUSED)
		refuse_current(p, why, r->retry_after);
	else
		fail(p, failure, why, r->retry_after);
}

static void posted(void *context, const struct post_result *r)
{
	static const enum push_failure of_outcome[] = {
		[POST_NO_NAME] = PUSH_NAME, [POST_NO_CONNECTION] = PUSH_CONNECT,
		[POST_TIMED_OUT] = PUSH_TIMEOUT, [POST_BROKEN] = PUSH_CONNECTION,
		[POST_NOT_HTTP] = PUSH_ANSWER,
	};
	struct pusher *p = context;

	p->posts = false;
	if (r->outcome != POST_ANSWERED) {
		fail(p, of_outcome[r->outcome], r->why, 0);
		return;
	}
	if (r->status >= 300) {
		refused(p, r);
		return;
	}
	p->offset += p->piece;
	pauses_reset(&p->pauses);
	push_log_sent(&p->log, (uint64_t)p->piece, p->offset == p->size);
	if (p->offset == p->size) {
		p->taken++;
		settle(p);
	}
	wake(p, 0);
}

/* The tool has made the current profile into rows. */
static void made(void *context, struct work_result *r)
{
	struct pusher *p = context;

	char why[sizeof(r->why) + 16];

	p->work = NULL;
	evtimer_del(p->on_limit);
	if (r->failed) {
		close(r->output);
		snprintf(why, sizeof(why), "%s: %s", r->failed, r->why);
		fail_to_read(p, why, r->killed);
		return;
	}
	start_to_send(p, r->output, r->size);
}

static void on_limit(evutil_socket_t fd, short what, void *context)
{
	struct pusher *p = context;

	(void)fd;
	(void)what;
	work_cancel(p->work);
	p->work = NULL;
	fail_to_read(p, "pmu-topprof takes too long", false);
}

static void make_rows(struct pusher *p, const char *name)
{
	const struct timeval time = clock_timeval(tool_limit);

	arena_release(&p->arena);
	p->work = work_start(p->server->shop, recipe_rows(p->settings, p->host, p->kept->path, name,
							  &p->arena),
			     WORK_ENDLESS, made, p);	/* not a request: it has no share in them */
	if (p->work)
		evtimer_add(p->on_limit, &time);
	else
		fail(p, PUSH_PROFILE, "pmu-topprof cannot be started", 0);
}

static void open_profile(struct pusher *p, const char *name)
{
	struct stat st;

	int fd = regular_open_in(p->kept->fd, name, true);
	if (fd >= 0 && fstat(fd, &st) == 0) {
		start_to_send(p, fd, st.st_size);
		return;
	}
	fail_to_read(p, strerror(errno), false);
	descriptor_close(fd);
}

/*
 * Return the oldest profile that waits, or NULL.  Those that cannot be read, or are refused, come
 * last, in turn, until another one was read or taken.
 */
static const struct queued_file *choose(const struct pusher *p)
{
	const struct queued_file *last = NULL;

	for (const struct queued_file *q = p->waiting; q < p->waiting + p->count; q++) {
		if (q->dropped)
			continue;
		if ((!q->is_suspect || q->reads != p->reads) &&
		    (!q->was_refused || q->taken != p->taken))
			return q;
		if (!last || q->tries < last->tries)
			last = q;
	}
	return last;
}

/* Start with the next profile, if there is one. */
static void start_next(struct pusher *p)
{
	const struct queued_file *next = choose(p);
	char name[KEPT_FILE_NAME];

	if (!next)
		return;
	p->current = next->file;
	p->has_current = true;
	p->offset = 0;
	name_of(&p->current, name);
	if (p->settings->push_as == PUSH_PPROF)
		open_profile(p, name);
	else
		make_rows(p, name);
}

static void on_turn(evutil_socket_t fd, short what, void *context)
{
	struct pusher *p = context;

	(void)fd;
	(void)what;
	p->pauses_now = false;
	if (p->fd < 0) {
		start_next(p);
	} else if (p->offset < p->size) {
		send_piece(p);
	} else {		/* it is empty */
		push_log_sent(&p->log, 0, true);
		settle(p);
		wake(p, 0);
	}
}

bool pusher_is_busy(const struct pusher *p)
{
	return p && (p->work || p->posts ||
		     (!p->pauses_now && evtimer_pending(p->on_turn, NULL)));
}

/* Return the list of KEPT, sorted.  The caller frees. */
static struct sent_file *list_kept(const struct kept_files *kept)
{
	struct sent_file *all = mem_zeroed(kept->files + 1, sizeof(*all));

	for (size_t i = 0; i < kept->files; i++)
		all[i] = (struct sent_file){ .start = kept->file[i].start,
					     .length = kept->file[i].length,
					     .changed = kept->file[i].changed };
	return all;
}

/* Return how many waiting profiles are not among the COUNT at ALL.  Skip the current one. */
static size_t count_gone(struct pusher *p, const struct sent_file *all, size_t count)
{
	size_t gone = 0;

	for (size_t i = 0; i < p->count; i++) {
		const struct queued_file *w = &p->waiting[i];
		if (w->dropped ||
		    (count > 0 && bsearch(&w->file, all, count, sizeof(*all), sent_compare)))
			continue;
		if (p->has_current && sent_compare(&w->file, &p->current) == 0)
			p->current_is_gone = true;
		else
			gone++;
	}
	if (p->current_is_gone && !p->posts && !p->work) {	/* it waits for the server */
		forget_current(p);
		gone++;
	}
	return gone;
}

void pusher_look(struct pusher *p)
{
	if (!p)
		return;
	size_t count = p->kept->files, waiting = 0;
	struct sent_file *all = list_kept(p->kept);
	struct queued_file *list = mem_zeroed(count + 1, sizeof(*list));

	push_log_deleted(&p->log, count_gone(p, all, count));
	sent_forget(&p->sent, all, count);
	for (size_t i = 0; i < count; i++) {
		const struct queued_file *known = find(p, &all[i]);
		if (!sent_has(&p->sent, &all[i]))
			list[waiting++] = known ? *known : (struct queued_file){ .file = all[i] };
	}
	free(all);
	free(p->waiting);
	p->waiting = list;
	p->count = waiting;
	write_mark(p);
	if (waiting > 0 && !p->work && !p->posts && !p->pauses_now)
		wake(p, 0);
}

static bool read_mark(struct pusher *p)
{
	char why[SENT_WHY];

	sent_release(&p->sent);
	if (sent_read(&p->sent, p->kept->fd, p->mark, why))
		return true;
	report_event(p->server->report, "--push: '%s/%s' is not used: %s; all kept profiles are "
		     "sent again", p->kept->path, p->mark, why);
	return false;
}

void pusher_reopen(struct pusher *p)
{
	if (p)
		read_mark(p);
}

struct pusher *pusher_open(struct server *s, const struct kept_files *kept)
{
	char authorization[AUTHORIZATION_MOST], why[SECRET_WHY], text[8192 * 3];
	struct pusher *p = mem_zeroed(1, sizeof(*p));
	const struct push_url *url = s->settings->push;

	*p = (struct pusher){ .server = s, .settings = s->settings, .kept = kept, .fd = -1,
			      .pauses.seed = random_seed(),
			      .log = { .report = s->report, .server = url->socket ? url->socket
				       : url->authority } };
	if (!push_request_authorize(p->settings, authorization, why)) {
		report_error(s->report, "%s", why);
		free(p);
		return NULL;
	}
	uname(&p->own);
	p->host = s->settings->host ? s->settings->host : p->own.nodename;
	snprintf(text, sizeof(text), "%d %s %s", s->settings->push_as, p->log.server, url->target);
	snprintf(p->mark, sizeof(p->mark), "sent-%016" PRIx64, digest_bytes(text, strlen(text)));
	p->on_turn = evtimer_new(s->base, on_turn, p);
	p->on_limit = evtimer_new(s->base, on_limit, p);
	if (!p->on_turn || !p->on_limit)
		abort();	/* out of memory */
	p->poster = poster_new(s->base, url, &limits, posted, p);
	read_mark(p);
	return p;
}

void pusher_stop(struct pusher *p)
{
	if (!p)
		return;
	p->stops = true;
	if (p->pauses_now)
		evtimer_del(p->on_turn);
}

void pusher_close(struct pusher *p)
{
	if (!p)
		return;
	if (p->work)
		work_cancel(p->work);
	poster_free(p->poster);
	event_free(p->on_turn);
	event_free(p->on_limit);
	forget_current(p);
	sent_release(&p->sent);
	arena_release(&p->arena);
	free(p->waiting);
	free(p);
}

void pusher_print(const struct pusher *p, struct evbuffer *out)
{
	if (p)
		push_log_print(&p->log, pending(p), out);
}
