/* SPDX-License-Identifier: Apache-2.0 */
/*
 * children KIND [ROUNDS] - waiter() waits for the end of a process or a signal of a thread, in one
 * of the ways in which programs do: see ways[].  "thread" and "suspended": the signals are those of
 * culprit(); of all others, a child ends.  "stopped": culprit() has a lock, and a child stops and
 * continues the process meanwhile.
 */
#include "tests/bin/waiting.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAP_US = 10000 };

static sigset_t child_signal, none;
static int signals, ends[2], process;
static uint64_t waited;
static int rounds = 20;
static pthread_t receiver;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void ignore(int signal) { (void)signal; }
static void by_wait(void) { waitpid(process, NULL, 0); }
static void by_suspend(void) { sigsuspend(&none); }
static void by_select(void) { pselect(0, NULL, NULL, NULL, NULL, &none); }
static void by_poll(void) { ppoll(NULL, 0, NULL, &none); }
static void by_sigwait(void) { sigwaitinfo(&child_signal, NULL); }

static void by_signalfd(void)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) < 0)
		abort();
}

static void by_pidfd(void)
{
	int fd = (int)syscall(SYS_pidfd_open, process, 0);
	struct pollfd end = { fd, POLLIN, 0 };

	poll(&end, 1, -1);
	close(fd);
}

static void by_pipe(void)
{
	char byte;

	if (read(ends[0], &byte, 1) != 0)
		abort();
}

static const struct way { const char *kind; void (*wait)(void); } ways[] = {
	{ "wait", by_wait }, { "sigsuspend", by_suspend }, { "select", by_select },
	{ "poll", by_poll }, { "sigwait", by_sigwait }, { "signalfd", by_signalfd },
	{ "pidfd", by_pidfd }, { "pipe", by_pipe }, { "thread", by_sigwait },
	{ "suspended", by_suspend },
};

FUNCTION void waiter(void (*wait)(void))
{
	uint64_t start = now();

	wait();
	waited += now() - start;
	STAY;
}

FUNCTION void culprit(void)
{
	nap(NAP_US);
	pthread_kill(receiver, SIGCHLD);
	STAY;
}

/* A child lives for a while, and has the only other end of the pipe. */
static void start_child(void)
{
	if (pipe(ends) != 0)
		abort();
	process = fork();
	if (process == 0) {
		nap(NAP_US);
		_exit(0);
	}
	close(ends[1]);
}

static void wait_for_children(void (*wait)(void))
{
	for (int i = 0; i < rounds; i++) {
		start_child();
		waiter(wait);
		waitpid(process, NULL, 0);
		close(ends[0]);
		struct timespec now = { 0, 0 };
		while (sigtimedwait(&child_signal, NULL, &now) > 0)
			;
	}
}

static void *keep_signalling(void *unused)
{
	for (int i = 0; i < rounds; i++)
		culprit();
	return unused;
}

static void wait_for_signals(void (*wait)(void))
{
	pthread_t other;

	receiver = pthread_self();
	pthread_create(&other, NULL, keep_signalling, NULL);
	for (int i = 0; i < rounds; i++)
		waiter(wait);
	pthread_join(other, NULL);
}

FUNCTION void holder(void)
{
	pthread_mutex_lock(&lock);
	nap(4 * NAP_US);
	pthread_mutex_unlock(&lock);
	STAY;
}

static void *keep_holding(void *unused)
{
	for (int i = 0; i < rounds; i++) {
		holder();
		nap(NAP_US / 10);
	}
	return unused;
}

static void take(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void *keep_asking(void *unused)
{
	for (int i = 0; i < rounds; i++) {
		waiter(take);
		nap(NAP_US / 10);
	}
	return unused;
}

static void be_stopped(void)
{
	pid_t self = getpid();
	pthread_t thread[2];

	process = fork();
	while (process == 0) {
		nap(NAP_US);
		if (kill(self, SIGSTOP) != 0 || getppid() != self)
			_exit(0);
		nap(NAP_US / 2);
		kill(self, SIGCONT);
	}
	pthread_create(&thread[0], NULL, keep_holding, NULL);
	pthread_create(&thread[1], NULL, keep_asking, NULL);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	kill(process, SIGKILL);
	waitpid(process, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";

	if (argc > 2)
		rounds = (int)atof(argv[2]);
	sigemptyset(&none);
	sigemptyset(&child_signal);
	sigaddset(&child_signal, SIGCHLD);
	signal(SIGCHLD, ignore);
	if (!strcmp(kind, "stopped"))
		be_stopped();
	sigprocmask(SIG_BLOCK, &child_signal, NULL);
	signals = signalfd(-1, &child_signal, 0);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(kind, ways[i].kind))
			(i < 8 ? wait_for_children : wait_for_signals)(ways[i].wait);
	truth("waited", kind, "-", "waiter", waited);
	return waited == 0;
}
