/* SPDX-License-Identifier: Apache-2.0 */
#include "compose/pipeline.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/sibling.h"
#include "base/signals.h"
#include "linux/bystander.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAMPLE, SYMBOLIZE, TOPPROF, SHOW, TOOLS };

/* After this time, in ns, SIGTERM or SIGKILL must have ended the command. */
#define ENDED 6000000000ULL

struct pipeline {
	const struct plan *plan;
	struct report *report;
	struct sibling tool[TOOLS];	/* pid 0: not started, or ended */
	int status[TOOLS];		/* as waitpid() returns it */
	int signals;			/* signalfd */
	int stream;			/* pipe from pmu-sample until the filters start; else -1 */
	unsigned stops;			/* number of signals that asked us to stop */
	/* With a command; times are monotonic, in ns, and 0 means none. */
	uint64_t asked;			/* when a signal first asked to end the command */
	uint64_t interrupted;		/* time of the last SIGINT */
	uint64_t deaf_until;		/* ignore SIGINT until then */
	struct bystander bystander;	/* while a command runs */
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

static void send(struct pipeline *p, int tool, int number)
{
	if (p->tool[tool].pid)
		kill(p->tool[tool].pid, number);
}

/* Have the tools after pmu-sample write what they have read. */
static void stop_filters(struct pipeline *p)
{
	for (int i = SAMPLE + 1; i < TOOLS; i++)
		send(p, i, SIGTERM);
}

/*
 * With a command, pmu-sample decides what a signal means; see sample/ending.h.  If the signal was
 * sent to the whole process group, pmu-sample has it already.  A signal that would end the command
 * stops the filters if the command has ended, or should have ended.
 */
static void stop_command(struct pipeline *p, const struct signalfd_siginfo *info)
{
	int number = (int)info->ssi_signo;
	bool was_seen = bystander_saw(&p->bystander, number);	/* always ask: the bystander then
								   forgets the signal */
	bool is_for_all = info->ssi_code == SI_KERNEL || was_seen;
	uint64_t now = monotonic_ns();

	if (!is_for_all)
		send(p, SAMPLE, number);
	if (number == SIGINT) {
		bool twice = p->interrupted && now - p->interrupted < SIGNALS_TWICE;
		if (now < p->deaf_until || (is_for_all && signals_ignored_interrupts()))
			return;
		p->interrupted = twice ? 0 : now;
		if (!twice)
			return;
	}
	if (!p->asked)
		p->asked = now;
	if (!p->tool[SAMPLE].pid || now - p->asked > ENDED)
		stop_filters(p);
}

/* Stop pmu-sample by the signal of INFO; the second time, all tools. */
static void stop(struct pipeline *p, const struct signalfd_siginfo *info)
{
	bool is_first = p->stops++ == 0;

	if (p->plan->has_command) {
		stop_command(p, info);
		return;
	}
	send(p, SAMPLE, (int)info->ssi_signo);
	if (!is_first)
		stop_filters(p);
}

static void reap(struct pipeline *p)
{
	for (int i = 0; i < TOOLS; i++)
		if (p->tool[i].pid && waitpid(p->tool[i].pid, &p->status[i], WNOHANG) != 0) {
			p->tool[i].pid = 0;
			if (i == SAMPLE) {
				p->interrupted = 0;	/* the signal was for the command */
				if (p->stops)		/* and so are some late ones */
					p->deaf_until = monotonic_ns() + SIGNALS_TWICE;
				bystander_pass(&p->bystander);
			}
		}
}

static void handle_signals(struct pipeline *p)
{
	struct signalfd_siginfo info;

	while (read(p->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			stop(p, &info);
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

	p->stream = -1;		/* it is closed in any case */
	int pipe = sibling_run(&p->tool[SYMBOLIZE], plan_argv(&p->plan->symbolize), &first,
			       p->report);
	const int profile = p->plan->profile_fd;
	const struct sibling_how last = {
		.in = pipe, .out = profile >= 0 ? profile : STDERR_FILENO, .deaf = true
	};
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

/*
 * Start pmu-sample.  From then on the terminal is the command's, if there is one: what we and the
 * filters say waits for its end.  Only the command has our standard output, so that its
 * reader gets the end of file when the command ends.  False: reported.
 */
static bool start_sampling(struct pipeline *p)
{
	const int command_fd = p->plan->command_fd;

	if (p->plan->has_command) {
		if (!bystander_start(&p->bystander, p->report))
			return false;
		bystander_keep(&p->bystander);
	}
	const struct sibling_how how = {
		.in = -1, .out = -1, .err = p->bystander.terminal,
		.passed = command_fd > 0 ? command_fd : 0,
	};
	p->stream = sibling_run(&p->tool[SAMPLE], plan_argv(&p->plan->sample), &how, p->report);
	if (command_fd > 0) {
		close(command_fd);
		dup2(how.err ? how.err : STDERR_FILENO, STDOUT_FILENO);
	}
	return p->stream >= 0;
}

int pipeline_record(struct pipeline *p)
{
	bool is_started = start_sampling(p);

	if (is_started)
		wait_for_end(p);
	bystander_end(&p->bystander);
	if (!is_started)
		return 1;
	if (WIFSIGNALED(p->status[SAMPLE]) && !p->stops)
		sibling_report(&p->tool[SAMPLE], p->status[SAMPLE], p->report);
	sibling_report(&p->tool[SYMBOLIZE], p->status[SYMBOLIZE], p->report);
	if (p->status[TOPPROF])
		report_error(p->report, "'%s' failed, so there is no profile",
			     p->tool[TOPPROF].name);
	return shell_status(p->status[SAMPLE]);
}

bool pipeline_show(struct pipeline *p, const struct word_list *words)
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
