/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HotSpot listens at the socket /tmp/.java_pidPID once it was asked to: it finds the file
 * /tmp/.attach_pidPID when it gets SIGQUIT.  Without that file, SIGQUIT makes it print the stacks
 * of all threads; and it kills a process that does not catch it.  So the signal comes last, once.
 *
 * A request is "1", the command and three arguments, each with a NUL.  The answer is a line with a
 * number, 0 if all is well, and a text.
 */
#include "target/jvm-attach.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "linux/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { LOOK_MS = 20 };		/* between looks for the socket */

/* The last argument's NUL is the one that ends the literal. */
static const char request[] = "1\0jcmd\0Compiler.perfmap\0\0";

static void fail(struct jvm_answer *a, enum jvm_outcome outcome)
{
	a->error = errno;
	a->outcome = outcome;
}

/*
 * HotSpot answers its own user.  Root becomes that user: so it needs no rights in the process's
 * user namespace, and creates no file of root in a directory that others can write to.
 */
static bool become(const struct jvm_request *q)
{
	if (geteuid() != 0 || (q->user == 0 && q->group == getegid()))
		return true;
	return setgroups(0, NULL) == 0 && setresgid(q->group, q->group, q->group) == 0 &&
	       setresuid(q->user, q->user, q->user) == 0;
}

/* Wait for FD to have EVENTS, for at most MS.  Return whether it has. */
static bool wait_for(int fd, short events, int ms)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, ms) > 0;
}

/* Return how many ms are left. */
static int left(const struct jvm_request *q)
{
	uint64_t now = monotonic_ns();

	return now < q->deadline ? (int)((q->deadline - now) / 1000000) : 0;
}

static bool is_its_peer(const struct jvm_request *q, int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       peer.pid == q->pid && peer.uid == q->user;
}

/*
 * Return a connection to the process, or -1: it does not listen, unless A has an outcome.  A socket
 * without a listener belongs to an earlier process with that id; HotSpot replaces it.
 */
static int connect_now(const struct jvm_request *q, struct jvm_answer *a)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct stat st;

	snprintf(at.sun_path, sizeof(at.sun_path), ".java_pid%d", (int)q->own_id);
	if (lstat(at.sun_path, &st) < 0)
		return -1;
	if (!S_ISSOCK(st.st_mode) || st.st_uid != q->user) {
		fail(a, JVM_FOREIGN_SOCKET);
		return -1;
	}
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int result = -1;
	while (fd >= 0 && (result = connect(fd, (struct sockaddr *)&at, sizeof(at))) < 0 &&
	       errno == EAGAIN && left(q))	/* others wait for it to accept */
		wait_for(q->pidfd, POLLIN, LOOK_MS);
	if (result == 0 && is_its_peer(q, fd))
		return fd;
	if (result == 0)
		fail(a, JVM_FOREIGN_SOCKET);
	else if (errno == EAGAIN)
		fail(a, JVM_SILENT);
	descriptor_close(fd);
	return -1;
}

/* Return whether the process catches SIGQUIT now, and runs. */
static bool may_signal(const struct jvm_request *q, struct jvm_answer *a)
{
	char value[64];

	if (q->forbidden)
		fail(a, JVM_FORBIDDEN);
	else if (!proc_status(q->pid, "State", value, sizeof(value)))
		fail(a, JVM_ENDED);
	else if (*value == 'T' || *value == 't')
		fail(a, JVM_STOPPED);
	else if (!proc_status(q->pid, "SigCgt", value, sizeof(value)) ||
		 !(strtoull(value, NULL, 16) >> (SIGQUIT - 1) & 1))
		fail(a, JVM_NOT_CAUGHT);
	return !a->outcome;
}

/*
 * Create FILE.  A file of its user or of root that exists already will do: then *IS_OURS is false.
 */
static bool create(const struct jvm_request *q, const char *file, bool *is_ours)
{
	struct stat st;
	int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	*is_ours = fd >= 0;
	descriptor_close(fd);
	return fd >= 0 || (errno == EEXIST && lstat(file, &st) == 0 && S_ISREG(st.st_mode) &&
			   (st.st_uid == 0 || st.st_uid == q->user));
}

/* Send the signal, and return a connection, or -1 with the reason in A. */
static int signal_and_connect(const struct jvm_request *q, struct jvm_answer *a)
{
	bool ended = false;
	int fd = -1;

	if (syscall(SYS_pidfd_send_signal, q->pidfd, SIGQUIT, NULL, 0) < 0) {
		fail(a, JVM_NO_SIGNAL);
		return -1;
	}
	while (fd < 0 && !a->outcome && !ended && left(q)) {
		ended = wait_for(q->pidfd, POLLIN, LOOK_MS);
		fd = connect_now(q, a);
	}
	if (fd < 0 && !a->outcome)
		fail(a, ended ? JVM_ENDED : JVM_SILENT);
	return fd;
}

/*
 * Make the process listen, and connect.  If it does not answer, the file stays: a process that
 * handles the signal late would print all its stacks without it.
 */
static int start_listener(const struct jvm_request *q, struct jvm_answer *a)
{
	char file[32];
	bool is_ours;

	snprintf(file, sizeof(file), ".attach_pid%d", (int)q->own_id);
	if (!may_signal(q, a))
		return -1;
	if (!create(q, file, &is_ours)) {
		fail(a, JVM_NO_FILE);
		return -1;
	}
	int fd = may_signal(q, a) ? signal_and_connect(q, a) : -1;
	if (is_ours && a->outcome != JVM_SILENT)
		unlink(file);
	return fd;
}

/* Copy the first line of TEXT to A, with '?' in place of what is not printable. */
static void copy_line(struct jvm_answer *a, const char *text)
{
	size_t i = 0;

	for (; i + 1 < sizeof(a->text) && text[i] && text[i] != '\n'; i++)
		a->text[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	a->text[i] = '\0';
}

/* Send the request over FD, and take the answer, whose rest after TEXT is discarded. */
static void ask(const struct jvm_request *q, int fd, struct jvm_answer *a)
{
	char text[512], rest[512];
	size_t size = 0;
	ssize_t n = send(fd, request, sizeof(request), MSG_NOSIGNAL);

	while (n > 0 && wait_for(fd, POLLIN, left(q))) {
		bool has_room = size + 1 < sizeof(text);
		n = has_room ? recv(fd, text + size, sizeof(text) - 1 - size, 0)
			     : recv(fd, rest, sizeof(rest), 0);
		size += n > 0 && has_room ? (size_t)n : 0;
	}
	text[size] = '\0';
	if (n > 0)
		fail(a, JVM_SILENT);
	else if (size == 0)
		fail(a, JVM_CLOSED);
	else
		fail(a, !strncmp(text, "0\n", 2) ? JVM_ANSWERED : JVM_REFUSED);
	const char *newline = strchr(text, '\n');
	copy_line(a, newline ? newline + 1 : text);
}

void jvm_attach(const struct jvm_request *q, struct jvm_answer *a)
{
	if (!become(q)) {
		fail(a, JVM_NO_RIGHTS);
		return;
	}
	if (fchdir(q->tmp) < 0) {
		fail(a, JVM_NO_FILE);
		return;
	}
	int fd = connect_now(q, a);
	if (fd < 0 && !a->outcome)
		fd = start_listener(q, a);
	if (fd >= 0)
		ask(q, fd, a);
	descriptor_close(fd);
}
