/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counting - events that count a target, and take no samples.
 *
 *	struct counting c = { .target = &target, .stop = &command_stop, .command_fd = -1 };
 *	struct counting_run run = { 0 };
 *
 *	if (counting_begin(&c, &events, report) && counting_run_command(&c, argv, &run, report))
 *		... run.value[i].count of events.event[i] ...
 *	counting_run_release(&run);
 *
 * A command is counted from its exec to its exit, with all processes and threads that it creates;
 * what this process does for its start is not counted.  The members of a {group} count at the same
 * times, and are read by one read.
 */
#pragma once
#include "base/report.h"
#include "counting/repeated-input.h"
#include "event/event.h"
#include "linux/bystander.h"
#include "target/target.h"

#include <signal.h>

/* What an event counted. */
struct counting_value {
	uint64_t count;		/* as the kernel counted it, not scaled */
	uint64_t enabled;	/* ns that the event should have counted, summed over threads */
	uint64_t running;	/* ns that it counted: less if it was multiplexed */
};

/* What is counted apart.  A unit is one of these threads, CPUs, cores or nodes. */
enum counting_by { BY_NOTHING, BY_THREAD, BY_CPU, BY_CORE, BY_NODE };

/* One run of a command, or one time span of another target.  Zero-initialised: none. */
struct counting_run {
	struct counting_value *value;	/* by unit, then by event, all of the list */
	size_t events;
	char **unit;		/* names of the units: "cpu 3"; "": it ended before it was counted;
				   NULL: there is one unit, the target */
	size_t units;		/* at least 1 */
	uint64_t start;		/* of an interval: ns since the start of the run */
	uint64_t wall;		/* ns from exec to exit, or of the time span */
	uint64_t user, system;	/* CPU time of the command in ns, with children that it waited
				   for; 0: the target is not a command */
	int status;		/* of the command, as wait(2) returns it */
	bool is_cut;		/* it was stopped, by the user or when the time was up */
};

/* What is to be said of the events, when the first run has started. */
struct counting_notes {
	char text[5][640];
	size_t count;
};

/* Add a note to N; more than have room are left out. */
void counting_note(struct counting_notes *n, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Print the notes of N that were not printed yet. */
void counting_notes_print(struct counting_notes *n, struct report *report);

/* What to count, and how.  The caller sets the first fields; the others are zero. */
struct counting {
	const struct target *target;
	const volatile sig_atomic_t *stop;	/* count no longer when it is set */
	int command_fd;		/* the command's stdout; -1: ours */
	uint64_t duration;	/* ns after which a run is stopped; 0: no limit */
	enum counting_by by;
	uint64_t interval;	/* ns between calls of ON_INTERVAL; 0: none */
	/*
	 * Gets what was counted since the last call, or in the last, shorter interval.  Returning
	 * false stops the run.
	 */
	bool (*on_interval)(void *context, const struct counting_run *since);
	void *context;
	bool quiet_status;	/* do not report a command that failed */

	struct counting_notes notes;

	struct event_list *events;
	struct repeated_input input;	/* of the commands */
	struct bystander bystander;	/* while a command runs */
	bool is_stopped;	/* the user stopped it: make no further runs */
};

/*
 * Complete the attrs of EVENTS for counting, and try them.  If the kernel may not be counted, the
 * events count user code only, with a note.  False (reported): an event is refused.
 */
bool counting_begin(struct counting *c, struct event_list *events, struct report *report);

/*
 * Run COMMAND once, and set RUN to what was counted.  If it is not the target, the target is
 * counted until the command ends.  A command that fails is not an error: see RUN->status.  False
 * (reported): it could not be run, or not be counted.  If the user stops it before its start, RUN
 * has no values, and is cut.
 */
bool counting_run_command(struct counting *c, char *const *command, struct counting_run *run,
			  struct report *report);

/* Count the target until it ends, the time is up, or the user stops that.  The same otherwise. */
bool counting_run_target(struct counting *c, struct counting_run *run, struct report *report);

void counting_run_release(struct counting_run *run);

/* Several runs.  Zero-initialised: none. */
struct counting_runs {
	struct counting_run *run;
	size_t count;
	size_t failed;		/* runs of a command that failed, or died by a signal */
	size_t stopped;		/* runs of a command that were stopped before its end */
	int status;		/* of the last that failed or was stopped, as a shell has it; 0:
				   none */
};

/*
 * Run COMMAND (NULL: counting_run_target()) WARMUP times, and then COUNT times, for RUNS.  If the
 * user stops that, RUNS has those that were complete, or the only one.  Report runs that failed.
 * False (reported): one could not be run or counted.
 */
bool counting_runs_make(struct counting *c, char *const *command, size_t warmup, size_t count,
			struct counting_runs *runs, struct report *report);

void counting_runs_release(struct counting_runs *runs);

/*
 * Return the count of V, scaled up by the time in which the event did not count; NAN: it never
 * counted.
 */
double counting_scaled(const struct counting_value *v);

/* Return whether V is scaled. */
static inline bool counting_is_scaled(const struct counting_value *v)
{
	return v->running && v->running < v->enabled;
}
