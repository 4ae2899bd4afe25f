/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe - makes the command lines of the tools that answer a request.
 *
 * Each text of a request becomes the value of one option, as in "--event=TEXT".  So a text cannot
 * become an option, and no shell interprets it.
 */
#pragma once
#include "base/arena.h"
#include "serve/query.h"
#include "serve/serve-settings.h"

enum recipe_kind {
	RECIPE_TIMER,		/* sample a timer, 100 times per second of CPU time like Go */
	RECIPE_EVENTS,		/* sample the events of the query */
	RECIPE_OFF_CPU,		/* record where threads wait */
	RECIPE_BLOCK,		/* ... for other threads */
	RECIPE_MUTEX,		/* record for whom threads wait */
};

/* A request. */
struct recipe {
	enum recipe_kind kind;
	bool page;		/* answer with a page instead of a profile */
	const struct query *query;
	const struct serve_settings *settings;
	uint64_t duration;	/* in ns */
	pid_t pid;		/* a process of the target, for --call-graph auto; 0: unknown */
	/*
	 * Its events are recorded without the labels of programs, because one is a tracepoint: the
	 * program in the kernel that reads labels cannot run there.
	 */
	bool unlabelled;
	const char *template;	/* of a file per interval, without end; NULL: one profile */
};

/* Tools joined by pipes, for work_start().  They live in an arena. */
typedef char *const *const *recipe_tools;

/*
 * Return whether KIND records waits: it samples a tracepoint, whatever events the query names, and
 * its samples mean nothing without callchains.
 */
bool recipe_records_waits(enum recipe_kind kind);

/* Return the tool that describes the events of R. */
recipe_tools recipe_encode(const struct recipe *r, struct arena *arena);

/* Return the tools that sample and write the profile or the page. */
recipe_tools recipe_profile(const struct recipe *r, struct arena *arena);

/* Return the tools that merge the FILES profiles FILE, and write the sum or its page. */
recipe_tools recipe_merge(const struct recipe *r, char *const *file, size_t files,
			  struct arena *arena);

/* Return the tool that writes the rows of the profile NAME in DIRECTORY, which is of HOST. */
recipe_tools recipe_rows(const struct serve_settings *settings, const char *host,
			 const char *directory, const char *name, struct arena *arena);

/* Return the tool that lists the events of this machine. */
recipe_tools recipe_list(struct arena *arena);

/* Return the tool that checks whether this machine can profile. */
recipe_tools recipe_doctor(struct arena *arena);
