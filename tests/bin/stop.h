/* SPDX-License-Identifier: Apache-2.0 */
/* stop - whether the signal came that ends a program. */
#pragma once
#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	stopped = number;
}

/* Set STOPPED when SIGNAL comes. */
static void stop_at(int signal)
{
	sigaction(signal, &(struct sigaction){ .sa_handler = on_signal }, NULL);
}
