/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection to a host, until pmu-prof runs there.
 *
 * The login shell there may be any, also csh or fish.  So it gets one short command without
 * newlines, '!', '\' or quotes in quotes: sh, which reads prepare.sh from the connection.  The
 * words of a command come later, in packets, so no shell ever sees them.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/sha.h"
#include "base/sibling.h"
#include "base/signals.h"
#include "base/text.h"
#include "host/agent.h"
#include "host/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* The longest line that prepare.sh writes. */
enum { LINE = 2048 };

const char *host_refused(const char *name)
{
	if (!*name)
		return "is empty";
	if (*name == '-')
		return "begins with '-', as an option of ssh does";
	if (!strncmp(name, AGENT_CONNECTION, strlen(AGENT_CONNECTION)))
		return "is what pmu-prof starts on the other machine";
	return text_needs_care(name) ? "has a control character" : NULL;
}

bool host_directory_is_good(const char *path)
{
	return *path && strlen(path) < LINE / 2 && !text_needs_care(path);
}

/* In the child: become ssh, with these descriptors, to run COMMAND on host NAME. */
__attribute__((noreturn))
static void be_ssh(const int fds[3], const char *name, const char *command)
{
	static const char *const words[] = {
		"ssh", "-T", "-a", "-x", "-o", "ClearAllForwardings=yes",
		"-o", "PermitLocalCommand=no", "-o", "RemoteCommand=none",
		"-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4", "--", NULL, NULL,
		NULL
	};
	enum { COUNT = sizeof(words) / sizeof(*words) };
	const char *argv[COUNT];

	memcpy(argv, words, sizeof(words));
	argv[COUNT - 3] = name;
	argv[COUNT - 2] = command;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signals_restore(0);
	signal(SIGINT, SIG_IGN);	/* what the terminal sends is for us */
	signal(SIGHUP, SIG_IGN);
	for (int i = 0; i < 3; i++)
		dup2(fds[i], i);
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

/* Make a pipe, above the standard descriptors.  False: reported. */
static bool make_pipe(int ends[2], struct report *report)
{
	if (pipe2(ends, O_CLOEXEC) < 0) {
		report_failure(report, "cannot make a pipe");
		return false;
	}
	for (int i = 0; i < 2; i++)
		while (ends[i] <= STDERR_FILENO)
			ends[i] = fcntl(ends[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return true;
}

bool host_run_ssh(struct host *h, const char *command)
{
	int in[2], out[2], messages[2];
	char path[PATH_MAX];

	if (!sibling_find_program("ssh", path)) {
		report_error(h->report, "cannot find 'ssh', which --host needs: install OpenSSH's "
			     "client");
		return false;
	}
	if (!make_pipe(in, h->report) || !make_pipe(out, h->report) ||
	    !make_pipe(messages, h->report))
		return false;
	h->ssh = fork();
	if (h->ssh == 0)
		be_ssh((const int[]){ in[0], out[1], messages[1] }, h->name, command);
	close(in[0]);
	close(out[1]);
	close(messages[1]);
	packets_begin(&h->packets, out[0], in[1]);
	h->messages = messages[0];
	fcntl(h->messages, F_SETFL, O_NONBLOCK);
	if (h->ssh > 0)
		return true;
	report_failure(h->report, "cannot fork");
	h->ssh = 0;
	return false;
}

/* Print what ssh has said. */
static void take_messages(struct host *h)
{
	char text[4096];
	ssize_t n;

	while (h->messages >= 0 && (n = read(h->messages, text, sizeof(text))) != 0) {
		if (n < 0) {
			if (errno != EINTR)
				return;
		} else if (!h->report->quiet) {
			foreign_print(&h->said, text, (size_t)n);
		}
	}
	descriptor_close(h->messages);
	h->messages = -1;
}

int host_end_ssh(struct host *h)
{
	enum { ASKS = 3, WAITS = 100 };		/* waits of 20 ms after each */
	int status = 0;

	descriptor_close(h->packets.out);	/* its input ends */
	h->packets.out = -1;
	for (int i = 0; h->ssh; i++) {
		pid_t ended = waitpid(h->ssh, &status, WNOHANG);
		if (ended == h->ssh || (ended < 0 && errno != EINTR)) {
			h->ssh = 0;
			break;
		}
		if (i > 0 && i % WAITS == 0)
			kill(h->ssh, i < ASKS * WAITS ? SIGTERM : SIGKILL);
		take_messages(h);
		usleep(20000);
	}
	take_messages(h);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void host_lost(struct host *h)
{
	if (h->is_broken)
		return;
	h->is_broken = true;
	int status = host_end_ssh(h);
	report_error(h->report, "the connection to '%s' was lost: ssh ended with status %d",
		     h->name, status);
}

void host_wait(struct host *h, struct pollfd *extra, size_t count, int milliseconds)
{
	enum { OURS = 4, MOST = 8 };
	struct pollfd fds[MOST] = {
		{ .fd = h->output.size ? -1 : h->packets.in, .events = POLLIN },
		{ .fd = packets_waiting(&h->packets) ? h->packets.out : -1, .events = POLLOUT },
		{ .fd = h->messages, .events = POLLIN },
		{ .fd = h->signals, .events = POLLIN },
	};

	for (size_t i = 0; i < count; i++)
		fds[OURS + i] = extra[i];
	int n = poll(fds, OURS + count, milliseconds);
	for (size_t i = 0; i < count; i++)
		extra[i].revents = n > 0 ? fds[OURS + i].revents : 0;
	if (n <= 0)
		return;
	if (fds[0].revents)
		packets_read(&h->packets);
	if (fds[1].revents)
		packets_write(&h->packets);
	if (fds[2].revents)
		take_messages(h);
}

/* Take the signals that have arrived: each asks us to end. */
static void take_signals(struct host *h)
{
	struct signalfd_siginfo info;

	while (read(h->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			h->stop = (int)info.ssi_signo;
}

/* Report that nothing works at the other side.  ssh's own failures have status 255. */
static void report_no_start(struct host *h)
{
	if (h->stop && h->ssh)
		kill(h->ssh, SIGTERM);
	int status = host_end_ssh(h);
	h->is_broken = true;
	text_make_safe(h->last);
	if (h->stop)
		report_error(h->report, "stopped before pmu-prof ran on '%s'", h->name);
	else if (status == 255)
		report_error(h->report, "cannot work on '%s': ssh failed", h->name);
	else if (*h->last)
		report_error(h->report, "cannot work on '%s': exit status %d, and it said: %s",
			     h->name, status, h->last);
	else
		report_error(h->report, "cannot work on '%s': exit status %d", h->name, status);
}

/* Wait for the next line of prepare.sh.  False: reported. */
static bool get_line(struct host *h, char line[LINE])
{
	while (!packets_line(&h->packets, line, LINE)) {
		take_signals(h);
		if (h->stop || h->packets.has_ended) {
			report_no_start(h);
			return false;
		}
		host_wait(h, NULL, 0, -1);
	}
	return true;
}

/* Wait until prepare.sh runs, and write what uname -m says there to MACHINE.  False: reported. */
static bool get_machine(struct host *h, char machine[LINE])
{
	static const char begin[] = "pmukit-host 1 ";
	enum { JUNK_MOST = 1000 };	/* lines that the files of a shell may print */
	const size_t length = strlen(begin);

	for (int i = 0; i < JUNK_MOST; i++) {
		if (!get_line(h, machine))
			return false;
		if (!strncmp(machine, begin, length)) {
			memmove(machine, machine + length, strlen(machine + length) + 1);
			text_make_safe(machine);
			return true;
		}
		snprintf(h->last, sizeof(h->last), "%.200s", machine);
	}
	report_no_start(h);
	return false;
}

/* Answer prepare.sh with the file P until it becomes that program.  False: reported. */
static bool provide(struct host *h, const struct host_program *p, const char *directory)
{
	char line[LINE], sum[SHA_TEXT];
	const char *here = directory && *directory != '/' ? "./" : "";

	sha_write(sum, p->bytes, p->size);
	int n = snprintf(line, sizeof(line), "%s %zu\n%s%s\n", sum, p->size, here,
			 directory ? directory : "");
	packets_add(&h->packets, line, (size_t)n);
	for (;;) {
		if (!get_line(h, line))
			return false;
		text_make_safe(line);
		if (!strcmp(line, "run"))
			return true;
		if (!strcmp(line, "send")) {
			report_summary(h->report, "copying %zu bytes to '%s'", p->size, h->name);
			packets_add(&h->packets, p->bytes, p->size);
		} else if (!strncmp(line, "note ", 5)) {
			report_note(h->report, "on '%s': %s", h->name, line + 5);
		} else {
			report_error(h->report, "no directory on '%s' is of use: %s", h->name,
				     strncmp(line, "fail ", 5) ? line : line + 5);
			return false;
		}
	}
}

/* Wait for the agent.  False: reported. */
static bool get_agent(struct host *h)
{
	enum packets_found found;
	struct packet packet;

	while ((found = packets_next(&h->packets, &packet)) == PACKETS_NONE) {
		take_signals(h);
		if (h->stop || h->packets.has_ended) {
			report_no_start(h);
			return false;
		}
		host_wait(h, NULL, 0, -1);
	}
	if (found == PACKETS_ONE && packet.type == PACKET_VERSION &&
	    packet.size == strlen(PACKET_PROTOCOL) &&
	    !memcmp(packet.bytes, PACKET_PROTOCOL, packet.size))
		return true;
	report_error(h->report, "the pmukit on '%s' is of another version than this pmu-prof",
		     h->name);
	return false;
}

static bool start_agent(struct host *h, const struct host_choice *c)
{
	struct host_program program = { .bytes = NULL };
	char machine[LINE], command[64];

	snprintf(command, sizeof(command), "exec sh -c 's=$(head -c %zu) && eval \"$s\"'",
		 host_prepare_size);
	if (!host_run_ssh(h, command))
		return false;
	packets_add(&h->packets, host_prepare_script, host_prepare_size);
	bool good = get_machine(h, machine) &&
		    host_program_read(&program, c, machine, h->report) &&
		    provide(h, &program, c->directory) && get_agent(h);
	free(program.bytes);
	return good;
}

struct host *host_connect(const struct host_choice *c, struct report *report)
{
	struct host *h = mem_zeroed(1, sizeof(*h));

	*h = (struct host){ .report = report, .name = c->host, .messages = -1,
			    .packets = { .in = -1, .out = -1 } };
	/* a command there finds an empty input, or gets an error when it writes */
	descriptor_fill(STDIN_FILENO, O_RDONLY);
	descriptor_fill(STDOUT_FILENO, O_RDONLY);
	h->signals = sibling_signals(&h->before, report);
	if (h->signals >= 0 && start_agent(h, c))
		return h;
	host_close(h);
	return NULL;
}
