/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan - the tools that pmu-prof runs: a pipe from pmu-sample to a profile, then a page, and a
 * table.
 *
 *	pmu-sample ... | pmu-symbolize | pmu-topprof -o NAME.pb.gz &&
 *	pmu-flame -o NAME.html NAME.pb.gz; pmu-top NAME.pb.gz >&2
 *
 * pmu-sample writes the stream to its stdout, so a command gets pmu-prof's by another descriptor.
 */
#pragma once
#include "sample/sample-choices.h"

/* The user's choices. */
struct plan_request {
	const struct sample_choices *chosen;
	const struct word_list *passed;	/* options for pmu-sample, as given */
	char *const *command;		/* NULL-terminated; NULL: none */
	const char *name;		/* of the results, also with .pb.gz or .html; NULL: new */
	const char *profile;		/* exact name of the profile; NULL: derived from NAME */
	const char *target;	/* name of what was profiled on another machine; NULL: it is here */
	bool records, shows;	/* which parts are done here: another machine may do the other */
	int profile_fd;		/* where the profile goes if it is not shown here */
	int command_fd;		/* descriptor that becomes the command's stdout; -1: none */
	bool can_unwind;		/* pmu-sample has --unwind */
	bool source;			/* the page has source lines */
	bool quiet, progress;		/* PROGRESS: unless the user has said how */
	int verbose;
};

struct plan {
	bool has_command;
	int command_fd;		/* as in the request; -1 also if there is no command */
	int profile_fd;		/* pmu-topprof's stdout, if it does not write PROFILE; else -1 */
	char *profile, *page;		/* files to write */
	char *labels;			/* whether labels are recorded, and why; or NULL */
	const char *note;		/* what to say after the table; NULL: nothing */
	char *why;			/* which callchains are recorded, and why; NULL: as asked */
	struct word_list sample, symbolize, topprof, flame, top;	/* each an argv */
	struct word_list symptoms;	/* a table before TOP's: where threads wait; or empty */
};

/* Make PLAN of REQUEST.  Return false if it cannot work: reported. */
bool plan_make(struct plan *plan, const struct plan_request *request, struct report *report);

/* Return a name for what REQUEST profiles here, which is safe in a file name.  The caller frees. */
char *plan_target(const struct plan_request *request);

/*
 * Return the words by which a pmu-prof on another machine records what REQUEST asks for.  They live
 * as long as the program.
 */
struct word_list plan_words(const struct plan_request *request);

/* Return PLAN as a line for a shell.  The caller frees. */
char *plan_line(const struct plan *plan);

/* Return the words of a tool, for sibling_run(). */
static inline char *const *plan_argv(const struct word_list *words)
{
	return (char *const *)(uintptr_t)words->item;
}
