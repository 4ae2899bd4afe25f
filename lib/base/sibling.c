/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sibling.h"
#include "base/descriptor.h"
#include "base/signals.h"
#include "base/write.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Return whether the file at PATH is a program that may be run; else set errno. */
static bool is_program(const char *path)
{
	struct stat st;

	if (access(path, X_OK) < 0 || stat(path, &st) < 0)
		return false;
	errno = EACCES;		/* as exec says of a directory */
	return !S_ISDIR(st.st_mode);
}

/* Write DIRECTORY/NAME to PATH.  Return whether it is a program that may be run. */
static bool is_in(const char *directory, size_t length, const char *name, char path[PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%.*s/%s", (int)length, directory, name);

	return length > 0 && n < PATH_MAX && is_program(path);
}

/* Look in each of DIRECTORIES, a list separated by colons.  Empty names are skipped. */
static bool is_in_one(const char *directories, const char *name, char path[PATH_MAX])
{
	for (const char *at = directories; at; at = strchr(at, ':')) {
		at += *at == ':' && at != directories;
		size_t length = strcspn(at, ":");
		if (length < PATH_MAX && is_in(at, length, name, path))
			return true;
		if (at[length] == '\0')
			break;
		at += length;
	}
	return false;
}

/* The kernel passes the path by which this program was started. */
bool sibling_directory(char path[PATH_MAX])
{
	const char *started = (const char *)(uintptr_t)getauxval(AT_EXECFN);
	char *slash = started && realpath(started, path) ? strrchr(path, '/') : NULL;

	if (slash)
		slash[slash == path] = '\0';	/* "/" in the root directory of a container */
	return slash;
}

static bool is_beside_us(const char *name, char path[PATH_MAX])
{
	char own[PATH_MAX];

	return sibling_directory(own) && is_in(own, strlen(own), name, path);
}

__attribute__((weak))
bool sibling_find_within(const char *name, char path[PATH_MAX])
{
	(void)name;
	(void)path;
	return false;
}

/* A file of a tool comes before this program, for users may have put it there. */
static bool is_file(const char *name, char path[PATH_MAX])
{
	return is_in_one(secure_getenv("PMU_PATH"), name, path) || is_beside_us(name, path);
}

bool sibling_find(const char *name, char path[PATH_MAX])
{
	return is_file(name, path) || sibling_find_within(name, path) ||
	       is_in_one(secure_getenv("PATH"), name, path);
}

size_t sibling_words(const char *name, char path[PATH_MAX], const char *word[2])
{
	char found[PATH_MAX];
	bool has_file = is_file(name, path);

	word[0] = word[1] = name;
	if (!has_file && sibling_find_within(name, found) && realpath(found, path)) {
		word[0] = path;
		return 2;
	}
	if ((has_file || sibling_find(name, path)) &&
	    (!sibling_find_program(name, found) || strcmp(path, found)))
		word[0] = path;
	return 1;
}

bool sibling_find_program(const char *name, char path[PATH_MAX])
{
	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && is_program(path);
	return is_in_one(secure_getenv("PATH"), name, path);
}

/* In the child: become the program at PATH, from HOW->in to OUT. */
__attribute__((noreturn))
static void be_program(const char *path, char *const *argv, const struct sibling_how *how, int out,
		       struct report *report)
{
	signals_restore(how->deaf ? SIGINT : 0);
	if (how->bound)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (how->passed)
		fcntl(how->passed, F_SETFD, 0);	/* not closed by exec */
	if ((how->in < 0 || dup2(how->in, STDIN_FILENO) >= 0) && dup2(out, STDOUT_FILENO) >= 0 &&
	    (how->err == 0 || dup2(how->err, STDERR_FILENO) >= 0))
		execv(path, argv);
	report_failure(report, "cannot run '%s'", path);
	_exit(127);
}

/*
 * Fork, with a pipe from the child to us.  Return 0 in the child, and set *END to its end of
 * the pipe; or the child's pid, and our end; or -1 (reported).
 */
static pid_t fork_with_pipe(int *end, struct report *report)
{
	int ends[2];

	signal(SIGCHLD, SIG_DFL);	/* if it is ignored, waitpid() returns no status */
	if (pipe2(ends, O_CLOEXEC) < 0) {
		report_failure(report, "cannot make a pipe");
		return -1;
	}
	descriptor_enlarge_pipe(ends[0]);
	pid_t pid = fork();
	if (pid < 0)
		report_failure(report, "cannot fork");
	*end = ends[pid == 0];
	close(ends[pid != 0]);
	if (pid < 0)
		close(*end);
	return pid;
}

int sibling_run(struct sibling *s, char *const *argv, const struct sibling_how *how,
		struct report *report)
{
	char path[PATH_MAX];
	int end = -1;

	*s = (struct sibling){ .name = argv[0], .pid = -1 };
	if (sibling_find(argv[0], path))
		s->pid = fork_with_pipe(&end, report);
	else
		report_error(report, "cannot find '%s', which is needed here: put it beside this "
			     "program, or into PATH", argv[0]);
	if (s->pid == 0)
		be_program(path, argv, how, how->out < 0 ? end : how->out, report);
	descriptor_close(how->in);
	if (s->pid < 0) {
		s->pid = 0;
		return -1;
	}
	if (how->out < 0)
		return end;
	close(end);
	return 0;
}

int sibling_start(struct sibling *s, char *const *argv, int in, struct report *report)
{
	const struct sibling_how how = { .in = in, .out = -1 };

	return sibling_run(s, argv, &how, report);
}

/* Copy all of IN to OUT by read() and write(). */
static int copy(int in, int out)
{
	static char buffer[1 << 16];
	int error = 0;
	ssize_t n;

	do {
		n = read(in, buffer, sizeof(buffer));
		if (n < 0)
			error = errno == EINTR ? 0 : errno;
		else
			error = write_whole(out, buffer, (size_t)n);
	} while (n != 0 && error == 0);
	return error;
}

/* In the child: write HEAD to OUT, and then all that comes from IN. */
__attribute__((noreturn))
static void be_feeder(int in, int out, const void *head, size_t size)
{
	enum { AT_ONCE = 1 << 20 };
	ssize_t n = 1;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_IGN);	/* the writer of its input gets the signal, too; the rest
					   must still be read */
	close(STDOUT_FILENO);
	int error = write_whole(out, head, size);
	while (error == 0 && n != 0) {
		n = splice(in, NULL, out, NULL, AT_ONCE, SPLICE_F_MOVE);
		if (n < 0 && errno != EINTR)
			error = errno;
	}
	if (error == EINVAL)	/* a file of this kind cannot be spliced */
		error = copy(in, out);
	_exit(error && error != EPIPE);
}

int sibling_feed(struct sibling *s, int in, const void *head, size_t size, struct report *report)
{
	int end;

	*s = (struct sibling){ .pid = fork_with_pipe(&end, report) };
	if (s->pid == 0)
		be_feeder(in, end, head, size);
	if (s->pid > 0)
		return end;
	s->pid = 0;
	return -1;
}

pid_t sibling_spawn_apart(char *const *argv)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	pid_t pid;

	posix_spawn_file_actions_init(&files);
	for (int fd = 0; fd <= STDERR_FILENO; fd++)	/* one of them may be our stream, which it
							   must not get */
		posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);		/* we ignore these signals; the program must not */
	sigaddset(&defaults, SIGXFSZ);
	sigaddset(&defaults, SIGINT);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setsigmask(&attributes, signals_blocked());
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
				 POSIX_SPAWN_SETSID);
	if (posix_spawnp(&pid, argv[0], &files, &attributes, argv, environ) != 0)
		pid = 0;
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return pid;
}

void sibling_end(struct sibling *s, bool enough, struct report *report)
{
	int status = 0;
	pid_t ended;

	if (!s->pid)
		return;
	if (enough)
		kill(s->pid, SIGTERM);	/* it may wait for input that nobody needs */
	do
		ended = waitpid(s->pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	s->pid = 0;
	if (ended >= 0 && !enough)
		sibling_report(s, status, report);
}

int sibling_signals(sigset_t *before, struct report *report)
{
	sigset_t ours;

	sigemptyset(&ours);
	sigaddset(&ours, SIGCHLD);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGHUP);
	signal(SIGCHLD, SIG_DFL);	/* if it is ignored, waitpid() returns no status */
	sigprocmask(SIG_BLOCK, &ours, before);
	int fd = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		report_failure(report, "cannot wait for signals");
	return fd;
}

void sibling_report(const struct sibling *s, int status, struct report *report)
{
	if (WIFSIGNALED(status))
		report_error(report, "'%s' was ended by signal %d (%s): the rest is missing",
			     s->name ? s->name : "stdin", WTERMSIG(status),
			     strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) && s->name)
		report_error(report, "'%s' failed: exit status %d; what it could not read is "
			     "missing", s->name, WEXITSTATUS(status));
	else if (WEXITSTATUS(status))
		report_error(report, "not all of stdin could be read");
}
