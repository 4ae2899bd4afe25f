/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/bystander.h"
#include "base/arena.h"
#include "base/descriptor.h"
#include "base/write.h"
#include "linux/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	KEPT_MAX = 1 << 20,	/* bytes of messages */
	/* Orders, each a byte; a smaller byte is the number of a signal to take. */
	ORDER_PASS = 'p', ORDER_END = 'e',
	/* The descriptors of the bystander. */
	MESSAGES = STDIN_FILENO, ORDERS = STDOUT_FILENO,
};

/* The messages that the bystander keeps. */
struct kept {
	char *text;
	size_t size, dropped;	/* bytes */
	bool passes;		/* write them at once */
};

static void pass(struct kept *k)
{
	char line[80];

	k->passes = true;
	write_whole(STDERR_FILENO, k->text, k->size);
	if (k->dropped) {
		int size = snprintf(line, sizeof(line), "%zu more bytes of messages are left out\n",
				    k->dropped);
		write_whole(STDERR_FILENO, line, (size_t)size);
	}
	k->size = k->dropped = 0;
}

/* Read some messages.  False: nobody can write any more. */
static bool read_messages(struct kept *k)
{
	char bytes[4096];
	ssize_t n = read(MESSAGES, bytes, sizeof(bytes));

	if (n <= 0)
		return n < 0 && errno == EINTR;
	if (k->passes) {
		write_whole(STDERR_FILENO, bytes, (size_t)n);
	} else if (k->size + (size_t)n > KEPT_MAX) {
		k->dropped += (size_t)n;
	} else {
		k->text = mem_resize(k->text, k->size + (size_t)n);
		memcpy(k->text + k->size, bytes, (size_t)n);
		k->size += (size_t)n;
	}
	return true;
}

static bool is_readable(int fd)
{
	struct pollfd readable = { .fd = fd, .events = POLLIN };

	return poll(&readable, 1, 0) > 0;
}

/* Take the signal NUMBER, which is pending, so that it can come again. */
static void take_signal(int number)
{
	const struct timespec now = { 0 };
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, number);
	sigtimedwait(&one, NULL, &now);
}

/* Follow the next order.  False: no more will come, because the other process has ended. */
static bool follow_order(struct kept *k)
{
	char order = ORDER_PASS;
	bool is_one = read(ORDERS, &order, 1) == 1;

	if (order == ORDER_PASS) {
		pass(k);
	} else if (order == ORDER_END) {
		while (is_readable(MESSAGES) && read_messages(k))
			continue;
		pass(k);
		_exit(0);
	} else {
		take_signal(order);
	}
	return is_one;
}

/*
 * The bystander's main function.  It closes all other descriptors, because a reader may wait for
 * the end of a pipe.
 */
__attribute__((noreturn))
static void be_bystander(int messages, int orders)
{
	struct kept kept = { .text = NULL };
	struct pollfd fds[] = { { .fd = MESSAGES, .events = POLLIN },
				{ .fd = ORDERS, .events = POLLIN } };

	dup2(messages, MESSAGES);
	dup2(orders, ORDERS);
#ifdef SYS_close_range
	if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) < 0)
#endif
		for (int fd = STDERR_FILENO + 1; fd < 1024; fd++)	/* before Linux 5.9 */
			close(fd);
	for (;;) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents && !follow_order(&kept))
			fds[1].fd = -1;
		if (fds[0].revents && !read_messages(&kept))
			break;
	}
	pass(&kept);
	_exit(0);
}

/* Make a pipe.  Both descriptors are above the three standard ones.  False: reported. */
static bool make_pipe(int ends[2], struct report *report)
{
	if (pipe2(ends, O_CLOEXEC) < 0) {
		report_failure(report, "cannot make a pipe");
		return false;
	}
	for (int i = 0; i < 2; i++)
		if (ends[i] <= STDERR_FILENO) {
			int low = ends[i];
			ends[i] = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
			close(low);
		}
	return true;
}

bool bystander_start(struct bystander *b, struct report *report)
{
	int messages[2], orders[2];
	sigset_t all, before;

	if (!make_pipe(messages, report) || !make_pipe(orders, report))
		return false;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);	/* it blocks all signals, from the start */
	pid_t pid = fork();
	if (pid == 0)
		be_bystander(messages[0], orders[0]);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(messages[0]);
	close(orders[0]);
	*b = (struct bystander){ .pid = pid, .messages = messages[1], .orders = orders[1] };
	if (pid > 0)
		return true;
	report_failure(report, "cannot fork");
	close(messages[1]);
	close(orders[1]);
	b->pid = 0;
	return false;
}

void bystander_keep(struct bystander *b)
{
	b->terminal = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (b->terminal > 0)
		dup2(b->messages, STDERR_FILENO);
	else
		b->terminal = 0;	/* stderr is closed */
}

static void give_order(const struct bystander *b, char order)
{
	write_whole(b->orders, &order, 1);	/* if it is gone, there is nothing to do */
}

void bystander_pass(struct bystander *b)
{
	if (b->pid)
		give_order(b, ORDER_PASS);
}

void bystander_end(struct bystander *b)
{
	if (!b->pid)
		return;
	if (b->terminal) {
		dup2(b->terminal, STDERR_FILENO);
		close(b->terminal);
	}
	give_order(b, ORDER_END);
	close(b->messages);
	close(b->orders);
	while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	*b = (struct bystander){ .pid = 0 };
}

bool bystander_saw(const struct bystander *b, int number)
{
	enum { WAITS_MOST = 200 };	/* of 5 ms */

	if (!b->pid || !proc_has_signal(b->pid, "ShdPnd", number))
		return false;
	give_order(b, (char)number);
	for (int i = 0; i < WAITS_MOST && proc_has_signal(b->pid, "ShdPnd", number); i++)
		usleep(5000);
	return true;
}
