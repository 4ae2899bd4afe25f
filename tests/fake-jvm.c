/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake-jvm MODE [OPTION]...: a Java virtual machine as far as pmu-sample --jit-map knows it.
 * It maps a libjvm.so, catches SIGQUIT, speaks the attach protocol, and prints what it does.
 *
 *	good		writes a map when it is asked to
 *	listening	the same, and has its socket from the start
 *	starting	does not catch SIGQUIT yet
 *	silent		catches SIGQUIT, and does nothing
 *	mute		accepts connections, and never answers
 *	closing		accepts connections, and closes them
 *	old		knows no command that writes a map
 *	mapless		says that it has written a map
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

extern int is_there;
static const char *mode;
static volatile sig_atomic_t quits;

static void on_quit(int number)
{
	(void)number;
	quits = 1;
}

static int start_listening(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "/tmp/.java_pid%d", getpid());
	unlink(at.sun_path);
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 5) < 0)
		perror(at.sun_path);
	return fd;
}

/* SIGQUIT: HotSpot listens if there is a file of its user or root, and else prints its stacks. */
static void handle_quit(int *listener)
{
	char file[64];
	struct stat st;

	quits = 0;
	puts("SIGQUIT");
	if (!strcmp(mode, "silent"))
		return;
	snprintf(file, sizeof(file), "/tmp/.attach_pid%d", getpid());
	if (stat(file, &st) < 0 || (st.st_uid != geteuid() && st.st_uid != 0))
		puts("Full thread dump");
	else if (*listener < 0)
		*listener = start_listening();
}

static void write_map(void)
{
	char name[64];

	snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
	FILE *f = fopen(name, "w");
	if (f) {
		fprintf(f, "1000 10 compiled\n");
		fclose(f);
	}
}

static void answer(const char *text, int fd)
{
	ssize_t n = write(fd, text, strlen(text));

	(void)n;
	close(fd);
}

static void serve(int fd)
{
	static const char wanted[] = "1\0jcmd\0Compiler.perfmap\0\0";
	char got[sizeof(wanted)];
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (!strcmp(mode, "mute"))
		return;
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
	if (!strcmp(mode, "closing") || (peer.uid != geteuid() && peer.uid != 0) ||
	    recv(fd, got, sizeof(got), MSG_WAITALL) != sizeof(got) ||
	    memcmp(got, wanted, sizeof(got))) {
		close(fd);
		return;
	}
	if (!strcmp(mode, "old")) {
		answer("-1\njava.lang.IllegalArgumentException: Unknown \033 command\nat x\n", fd);
		return;
	}
	if (strcmp(mode, "mapless"))
		write_map();
	puts("map");
	answer("0\n", fd);
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = on_quit };
	int listener = -1;

	mode = argc > 1 ? argv[1] : "good";
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(mode, "starting"))
		sigaction(SIGQUIT, &act, NULL);
	if (!strcmp(mode, "listening"))
		listener = start_listening();
	puts("ready");
	while (!is_there) {
		struct pollfd p = { .fd = listener, .events = POLLIN };
		if (poll(&p, 1, 20) > 0)
			serve(accept(listener, NULL, NULL));
		if (quits)
			handle_quit(&listener);
	}
	return 0;
}
