/* SPDX-License-Identifier: Apache-2.0 */
#include "compose/pipeline.h"
#include "base/arena.h"
#include "base/sibling.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAMPLE, SYMBOLIZE, TOPPROF, SHOW, TOOLS };

struct pipeline {
	const struct plan *plan;
	struct report *report;
	struct sibling tool[TOOLS];	/* pid 0: not started, or ended */
	int status[TOOLS];		/* as waitpid() returns it */
	int signals;			/* signalfd */
	int stream;			/* pipe from pmu-sample until the filters start; else -1 */
	unsigned stops;			/* number of signals that asked us to stop */
	sigset_t before;
};

struct pipeline *pipeline_new(const struct plan *plan, struct report *report)
{
	struct pipeline *p = mem_zeroed(1, sizeof(*p));

	*p = (struct pipeline){ .plan = plan, .report = report, .stream = -1 };
	p->signals = sibling_signals(&p->before, report);
	if (p->signals >= 0)
		return p;
	free(p);
	return NULL;
}

/* Stop pmu-sample by signal NUMBER; the second time, all tools. */
static void stop(struct pipeline *p, int number)
{
	int last = p->stops++ ? TOOLS : SAMPLE + 1;

	for (int i = 0; i < last; i++)
		if (p->tool[i].pid)
			kill(p->tool[i].pid, i == SAMPLE ? number : SIGTERM);
}

static void reap(struct pipeline *p)
{
	for (int i = 0; i < TOOLS; i++)
		if (p->tool[i].pid && waitpid(p->tool[i].pid, &p->status[i], WNOHANG) != 0)
			p->tool[i].pid = 0;
}

static void handle_signals(struct pipeline *p)
{
	struct signalfd_siginfo info;

	while (read(p->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			stop(p, (int)info.ssi_signo);
	reap(p);
}

static bool is_running(const struct pipeline *p)
{
	for (int i = 0; i < TOOLS; i++)
		if (p->tool[i].pid)
			return true;
	return false;
}

/* The stream has its first bytes: start the filters that read it. */
static void start_filters(struct pipeline *p)
{
	const struct sibling_how first = { .in = p->stream, .out = -1, .deaf = true };

	p->stream = -1;		/* closed in any case */
	int pipe = sibling_run(&p->tool[SYMBOLIZE], plan_argv(&p->plan->symbolize), &first,
			       p->report);
	const struct sibling_how last = { .in = pipe, .out = STDERR_FILENO, .deaf = true };
	if (pipe >= 0)
		sibling_run(&p->tool[TOPPROF], plan_argv(&p->plan->topprof), &last, p->report);
}

/* Wait until all tools have ended. */
static void wait_for_end(struct pipeline *p)
{
	while (is_running(p) || p->stream >= 0) {
		struct pollfd fds[] = {
			{ .fd = p->signals, .events = POLLIN },
			{ .fd = p->stream, .events = POLLIN },
		};
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[0].revents)
			handle_signals(p);
		if (fds[1].revents & POLLIN) {
			start_filters(p);
		} else if (fds[1].revents) {	/* pmu-sample has ended without a byte */
			close(p->stream);
			p->stream = -1;
		}
	}
}

static int shell_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int pipeline_record(struct pipeline *p)
{
	const struct sibling_how how = { .in = -1, .out = -1 };

	p->stream = sibling_run(&p->tool[SAMPLE], plan_argv(&p->plan->sample), &how, p->report);
	if (p->stream < 0)
		return 1;
	wait_for_end(p);
	if (WIFSIGNALED(p->status[SAMPLE]) && !p->stops)
		sibling_report(&p->tool[SAMPLE], p->status[SAMPLE], p->report);
	sibling_report(&p->tool[SYMBOLIZE], p->status[SYMBOLIZE], p->report);
	if (p->status[TOPPROF])
		report_error(p->report, "'%s' failed, so there is no profile",
			     p->tool[TOPPROF].name);
	return shell_status(p->status[SAMPLE]);
}

bool pipeline_show(struct pipeline *p, const struct command_list *words)
{
	const struct sibling_how how = { .in = -1, .out = STDERR_FILENO, .deaf = true };

	p->status[SHOW] = 0;
	if (sibling_run(&p->tool[SHOW], plan_argv(words), &how, p->report) < 0)
		return false;
	wait_for_end(p);
	if (p->status[SHOW])
		report_error(p->report, "'%s' failed: %s %d", p->tool[SHOW].name,
			     WIFSIGNALED(p->status[SHOW]) ? "signal" : "exit status",
			     shell_status(p->status[SHOW]) & 127);
	return p->status[SHOW] == 0;
}

bool pipeline_has_profile(const struct pipeline *p)
{
	return p->tool[TOPPROF].name && p->status[TOPPROF] == 0;
}

bool pipeline_was_stopped(const struct pipeline *p)
{
	return p->stops > 0;
}

void pipeline_free(struct pipeline *p)
{
	if (!p)
		return;
	close(p->signals);
	sigprocmask(SIG_SETMASK, &p->before, NULL);
	free(p);
}
