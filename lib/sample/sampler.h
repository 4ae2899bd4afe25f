/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler - samples a target by events, and writes a stream, until the target ends, the reader
 * closes the stream, the time is up, or a signal arrives.
 */
#pragma once
#include "base/output.h"
#include "counters/settings.h"
#include "event/event.h"
#include "labels/label-options.h"
#include "target/target.h"
#include "unwind/unwind.h"

#include <signal.h>

/* When to switch to the next file.  Zero-initialised: never. */
struct rotation {
	uint64_t bytes;			/* size of a file; 0: no limit */
	uint64_t time;			/* time that a file covers, in ns; 0: no limit */
	bool by_signal;			/* at SIGUSR2, or a snapshot command */
};

static inline bool rotation_is_on(const struct rotation *r)
{
	return r->bytes || r->time || r->by_signal;
}

/* A delay until an enable command (sample/control.h). */
#define SAMPLER_UNTIL_ENABLED UINT64_MAX

/*
 * Parse when to switch, a size, a time or "signal", into a struct rotation; for
 * command_option.parse.
 */
const char *rotation_parse(const char *when, void *rotation);

/*
 * Append to the name of FILE the time MS of its end, ms since 1970, or the first ms after it
 * that no other file has.  Writes the name to NAME (SIZE bytes).  False: errno says why.
 */
bool rotation_rename(const char *file, uint64_t ms, char *name, size_t size);

#define ROTATION_TAKES "a size such as 100Mi, a time such as 10s, or signal"

#define SAMPLER_DELAY_TAKES "a time such as 10s, a number of milliseconds, or -1"

/* Which stack dumps another process unwinds. */
enum sampler_unwind { UNWINDS_NONE, UNWINDS_ALL, UNWINDS_IF_NEEDED };

struct control;

struct sampler_options {
	struct event_list *events;	/* the sampler completes their attrs */
	const struct target *target;
	int command_fd;		/* descriptor for the command's stdout, which the sampler
					   closes; -1: our stdout, or stderr if stdout is the
					   output */
	char *const *clock_command;	/* run this command, and stop when it ends; or NULL */
	bool quiet_status;		/* do not report a command that failed */
	struct sample_settings settings;
	uint64_t waits_min;		/* ns: leave out the stacks of shorter waits; 0: of none */
	uint64_t delay;			/* ns until counting starts, or SAMPLER_UNTIL_ENABLED */
	uint64_t duration;		/* ns that counting lasts; 0: no limit */
	size_t ring_size;		/* bytes per CPU, a power of two of pages */
	size_t buffer_size;		/* limit in bytes of the buffer for a slow reader */
	unsigned jitter;		/* random variation of periods, per cent; 0: none */
	struct label_options labels;	/* which labels of the target's threads to record */
	enum sampler_unwind unwind;
	struct unwind_budget unwind_budget;	/* what unwinding may take */
	bool is_remote;			/* an agent of another machine started us, and ends all
					   that it started after a signal */
	bool progress;			/* show time, samples and losses on stderr, a terminal */
	bool flight_recorder;		/* write the last samples at SIGUSR1 and at the end only */
	uint64_t max_size;		/* stop after so many bytes of output; 0: no limit */
	struct rotation rotation;	/* if on, the output must be a file */
	const char *shown_file;		/* name of the output to announce on stderr, or NULL */
	struct control *control;	/* source of commands, or NULL */
	const volatile sig_atomic_t *stop;	/* stop sampling when it is set */
	int argc;			/* pmu-sample's command line, for the stream */
	char *const *argv;
	const char *note;		/* for the user, if there are samples; or NULL */
	const char *remark;		/* for the stream: events replaced by a fallback; or NULL */
};

/*
 * Sample the target.  All failures are reported.  Returns the command's status as a shell does
 * (child_stop()); 0 without a command.
 */
int sampler_run(const struct sampler_options *options, struct output *out, struct report *report);
