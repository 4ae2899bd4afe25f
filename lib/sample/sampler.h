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

struct sampler_options {
	struct event_list *events;	/* their attrs get what sampling adds */
	const struct target *target;
	struct wants wants;
	uint64_t delay;			/* ns until counting begins */
	uint64_t duration;		/* ns that counting lasts; 0: no limit */
	size_t ring_size;		/* bytes per CPU, a power of two of pages */
	size_t buffer_size;		/* bytes kept for a slow reader */
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
