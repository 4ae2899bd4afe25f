/* SPDX-License-Identifier: Apache-2.0 */
#include "base/signals.h"

#include <stddef.h>

static bool ignored_interrupts, ignored_file_limit;
static sigset_t blocked_signals;

static bool is_ignored(int number)
{
	struct sigaction now;

	return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void signals_remember(void)
{
	ignored_interrupts = is_ignored(SIGINT);
	ignored_file_limit = is_ignored(SIGXFSZ);
	sigprocmask(SIG_SETMASK, NULL, &blocked_signals);
}

bool signals_ignored_interrupts(void)
{
	return ignored_interrupts;
}

const sigset_t *signals_blocked(void)
{
	return &blocked_signals;
}

void signals_restore(int blocked)
{
	sigset_t mask = blocked_signals;

	if (blocked)
		sigaddset(&mask, blocked);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, ignored_file_limit ? SIG_IGN : SIG_DFL);
	signal(SIGINT, ignored_interrupts ? SIG_IGN : SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (signal(SIGHUP, SIG_DFL) == SIG_IGN)
		signal(SIGHUP, SIG_IGN);	/* nohup(1) is meant for the child, too */
}
