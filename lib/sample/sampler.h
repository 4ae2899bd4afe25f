/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler - events and a target to a stream, until something says stop: the
 * target ends, the reader of the stream goes away, time is up, or a signal.
 */
#pragma once
#include "base/output.h"
#include "event/event.h"
#include "sample/target.h"
#include "sample/wants.h"

#include <signal.h>

/* When the stream goes on in another file; zeros: never. */
struct rotation {
	uint64_t bytes;			/* once a file has so many */
	uint64_t time;			/* ns that a file covers */
	bool by_signal;			/* SIGUSR2, or a snapshot command */
};

static inline bool rotation_is_on(const struct rotation *r)
{
	return r->bytes || r->time || r->by_signal;
}

/* A delay that a command ends (sample/control.h). */
#define SAMPLER_UNTIL_TOLD UINT64_MAX

struct sampler_options {
	struct event_list *events;	/* their attrs get what sampling adds */
	const struct target *target;
	char *const *clock_command;	/* run this meanwhile, and end with it; NULL: none */
	bool quiet_status;		/* how a command ended is the caller's matter */
	struct wants wants;
	uint64_t delay;			/* ns until counting begins, or SAMPLER_UNTIL_TOLD */
	uint64_t duration;		/* ns that counting lasts; 0: no limit */
	size_t ring_size;		/* bytes per CPU, a power of two of pages */
	size_t buffer_size;		/* bytes kept for a slow reader */
	unsigned jitter;		/* per cent that periods differ by chance; 0: constant */
	bool flight_recorder;		/* keep the last samples only, until SIGUSR1 or the end */
	uint64_t max_size;		/* bytes of output after which to end; 0: no limit */
	struct rotation rotation;	/* needs an output with a name */
	const char *shown_file;		/* the output, if a user watches; NULL: say nothing */
	const char *control;		/* where commands come from (sample/control.h), or NULL */
	const volatile sig_atomic_t *stop;	/* set: finish */
	int argc;			/* the sampler's own command line, for the stream */
	char *const *argv;
	const char *remark;		/* for the stream: what was not had as asked; or NULL */
};

/*
 * Sample; every failure has been reported when it returns.  Returns the
 * command's status as a shell gives it, 0 without one.
 */
int sampler_run(const struct sampler_options *options, struct output *out, struct report *report);
