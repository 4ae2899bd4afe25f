/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/work.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/sibling.h"
#include "base/text.h"
#include "linux/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct workshop {
	struct event_base *base;
	struct report *report;
	struct work *works;	/* list, including cancelled works that still run */
	double cpu, endless_cpu;	/* seconds that tools used, without and of endless work */
};

struct work {
	struct work *next;
	struct workshop *shop;
	struct sibling tool[WORK_TOOLS];	/* pid 0: it has ended */
	int status[WORK_TOOLS];			/* as wait4() returns it */
	bool in_vain[WORK_TOOLS];		/* killed, because a tool that reads its output
						   failed */
	unsigned tools;
	struct work_text {			/* a file in memory */
		int fd;
		off_t read;			/* bytes that were returned as lines */
		off_t freed;			/* bytes, of these, whose memory was freed */
	} output, messages;
	double cpu[WORK_TOOLS];			/* CPU time in s, at the last work_watch() */
	unsigned rounds[WORK_TOOLS];		/* calls of work_watch() since it grew */
	struct event *limit;			/* NULL: endless */
	struct event *grace;			/* until tools whose readers failed are killed */
	bool timed_out;
	unsigned hung;				/* with TIMED_OUT: the tool that did not work */
	work_done *done;			/* NULL: cancelled */
	void *context;
};

struct workshop *workshop_new(struct event_base *base, struct report *report)
{
	struct workshop *shop = mem_zeroed(1, sizeof(*shop));

	shop->base = base;
	shop->report = report;
	return shop;
}

double workshop_cpu(const struct workshop *shop)
{
	return shop->cpu;
}

/* Return the CPU time of the running process PID, in s. */
static double cpu_of(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &used) < 0)
		return 0;
	return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

double workshop_endless_cpu(const struct workshop *shop)
{
	double cpu = shop->endless_cpu;
	struct proc_ids helpers;

	for (const struct work *w = shop->works; w; w = w->next)
		for (unsigned i = 0; !w->limit && i < w->tools; i++) {
			pid_t pid = w->tool[i].pid;
			if (!pid)
				continue;
			cpu += cpu_of(pid);
			if (!proc_children(pid, pid, &helpers))
				continue;
			for (size_t k = 0; k < helpers.count; k++)
				cpu += cpu_of(helpers.id[k]);
			free(helpers.id);
		}
	return cpu;
}

static void work_free(struct work *w)
{
	if (w->limit)
		event_free(w->limit);
	if (w->grace)
		event_free(w->grace);
	descriptor_close(w->output.fd);
	descriptor_close(w->messages.fd);
	free(w);
}

static void signal_tools(const struct work *w, int number)
{
	for (unsigned i = 0; i < w->tools; i++)
		if (w->tool[i].pid)
			kill(w->tool[i].pid, number);
}

/*
 * Copy the messages of TOOL to WHY, without the tool's name, as one line: the last one says what
 * ended it, and may need those before it.  Without room, the first ones are left out.  Return
 * false if there is none.
 */
static bool join_messages(const char *messages, const char *tool, char *why, size_t size)
{
	size_t name = strlen(tool);

	*why = '\0';
	for (const char *at = messages; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		if (strncmp(at, tool, name) != 0 || at[name] != ':' || at[name + 1] != ' ')
			continue;
		size_t used = strlen(why), more = strcspn(at + name + 2, "\n");
		if (used + more + 3 > size)
			used = 0;
		snprintf(why + used, size - used, "%s%.*s", used ? "; " : "", (int)more,
			 at + name + 2);
	}
	text_make_safe(why);
	return *why;
}

/* Return whether our signal ended tool I.  It may have ended by itself before the signal. */
static bool was_in_vain(const struct work *w, unsigned i)
{
	return w->in_vain[i] && WIFSIGNALED(w->status[i]) && WTERMSIG(w->status[i]) == SIGKILL;
}

/* Set R's first tool that failed, and why.  Later tools failed for lack of input. */
static void find_failure(const struct work *w, struct work_result *r)
{
	unsigned i = w->timed_out ? w->hung : 0;

	while (i < w->tools && (w->status[i] == 0 || was_in_vain(w, i)))
		i++;
	if (i == w->tools)
		return;
	r->failed = w->tool[i].name;
	r->killed = WIFSIGNALED(w->status[i]) && (WTERMSIG(w->status[i]) == SIGKILL ||
						  WTERMSIG(w->status[i]) == SIGTERM);
	if (WIFSIGNALED(w->status[i]))
		snprintf(r->why, sizeof(r->why), "signal %d (%s) ended it",
			 WTERMSIG(w->status[i]), strsignal(WTERMSIG(w->status[i])));
	else if (!join_messages(r->messages, r->failed, r->why, sizeof(r->why)))
		snprintf(r->why, sizeof(r->why), "exit status %d", WEXITSTATUS(w->status[i]));
}

/* All tools of W have ended. */
static void finish(struct work *w)
{
	struct work_result r = { .output = w->output.fd, .timed_out = w->timed_out };
	struct stat st;

	off_t from = 0;
	if (!w->limit && fstat(w->messages.fd, &st) == 0 && st.st_size >= WORK_MESSAGES)
		from = st.st_size - WORK_MESSAGES + 1;
	ssize_t size = pread(w->messages.fd, r.messages, sizeof(r.messages) - 1, from);
	r.messages[size > 0 ? size : 0] = '\0';
	if (w->done) {		/* otherwise the names of the tools may have been freed */
		find_failure(w, &r);
		r.size = fstat(r.output, &st) == 0 ? st.st_size : 0;
		lseek(r.output, 0, SEEK_SET);
		w->done(w->context, &r);
		w->output.fd = -1;	/* DONE has closed it */
	}
	work_free(w);
}

static bool is_running(const struct work *w)
{
	for (unsigned i = 0; i < w->tools; i++)
		if (w->tool[i].pid)
			return true;
	return false;
}

static void reap(struct work *w)
{
	for (unsigned i = 0; i < w->tools; i++) {
		struct rusage use;
		if (!w->tool[i].pid || wait4(w->tool[i].pid, &w->status[i], WNOHANG, &use) <= 0)
			continue;
		w->tool[i].pid = 0;
		*(w->limit ? &w->shop->cpu : &w->shop->endless_cpu) +=
			(double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
			1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
	}
}

void workshop_free(struct workshop *shop)
{
	enum { TRIES = 20 };
	const struct timespec moment = { .tv_nsec = 10000000 };

	if (!shop)
		return;
	for (const struct work *w = shop->works; w; w = w->next)
		signal_tools(w, SIGKILL);
	for (int tries = 0; shop->works; ) {
		struct work *w = shop->works;
		reap(w);
		if (is_running(w) && tries++ < TRIES) {
			nanosleep(&moment, NULL);
			continue;
		}
		shop->works = w->next;
		work_free(w);
	}
	free(shop);
}

/*
 * Return the tool for which the others of W wait: the first one that runs, unless the next tool
 * has not read what it wrote.
 */
static unsigned find_hung(const struct work *w)
{
	unsigned i = 0;

	while (i + 1 < w->tools && !w->tool[i].pid)
		i++;
	while (i + 1 < w->tools && w->tool[i + 1].pid && proc_unread_input(w->tool[i + 1].pid) > 0)
		i++;
	return i;
}

static void time_is_up(evutil_socket_t fd, short what, void *context)
{
	struct work *w = context;

	(void)fd;
	(void)what;
	reap(w);
	w->timed_out = true;
	w->hung = find_hung(w);
	signal_tools(w, SIGKILL);
}

/* Kill the tools whose readers failed. */
static void end_writers(evutil_socket_t fd, short what, void *context)
{
	struct work *w = context;
	bool failed = false;

	(void)fd;
	(void)what;

	for (unsigned i = w->tools; i-- > 0; failed |= !w->tool[i].pid && w->status[i])
		if (failed && w->tool[i].pid) {
			w->in_vain[i] = true;
			kill(w->tool[i].pid, SIGKILL);
		}
}

/*
 * If a tool has failed, kill the tools before it soon: a tool that waits for samples would notice
 * that its reader has ended only when it writes.  But a tool that failed itself, and closed its
 * output, still gets the time to say why.
 */
static void end_writers_soon(struct work *w)
{
	const struct timeval second = { .tv_sec = 1 };
	bool failed = false;

	for (unsigned i = 0; i < w->tools; i++)
		failed |= !w->tool[i].pid && w->status[i];
	if (failed && !evtimer_pending(w->grace, NULL))
		evtimer_add(w->grace, &second);
}

static bool is_ours(const struct workshop *shop, pid_t pid)
{
	for (const struct work *w = shop->works; w; w = w->next)
		for (unsigned i = 0; i < w->tools; i++)
			if (w->tool[i].pid == pid)
				return true;
	return false;
}

/*
 * Wait for processes that are not our tools.  If we are the first process of a container, the
 * children of killed tools become ours.  A tool of ours that ends now is left to its own SIGCHLD.
 */
static void reap_orphans(const struct workshop *shop)
{
	siginfo_t info = { .si_pid = 0 };

	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid &&
	       !is_ours(shop, info.si_pid)) {
		waitpid(info.si_pid, NULL, 0);
		info.si_pid = 0;
	}
}

void workshop_reap(struct workshop *shop)
{
	struct work **link = &shop->works, *ended = NULL;

	while (*link) {
		struct work *w = *link;
		reap(w);
		if (is_running(w)) {
			end_writers_soon(w);
			link = &w->next;
			continue;
		}
		*link = w->next;
		w->next = ended;
		ended = w;
	}
	reap_orphans(shop);
	while (ended) {		/* each finish() may start new tools */
		struct work *w = ended;
		ended = w->next;
		finish(w);
	}
}


/* Start the tools.  If one cannot be started, kill those before it and return false. */
static bool start_tools(struct work *w, char *const *const *argv)
{
	int in = -1;

	for (unsigned i = 0; argv[i] && i < WORK_TOOLS; i++) {
		const struct sibling_how how = {
			.in = in, .out = argv[i + 1] ? -1 : w->output.fd,
			.err = w->messages.fd,
			.deaf = true, .bound = true,
		};
		in = sibling_run(&w->tool[i], argv[i], &how, w->shop->report);
		if (in < 0) {
			signal_tools(w, SIGKILL);
			return false;
		}
		w->tools++;
	}
	return true;
}

struct work *work_start(struct workshop *shop, char *const *const *argv, double limit,
			work_done *done, void *context)
{
	struct work *w = mem_zeroed(1, sizeof(*w));
	const struct timeval time = clock_timeval(limit);

	*w = (struct work){ .shop = shop, .done = done, .context = context };
	w->output.fd = memfd_create("output", MFD_CLOEXEC);
	w->messages.fd = memfd_create("messages", MFD_CLOEXEC);
	/* the tools share the file's offset, and without this they overwrite each other's lines */
	fcntl(w->messages.fd, F_SETFL, O_APPEND);
	w->limit = limit > 0 ? evtimer_new(shop->base, time_is_up, w) : NULL;
	w->grace = evtimer_new(shop->base, end_writers, w);
	if (w->output.fd < 0 || w->messages.fd < 0 || (limit > 0 && !w->limit) || !w->grace) {
		report_failure(shop->report, "cannot make a file in memory");
		work_free(w);
		return NULL;
	}
	w->next = shop->works;
	shop->works = w;
	if (start_tools(w, argv)) {
		if (w->limit)
			evtimer_add(w->limit, &time);
		return w;
	}
	w->done = NULL;
	if (w->tools == 0) {
		shop->works = w->next;
		work_free(w);
	}			/* else workshop_reap() waits for those that were started */
	return NULL;
}

/* Free the memory of lines of T that were returned, except the last: endless work writes on. */
static void free_lines(struct work_text *t)
{
	enum { FREED = 1 << 16, KEPT = WORK_MESSAGES };

	if (t->read - t->freed < FREED)
		return;
	t->freed = (t->read - KEPT) / KEPT * KEPT;
	fallocate(t->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, t->freed);
}

static bool next_line(struct work_text *t, char *line, size_t size)
{
	ssize_t n = pread(t->fd, line, size - 1, t->read);
	char *end = n > 0 ? memchr(line, '\n', (size_t)n) : NULL;

	if (n <= 0 || (!end && (size_t)n < size - 1))
		return false;
	t->read += end ? end + 1 - line : n;
	*(end ? end : line + n) = '\0';
	free_lines(t);
	return true;
}

bool work_next_message(struct work *w, char *line, size_t size)
{
	return next_line(&w->messages, line, size);
}

bool work_next_output(struct work *w, char *line, size_t size)
{
	return next_line(&w->output, line, size);
}

/* Return whether tool I runs and has input to read. */
static bool has_input(const struct work *w, unsigned i)
{
	return i > 0 && i < w->tools && w->tool[i].pid && proc_unread_input(w->tool[i].pid) > 0;
}

/* Return whether process PID waits for a disk: then it cannot even be killed. */
static bool is_at_disk(pid_t pid)
{
	char state[2];

	return proc_status(pid, "State", state, sizeof(state)) && *state == 'D';
}

bool work_is_drained(const struct work *w)
{
	for (unsigned i = 0; i < w->tools; i++)
		if (has_input(w, i) || (w->tool[i].pid && is_at_disk(w->tool[i].pid)))
			return false;
	return true;
}

/*
 * A tool that does not work gets no CPU time although it has input, or is the first, which wakes up
 * several times a second.  If the next tool has input but does work, this tool waits for the next
 * one.
 */
const char *work_watch(struct work *w, unsigned rounds, bool *waits)
{
	const char *still = NULL;

	for (unsigned i = w->tools; i-- > 0; ) {
		pid_t pid = w->tool[i].pid;
		double cpu = pid ? cpu_of(pid) : 0;
		bool works = !pid || cpu > w->cpu[i] || (i > 0 && !has_input(w, i));
		w->cpu[i] = cpu;
		w->rounds[i] = works ? 0 : w->rounds[i] + 1;
		if (still || w->rounds[i] < rounds || has_input(w, i + 1))
			continue;
		still = w->tool[i].name;
		*waits = is_at_disk(pid);
	}
	return still;
}

char *work_output_text(const struct work_result *r, size_t most)
{
	size_t room = r->size < 0 || (size_t)r->size > most ? most : (size_t)r->size;
	char *text = mem_zeroed(room + 1, 1);

	if (pread(r->output, text, room, 0) < 0)
		text[0] = '\0';
	return text;
}

void work_finish(struct work *w)
{
	if (w->tool[0].pid)
		kill(w->tool[0].pid, SIGTERM);
}

void work_cancel(struct work *w)
{
	w->done = NULL;
	signal_tools(w, SIGKILL);
}
