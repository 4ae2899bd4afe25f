/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe - the command lines of the tools that answer a request.
 *
 * Texts of a request become the value of one option each, "--event=TEXT": no text is an option,
 * and no shell sees it.
 */
#pragma once
#include "base/arena.h"
#include "serve/query.h"
#include "serve/serve-settings.h"

enum recipe_kind {
	RECIPE_TIMER,		/* as Go's profile: 100 samples per second of CPU time */
	RECIPE_EVENTS,		/* by the events of the query */
	RECIPE_WAITS,		/* where threads wait */
};

/* What a request asks for. */
struct recipe {
	enum recipe_kind kind;
	bool page;		/* a page, not a profile */
	const struct query *query;
	const struct serve_settings *settings;
	uint64_t duration;	/* in ns */
	pid_t pid;		/* the process, or one of its name: for --call-graph auto; or 0 */
	const char *template;	/* write a file per interval so, without end; NULL: one profile */
};

/* Tools joined by pipes, for work_start().  They live in an arena. */
typedef char *const *const *recipe_tools;

/* Return the tool that says what the events of R are. */
recipe_tools recipe_encode(const struct recipe *r, struct arena *arena);

/* Return the tools that sample, and write the profile or the page. */
recipe_tools recipe_profile(const struct recipe *r, struct arena *arena);

/* Return the tools that add up the FILES profiles FILE, and write the sum or its page. */
recipe_tools recipe_merge(const struct recipe *r, char *const *file, size_t files,
			  struct arena *arena);

/* Return the tool that lists the events of this machine, or examines it. */
recipe_tools recipe_list(struct arena *arena);
recipe_tools recipe_doctor(struct arena *arena);
