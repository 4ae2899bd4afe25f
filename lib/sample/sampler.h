/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler - events and a target to a stream, until something says stop: the
 * target ends, the reader of the stream goes away, time is up, or a signal.
 */
#pragma once
#include "base/output.h"
#include "event/event.h"

#include <signal.h>

struct sampler_options {
	struct event_list *events;	/* their attrs get what sampling adds */
	pid_t pid;			/* attach to this process, or, if 0, ... */
	char *const *command;		/* ... run this, NULL-terminated */
	bool callchains;		/* by frame pointers */
	uint64_t duration;		/* ns from the start of sampling; 0: no limit */
	size_t ring_size;		/* bytes per CPU, a power of two of pages */
	const volatile sig_atomic_t *stop;	/* set: finish */
	int argc;			/* the sampler's own command line, for the stream */
	char *const *argv;
};

/* Sample; every failure has been reported when it returns. */
void sampler_run(const struct sampler_options *options, struct output *out, struct report *report);
