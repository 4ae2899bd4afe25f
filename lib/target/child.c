/* SPDX-License-Identifier: Apache-2.0 */
#include "target/child.h"
#include "base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILL_DELAY = 5000 };	/* milliseconds from SIGTERM to SIGKILL */

/* In the child: wait, exec; send errno to the parent if exec fails. */
__attribute__((noreturn))
static void be_child(int go, int failed, char *const *command, int out)
{
	char word;

	if (out >= 0)
		dup2(out, STDOUT_FILENO);
	signals_restore(0);
	if (read(go, &word, 1) == 1)
		execvp(command[0], command);
	else
		errno = ECANCELED;
	int error = errno;
	if (write(failed, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

bool child_start(struct child *child, char *const *command, int out, struct report *report)
{
	int go[2], failed[2];

	signal(SIGCHLD, SIG_DFL);	/* if it is ignored, waitpid() returns no status */
	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(failed, O_CLOEXEC) < 0) {
		report_failure(report, "cannot make a pipe");
		return false;
	}
	child->pid = fork();
	if (child->pid == 0) {
		close(go[1]);
		be_child(go[0], failed[1], command, out);
	}
	close(go[0]);
	close(failed[1]);
	child->go = go[1];
	child->failed = failed[0];
	if (child->pid < 0) {
		child->pid = 0;
		report_failure(report, "cannot fork");
		return false;
	}
	return true;
}

void child_report_refusal(const char *name, struct report *report)
{
	int error = errno;
	struct stat st;
	bool is_directory = error == EACCES && strchr(name, '/') && stat(name, &st) == 0 &&
			    S_ISDIR(st.st_mode);

	errno = error;
	if (is_directory)
		report_error(report, "cannot run '%s': it is a directory", name);
	else
		report_failure(report, "cannot run '%s'", name);
}

bool child_go(struct child *child, const char *name, struct report *report)
{
	int error;
	ssize_t n;

	ssize_t sent = write(child->go, "", 1);
	if (sent < 0 && errno == EPIPE)
		return true;	/* a signal has ended it: its status says which */
	if (sent != 1) {
		report_failure(report, "cannot start '%s'", name);
		return false;
	}
	do	/* a successful exec closes the pipe */
		n = read(child->failed, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	if (n == sizeof(error)) {
		errno = error;
		child_report_refusal(name, report);
		return false;
	}
	return true;
}

bool child_ends_within(pid_t pid, int milliseconds, int *status, struct rusage *used)
{
	enum { STEP = 5 };	/* milliseconds */

	for (int waited = 0; ; waited += STEP) {
		pid_t ended = wait4(pid, status, WNOHANG, used);
		if (ended == pid || (ended < 0 && errno != EINTR))
			return true;
		if (waited >= milliseconds)
			return false;
		usleep(STEP * 1000);
	}
}

void child_report_status(int status, const char *name, struct report *report)
{
	if (WIFSIGNALED(status))
		report_note(report, "'%s' was ended by signal %d (%s)", name, WTERMSIG(status),
			    strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		report_note(report, "'%s' failed: exit status %d", name, WEXITSTATUS(status));
}

bool child_report_unseen(const char *name, uint64_t used, uint64_t seen, const char *doing,
			 struct report *report)
{
	const uint64_t least = 50000000;	/* ns: several ticks of the times in /proc */

	/* time that is seen is longer, if anything: interrupts are a part of it */
	if (used < seen || used - seen < least || used - seen < used / 4)
		return false;
	report_note(report, "%s of '%s' stopped early, after %.3f s of its %.3f s of CPU time: the "
		    "kernel stops it when a program starts with other rights (set-user-ID, "
		    "set-group-ID, capabilities), or one that may not be read; %s", doing, name,
		    (double)seen / 1e9, (double)used / 1e9,
		    geteuid() ? "run this as root" : "-a has all processes");
	return true;
}

bool child_collect(struct child *child, int *status, struct rusage *used)
{
	*status = 0;
	if (!child->pid)
		return true;
	close(child->go);	/* a child that still waits for child_go() exits */
	close(child->failed);
	bool ended = child_ends_within(child->pid, 0, status, used);
	if (!ended) {
		kill(child->pid, SIGTERM);
		kill(child->pid, SIGCONT);	/* a stopped process handles no other signal */
		if (!child_ends_within(child->pid, KILL_DELAY, status, used)) {
			kill(child->pid, SIGKILL);
			wait4(child->pid, status, 0, used);
		}
	}
	child->pid = 0;
	return ended;
}

int child_stop(struct child *child, const char *name, struct report *report)
{
	int status;

	if (child_collect(child, &status, NULL) && name)
		child_report_status(status, name, report);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
