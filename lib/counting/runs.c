/* SPDX-License-Identifier: Apache-2.0 */
/* Several runs, one after the other. */
#include "base/arena.h"
#include "counting/counting.h"
#include "target/child.h"

#include <stdlib.h>
#include <sys/wait.h>

/* Make one run, and append it to RUNS.  False: reported. */
static bool make_run(struct counting *c, char *const *command, struct counting_runs *runs,
		     struct report *report)
{
	runs->run = array_grow(runs->run, runs->count, sizeof(*runs->run));
	struct counting_run *run = &runs->run[runs->count++];

	bool good = command ? counting_run_command(c, command, run, report)
			    : counting_run_target(c, run, report);
	if (good && !run->value)	/* stopped before its start */
		counting_run_release(&runs->run[--runs->count]);
	return good;
}

/* Remove the first COUNT runs of RUNS, or all. */
static void forget(struct counting_runs *runs, size_t count)
{
	for (size_t i = 0; i < count && i < runs->count; i++)
		counting_run_release(&runs->run[i]);
	runs->count = runs->count > count ? runs->count - count : 0;
}

/* Set the status of RUNS: of the last that failed, or that the user stopped. */
static void set_status(struct counting_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		int status = runs->run[i].status;
		if (status)
			runs->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status)
							   : WEXITSTATUS(status);
	}
}

/* Count the runs that failed by themselves, and report them. */
static void report_failures(struct counting_runs *runs, const char *name, bool quiet,
			    struct report *report)
{
	int last = 0;

	for (size_t i = 0; i < runs->count; i++)
		if (runs->run[i].status && !runs->run[i].is_cut) {
			last = runs->run[i].status;
			runs->failed++;
		}
	if (quiet || !runs->failed)
		return;
	if (runs->count > 1)
		report_note(report, "%zu of %zu runs failed; the last of these:", runs->failed,
			    runs->count);
	child_report_status(last, name, report);
}

/* Return whether all EVENTS count children, too. */
static bool all_inherit(const struct event_list *events)
{
	for (size_t i = 0; i < events->count; i++)
		if (events->event[i].inherit < 0)
			return false;
	return true;
}

/* Report the first of RUNS of the command NAME of which the kernel stopped the counting. */
static void report_unseen(const struct counting_runs *runs, const char *name,
			  struct report *report)
{
	bool reported = false;

	for (size_t i = 0; i < runs->count && !reported; i++) {
		const struct counting_run *r = &runs->run[i];
		uint64_t seen = 0;

		for (size_t e = 0; r->value && e < r->events; e++) {
			uint64_t enabled = 0;
			for (size_t u = 0; u < r->units; u++)
				enabled += r->value[u * r->events + e].enabled;
			seen = enabled > seen ? enabled : seen;
		}
		reported = r->value && !r->is_cut && r->events > 0 &&
			   child_report_unseen(name, r->user + r->system, seen, "counting", report);
	}
}

bool counting_runs_make(struct counting *c, char *const *command, size_t warmup, size_t count,
			struct counting_runs *runs, struct report *report)
{
	bool good = true;

	for (size_t i = 0; good && i < warmup && !c->is_stopped; i++) {
		good = make_run(c, command, runs, report);
		if (!c->is_stopped)
			forget(runs, 1);
	}
	while (good && runs->count < count && !c->is_stopped)
		good = make_run(c, command, runs, report);
	set_status(runs);
	if (good && c->is_stopped && runs->count > 1 && runs->run[runs->count - 1].is_cut) {
		report_note(report, "run %zu was stopped: it is left out", runs->count);
		counting_run_release(&runs->run[--runs->count]);
	}
	for (size_t i = 0; i < runs->count; i++)
		runs->stopped += c->target->command && runs->run[i].is_cut;
	if (good && c->target->command && !c->target->cpus.count && all_inherit(c->events))
		report_unseen(runs, command[0], report);
	if (good && command)
		report_failures(runs, command[0], c->quiet_status, report);
	return good;
}

void counting_runs_release(struct counting_runs *runs)
{
	forget(runs, runs->count);
	free(runs->run);
	*runs = (struct counting_runs){ .run = NULL };
}
