/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals - how signals were when the program started: a child must find them as they were, and a
 * SIGINT that was ignored then stays ignored.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>

/* Two SIGINTs within this time mean more than one, in ns. */
#define SIGNALS_TWICE 2000000000ULL

/* Return whether STOP, a flag that the handler of a signal sets, is set.  NULL: it never is. */
static inline bool is_stopped(const volatile sig_atomic_t *stop)
{
	return stop && *stop;
}

/* Remember the state now.  Before this call, all signals have their default. */
void signals_remember(void);

/* Return whether SIGINT was ignored; which signals were blocked. */
bool signals_ignored_interrupts(void);
const sigset_t *signals_blocked(void);

/* In a child before its exec: set the signals as they were, but block BLOCKED, unless it is 0. */
void signals_restore(int blocked);
