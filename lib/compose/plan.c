/* SPDX-License-Identifier: Apache-2.0 */
#include "compose/plan.h"
#include "base/arena.h"
#include "base/sibling.h"
#include "compose/internal.h"
#include "event/event.h"
#include "linux/proc.h"
#include "record/words.h"
#include "target/child.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char suffix[] = ".pb.gz", page_suffix[] = ".html";

/* Add WORD, and after it a NULL that is not counted. */
static void add(struct word_list *words, const char *word)
{
	words->item = mem_resize(words->item, (words->count + 2) * sizeof(*words->item));
	words->item[words->count++] = word;
	words->item[words->count] = NULL;
}

/* Return A and B joined; lives as long as the program, as all words of a plan do. */
static char *join(const char *a, const char *b)
{
	size_t size = strlen(a) + strlen(b) + 1;
	char *text = mem_resize(NULL, size);

	snprintf(text, size, "%s%s", a, b);
	return text;
}

static void begin(struct word_list *words, const char *tool, const struct plan_request *r)
{
	add(words, tool);
	if (r->quiet)
		add(words, "--quiet");
	for (int i = 0; i < r->verbose; i++)
		add(words, "--verbose");
}

/* Add what the user gave: options for pmu-sample, and the command. */
static void add_given(struct word_list *words, const struct plan_request *r)
{
	for (size_t i = 0; i < r->passed->count; i++)
		add(words, r->passed->item[i]);
	if (r->command)
		add(words, "--");
	for (size_t i = 0; r->command && r->command[i]; i++)
		add(words, r->command[i]);
}

static bool is_by_cpu(const struct sample_choices *c)
{
	return c->target.system || c->target.cpus.count || c->cgroup_path;
}

/* Return whether callchains of many programs are recorded: then their cost is unknown. */
static bool is_many(const struct sample_choices *c)
{
	return is_by_cpu(c) || c->user_name;
}

static pid_t first_pid(const struct target *t)
{
	return t->pids ? t->pid[0] : t->tids ? proc_of_thread(t->tid[0]) : 0;
}

/* Return whether the events of a command are sampled. */
static bool samples_command(const struct plan_request *r)
{
	const struct sample_choices *c = r->chosen;

	return r->command && !is_many(c) && !c->comm && !first_pid(&c->target);
}

/* Replace all in NAME that is not safe in a file name. */
static void make_safe(char *name)
{
	for (char *at = name; *at; at++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-",
			    *at) || (at == name && (*at == '.' || *at == '-')))
			*at = '_';
}

char *plan_target(const struct plan_request *r)
{
	const struct sample_choices *c = r->chosen;
	char comm[PROC_NAME_SIZE] = "process";
	const char *name = comm, *slash;
	pid_t pid = first_pid(&c->target);

	if (samples_command(r))
		name = r->command[0];
	else if (c->cgroup_path || c->user_name || c->comm)
		name = c->cgroup_path ? c->cgroup_path : c->user_name ? c->user_name : c->comm;
	else if (is_by_cpu(c))
		name = "system";
	else
		proc_name(pid, pid, comm);
	slash = strrchr(name, '/');
	char *safe = mem_text(slash && slash[1] ? slash + 1 : name);
	make_safe(safe);
	return safe;
}

/* Return a new name, made of the target and the time, that no profile has yet. */
static char *new_name(const struct plan_request *r)
{
	char *target = r->target && *r->target ? mem_text(r->target) : plan_target(r);
	char stamp[32] = "", text[NAME_MAX + 64];
	time_t now = time(NULL);
	struct tm tm;

	make_safe(target);	/* another machine may have named it */
	if (localtime_r(&now, &tm))
		strftime(stamp, sizeof(stamp), "-%Y%m%d-%H%M%S", &tm);
	for (int i = 1; ; i++) {
		char number[16] = "";
		if (i > 1)
			snprintf(number, sizeof(number), "-%d", i);
		snprintf(text, sizeof(text), "%.128s%s%s%s", target, stamp, number, suffix);
		if (access(text, F_OK) < 0)
			break;
	}
	free(target);
	text[strlen(text) - strlen(suffix)] = '\0';
	return mem_text(text);
}

/*
 * Remove END from the end of the path NAME, unless the file's name is END.  Return whether it was
 * removed.
 */
static bool remove_end(char *name, const char *end)
{
	size_t size = strlen(name), length = strlen(end);

	if (size <= length || strcmp(name + size - length, end) || name[size - length - 1] == '/')
		return false;
	name[size - length] = '\0';
	return true;
}

static void choose_files(struct plan *plan, const struct plan_request *r)
{
	const char *given = r->profile ? r->profile : r->name;
	/* so that go tool pprof, and whoever copies its command line, takes it for no option */
	char *name = !given ? new_name(r) : *given == '-' ? join("./", given) : mem_text(given);

	if (r->profile)
		plan->profile = mem_text(name);
	if (!remove_end(name, suffix) && !r->profile)
		remove_end(name, page_suffix);
	if (!r->profile)
		plan->profile = join(name, suffix);
	plan->page = join(name, page_suffix);
	free(name);
}

/*
 * Return whether files can be created in the directory of PATH: otherwise a recording would be
 * lost.
 */
static bool can_create(const char *path, struct report *report)
{
	const char *slash = strrchr(path, '/');
	char *directory = mem_text(slash ? path : ".");

	if (slash)
		directory[slash == path ? 1 : slash - path] = '\0';
	bool good = access(directory, W_OK | X_OK) == 0;
	if (!good)
		report_failure(report, "cannot write '%s'; choose another place by -o", path);
	free(directory);
	return good;
}

static struct callgraph_target target_of(const struct plan_request *r)
{
	const struct sample_choices *c = r->chosen;

	return (struct callgraph_target){
		.program = samples_command(r) ? r->command[0] : NULL,
		.pid = first_pid(&c->target), .is_many = is_many(c),
		.waits = c->run.settings.waits, .can_unwind = r->can_unwind,
	};
}

/*
 * Record labels if the user has chosen neither labels nor events: at some events labels cannot be
 * recorded, and pmu-sample would end.
 */
static void choose_labels(struct plan *plan, const struct plan_request *r)
{
	const struct sample_choices *c = r->chosen;
	const struct callgraph_target target = target_of(r);
	char why[600];

	if (c->run.labels.sources || c->run.labels.keys || c->names.count ||
	    c->run.settings.waits || c->run.settings.wakes || c->run.flight_recorder)
		return;
	if (label_choice(&target, why, sizeof(why)))
		add(&plan->sample, "--labels=go");
	if (*why)
		plan->labels = mem_text(why);
}

/* Add the options for callchains to the words of pmu-sample. */
static void choose_callgraph(struct plan *plan, const struct plan_request *r)
{
	const struct callgraph_target target = target_of(r);
	const struct sample_settings *s = &r->chosen->run.settings;

	if (r->chosen->run.unwind)	/* the user gave --unwind: it is passed on */
		return;
	if (s->wakes && !s->callchain_given) {
		plan->why = mem_text("callchains: unwound, as --waits does");
		return;
	}
	const char *kind = s->callchain_given ? settings_callchain_name(s->callchain) : "auto";
	struct callgraph_options o = callgraph_options(&target, kind);
	if (o.call_graph && !s->callchain_given)	/* else it is passed on */
		add(&plan->sample, join("--call-graph=", o.call_graph));
	if (o.unwind)
		add(&plan->sample, strcmp(o.unwind, "always") ? join("--unwind=", o.unwind)
							      : "--unwind");
	if (o.why)
		plan->why = join("callchains: ", o.why);
}

/*
 * Choose the event that pmu-sample would choose on a machine without a PMU.  Its note would come
 * before the table; ours follows it.  Beside waits, which are times, comes the time on CPUs.
 */
static void choose_event(struct plan *plan, const struct plan_request *r)
{
	if (r->chosen->names.count)
		return;
	if (!r->chosen->run.settings.wakes && event_machine_has_pmu())
		return;
	add(&plan->sample, "--event=cpu-clock");
	plan->note = r->chosen->run.settings.wakes ? NULL : EVENT_NO_PMU;
}

/* Fill in the tools that make the profile. */
static void fill_record(struct plan *plan, const struct plan_request *r)
{
	begin(&plan->sample, "pmu-sample", r);
	choose_callgraph(plan, r);
	choose_event(plan, r);
	choose_labels(plan, r);
	add(&plan->sample, "--exit-status");
	if (plan->command_fd >= 0) {
		char number[16];
		snprintf(number, sizeof(number), "%d", plan->command_fd);
		add(&plan->sample, join("--command-output=", number));
	}
	if (r->progress)
		add(&plan->sample, "--progress");
	add_given(&plan->sample, r);
	begin(&plan->symbolize, "pmu-symbolize", r);
	begin(&plan->topprof, "pmu-topprof", r);
	if (r->chosen->run.settings.wakes)
		add(&plan->topprof, "--waits");
	add(&plan->topprof, "--slices=500,100000");	/* 3 MB of profile or page */
	add(&plan->topprof, "--frames=cut");	/* a stack that lacks callers must not look whole */
	if (plan->why)
		add(&plan->topprof, join("--comment=", plan->why));
	if (r->shows)
		add(&plan->topprof, join("--output=", plan->profile));
	else
		plan->profile_fd = r->profile_fd;
}

/* Fill in TOP, which prints the table of TYPE; NULL: of the type that is shown first. */
static void fill_top(struct word_list *top, const struct plan *plan, const struct plan_request *r,
		     const char *type)
{
	const struct sample_settings *s = &r->chosen->run.settings;

	add(top, "pmu-top");
	/* what waits is below many frames of libraries */
	add(top, s->waits || s->wakes ? "--rows=20" : "--rows=10");
	if (type)
		add(top, join("--type=", type));
	add(top, "--");
	add(top, plan->profile);
}

/* Fill in the tools that show the profile. */
static void fill_show(struct plan *plan, const struct plan_request *r)
{
	add(&plan->flame, "pmu-flame");
	add(&plan->flame, join("--output=", plan->page));
	if (r->source)
		add(&plan->flame, "--source");
	add(&plan->flame, "--");
	add(&plan->flame, plan->profile);
	if (r->chosen->run.settings.wakes)
		fill_top(&plan->symptoms, plan, r, TYPE_BLOCK);
	fill_top(&plan->top, plan, r, NULL);
}

/* Return whether the command and the tools that make the profile exist; else report. */
static bool can_run(const struct plan *plan, const struct plan_request *r, struct report *report)
{
	const struct word_list *const needed[] = {
		&plan->sample, &plan->symbolize, &plan->topprof
	};
	char path[PATH_MAX];
	bool good = true;

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (!sibling_find(needed[i]->item[0], path)) {
			report_error(report, "cannot find '%s': put it beside pmu-prof, or into "
				     "PATH", needed[i]->item[0]);
			good = false;
		}
	if (r->command && !sibling_find_program(r->command[0], path)) {
		if (!strchr(r->command[0], '/'))
			errno = ENOENT;
		child_report_refusal(r->command[0], report);
		good = false;
	}
	return good;
}

bool plan_make(struct plan *plan, const struct plan_request *request, struct report *report)
{
	*plan = (struct plan){ .has_command = request->command,
			       .command_fd = request->command ? request->command_fd : -1,
			       .profile_fd = -1 };
	if (request->shows) {
		choose_files(plan, request);
		fill_show(plan, request);
	}
	if (request->records)
		fill_record(plan, request);
	return (!request->records || can_run(plan, request, report)) &&
	       (!request->shows || can_create(plan->profile, report));
}

struct word_list plan_words(const struct plan_request *r)
{
	struct word_list words = { .count = 0 };

	begin(&words, "pmu-prof", r);
	add_given(&words, r);
	return words;
}

/* Return WORDS for a shell, which starts the same tool by them. */
static char *line_of(const struct word_list *words)
{
	const char **word = mem_resize(NULL, (words->count + 1) * sizeof(*word)), *tool[2];
	char found[PATH_MAX];
	size_t first = sibling_words(words->item[0], found, tool);

	memcpy(word, tool, first * sizeof(*word));
	memcpy(word + first, words->item + 1, (words->count - 1) * sizeof(*word));
	char *line = words_quoted(words->count - 1 + first, word);
	free(word);
	return line;
}

char *plan_line(const struct plan *plan)
{
	const struct {
		const struct word_list *words;
		const char *after;
	} tools[] = {
		{ &plan->sample, " | " }, { &plan->symbolize, " | " }, { &plan->topprof, " && " },
		{ &plan->flame, "; " }, { &plan->symptoms, " >&2; " },
		{ &plan->top, " >&2" },
	};
	char *all = mem_text(plan->command_fd >= 0 ? "{ " : ""), end[32];

	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++) {
		if (tools[i].words->count == 0)
			continue;
		char *line = line_of(tools[i].words), *longer = join(all, line);
		free(all);
		all = join(longer, tools[i].after);
		free(longer);
		free(line);
	}
	if (plan->command_fd < 0)
		return all;
	snprintf(end, sizeof(end), "; } %d>&1", plan->command_fd);
	char *whole = join(all, end);
	free(all);
	return whole;
}
