/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/recipe.h"
#include "base/units.h"
#include "compose/callgraph.h"
#include "pprof/label-kinds.h"
#include "record/words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 48, TOOLS = 4 };

/* Command lines under construction. */
struct command_lines {
	struct arena *arena;
	char *word[TOOLS][WORDS];
	char *const *argv[TOOLS + 1];
	unsigned tools, words;
};

static struct command_lines *begin(struct arena *arena)
{
	struct command_lines *l = arena_alloc(arena, sizeof(*l));

	memset(l, 0, sizeof(*l));
	l->arena = arena;
	return l;
}

/* Add a word to the command line of the last tool. */
__attribute__((format(printf, 2, 3)))
static void word(struct command_lines *l, const char *format, ...)
{
	va_list args, copy;

	va_start(args, format);
	va_copy(copy, args);
	int size = vsnprintf(NULL, 0, format, args);
	char *text = arena_alloc(l->arena, (size_t)size + 1);
	vsnprintf(text, (size_t)size + 1, format, copy);
	va_end(copy);
	va_end(args);
	if (l->words < WORDS - 1)	/* the last word stays NULL */
		l->word[l->tools - 1][l->words++] = text;
}

static void tool(struct command_lines *l, const char *name)
{
	l->argv[l->tools] = l->word[l->tools];
	l->tools++;
	l->words = 0;
	word(l, "%s", name);
}

bool recipe_records_waits(enum recipe_kind kind)
{
	return kind == RECIPE_BLOCK || kind == RECIPE_MUTEX;
}

static void add_rate(struct command_lines *l, const struct query *q)
{
	if (q->frequency || (q->rate && query_is_by_time(q)))
		word(l, "--frequency=%" PRIu64, q->frequency ? q->frequency : q->rate);
	else if ((q->period && !query_ignores_period(q, true)) || q->rate)
		word(l, "--period=%" PRIu64, q->period ? q->period : q->rate);
}

static void add_target(struct command_lines *l, const struct recipe *r)
{
	const struct serve_settings *s = r->settings;

	if (r->query->pid)
		word(l, "--pid=%d", (int)r->query->pid);
	else if (r->query->comm)
		word(l, "--comm=%s", r->query->comm);
	else if (s->pid)
		word(l, "--pid=%d", s->pid);
	else if (s->comm)
		word(l, "--comm=%s", s->comm);
	else if (s->cgroup)
		word(l, "--cgroup=%s", s->cgroup);
	else if (s->user)
		word(l, "--uid=%s", s->user);
	else
		word(l, "--all");
}

static void add_callgraph(struct command_lines *l, const struct recipe *r)
{
	const char *how = r->query->callgraph ? r->query->callgraph : r->settings->call_graph;
	const struct callgraph_target target = {
		.pid = r->pid, .is_many = !r->pid, .can_unwind = true,
	};
	if (recipe_records_waits(r->kind) && !strcmp(how, "none"))
		how = "auto";	/* "none" of --call-graph is for the other profiles */
	/*
	 * Several processes are recorded by frame pointers: to unwind, a process of pmu-sample
	 * gives up rights, and the system call filter of doc/pmu-serve.service forbids that.
	 */
	bool is_cheap = target.is_many && !strcmp(how, "auto");
	struct callgraph_options o = callgraph_options(&target, is_cheap ? "fp" : how);

	if (o.call_graph)
		word(l, "--call-graph=%s", o.call_graph);
	if (o.unwind)
		word(l, "--unwind=%s", o.unwind);
}

static void add_labels(struct command_lines *l, const struct recipe *r)
{
	const struct serve_settings *s = r->settings;

	if (!s->labels || r->unlabelled)
		return;
	word(l, *s->labels ? "--labels=%s" : "--labels%s", s->labels);
}

static void add_events(struct command_lines *l, const struct recipe *r)
{
	switch (r->kind) {
	case RECIPE_TIMER:
		word(l, "--event=cpu-clock");
		if (!r->query->frequency && !r->query->rate)
			word(l, "--frequency=100");
		break;
	case RECIPE_OFF_CPU:
		word(l, "--event=cpu-clock");
		word(l, "--off-cpu");
		break;
	case RECIPE_BLOCK:
	case RECIPE_MUTEX:
		word(l, "--event=dummy");	/* nothing but waits, which have no rate */
		word(l, "--waits");
		return;
	case RECIPE_EVENTS:
		for (size_t i = 0; i < r->query->events; i++)
			word(l, "--event=%s", r->query->event[i]);
		if (r->query->fallback)
			word(l, "--fallback=timer");
		break;
	}
	add_rate(l, r->query);
}

static void add_topprof(struct command_lines *l, const struct recipe *r)
{
	tool(l, "pmu-topprof");
	if (r->kind == RECIPE_BLOCK)
		word(l, "--block");
	else if (r->kind == RECIPE_MUTEX)
		word(l, "--mutex");
	if (r->query->label)
		word(l, "--label=%s", r->query->label);
}

/*
 * Kept profiles that are sent as rows: with the names of processes, too, which become services.
 * pmu-topprof has no usual labels once some are chosen.
 */
static void add_topprof_for_rows(struct command_lines *l, const struct recipe *r)
{
	const struct serve_settings *s = r->settings;
	const char *usual = s->pid ? LABEL_PID : LABEL_PID "," LABEL_THREAD_COMM;
	const char *label = r->query->label ? r->query->label : usual;
	bool has_others = strcmp(label, "none") != 0;
	bool has_labels = !r->query->label && s->labels && !r->unlabelled;

	tool(l, "pmu-topprof");
	word(l, "--label=%s%s" LABEL_COMM "%s", has_others ? label : "", has_others ? "," : "",
	     has_labels ? "," LABEL_PROGRAM_PREFIX "*" : "");
}

recipe_tools recipe_profile(const struct recipe *r, struct arena *arena)
{
	struct command_lines *l = begin(arena);
	char time[UNITS_SIZE];

	tool(l, "pmu-sample");
	if (!r->template) {
		word(l, "--verbose");	/* prints the counts of samples and losses for /metrics */
		units_format_duration(time, r->duration);
		word(l, "--duration=%s", time);
	}
	add_target(l, r);
	add_events(l, r);
	add_callgraph(l, r);
	add_labels(l, r);
	tool(l, "pmu-symbolize");
	if (r->settings->cache)
		word(l, "--cache=%s", r->settings->cache);
	if (r->template && r->settings->push && r->settings->push_as != PUSH_PPROF)
		add_topprof_for_rows(l, r);
	else
		add_topprof(l, r);
	if (!r->page)
		word(l, "--slices=0");	/* so that kept profiles and their sums stay small */
	if (r->template) {
		units_format_duration(time, r->settings->interval);
		word(l, "--split=%s", time);
		word(l, "--output=%s", r->template);
		word(l, "--print-files");
	}
	if (r->query->one_type && !r->page) {
		tool(l, "pmu-topprof");
		word(l, "--types=one");
	}
	if (r->page) {
		word(l, "--slices=%d", r->pid ? 500 : 50);	/* as pmu-prof does */
		tool(l, "pmu-flame");
	}
	return l->argv;
}

recipe_tools recipe_merge(const struct recipe *r, char *const *file, size_t files,
			  struct arena *arena)
{
	struct command_lines *l = begin(arena);

	add_topprof(l, r);
	if (r->query->one_type)
		word(l, "--types=one");
	word(l, "--skip-damaged");
	word(l, "--");
	char **argv = arena_alloc(arena, (l->words + files + 1) * sizeof(*argv));
	memcpy(argv, l->word[0], l->words * sizeof(*argv));
	memcpy(argv + l->words, file, files * sizeof(*argv));
	argv[l->words + files] = NULL;
	l->argv[0] = argv;
	if (r->page)
		tool(l, "pmu-flame");
	return l->argv;
}

recipe_tools recipe_rows(const struct serve_settings *settings, const char *host,
			 const char *directory, const char *name, struct arena *arena)
{
	struct command_lines *l = begin(arena);

	tool(l, "pmu-topprof");
	word(l, "--to=rows");
	word(l, "--host=%s", host);
	if (settings->service)
		word(l, "--service=%s", settings->service);
	if (settings->push_as == PUSH_ROWS_DETAIL)
		word(l, "--rows-detail");
	word(l, "--");
	word(l, "%s/%s", directory, name);
	return l->argv;
}

/* Return the command line of pmu-events with OPTION, which selects its output, and --json. */
static struct command_lines *events_tool(struct arena *arena, const char *option)
{
	struct command_lines *l = begin(arena);

	tool(l, "pmu-events");
	word(l, "%s", option);
	word(l, "--json");
	return l;
}

recipe_tools recipe_encode(const struct recipe *r, struct arena *arena)
{
	struct command_lines *l = events_tool(arena, "--encode");

	add_rate(l, r->query);
	word(l, "--");
	for (size_t i = 0; i < r->query->events; i++)
		word(l, "%s", r->query->event[i]);
	return l->argv;
}

recipe_tools recipe_list(struct arena *arena)
{
	return events_tool(arena, "--list")->argv;
}

recipe_tools recipe_doctor(struct arena *arena)
{
	return events_tool(arena, "--doctor")->argv;
}
