/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan - what pmu-prof runs: a pipe from pmu-sample to a profile, then a page and a table.
 *
 *	pmu-sample ... | pmu-symbolize | pmu-topprof -o NAME.pb.gz &&
 *	pmu-flame -o NAME.html NAME.pb.gz; pmu-top NAME.pb.gz >&2
 */
#pragma once
#include "sample/sample-options.h"

/* What the user asks for. */
struct plan_request {
	const struct sample_choices *chosen;
	const struct command_list *passed;	/* options for pmu-sample, as given */
	char *const *command;		/* NULL-terminated; NULL: none */
	const char *call_graph;		/* "auto", or what pmu-sample takes */
	const char *name;		/* of the results, with or without .pb.gz; NULL: chosen */
	const char *profile;		/* the profile, exactly; NULL: by NAME */
	bool can_unwind;		/* pmu-sample has --unwind */
	bool quiet, progress;
	int verbose;
};

struct plan {
	char *profile, *page;		/* files to write */
	char *why;			/* which callchains are recorded, and why; NULL: as asked */
	struct command_list sample, symbolize, topprof, flame, top;	/* each an argv */
};

/* Make PLAN of REQUEST.  Return false if it cannot work: reported. */
bool plan_make(struct plan *plan, const struct plan_request *request, struct report *report);

/* Return PLAN as a line for a shell.  The caller frees. */
char *plan_line(const struct plan *plan);

/* Return the words of a tool, for sibling_run(). */
static inline char *const *plan_argv(const struct command_list *words)
{
	return (char *const *)(uintptr_t)words->item;
}
