/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-prof - profile a command or process: a pprof profile, a page and a table.
 *
 * Runs pmu-sample, pmu-symbolize and pmu-topprof joined by pipes, then pmu-flame and pmu-top.
 * Writes NAME.pb.gz and NAME.html; the table goes to stderr.  With --host, the pipe runs on another
 * machine, where the agent of lib/host starts this program, too.
 */
#include "base/sibling.h"
#include "compose/pipeline.h"
#include "compose/view.h"
#include "host/agent.h"
#include "host/host.h"
#include "pprof/decode.h"
#include "tool/go-flags.h"
#include "tool/sample-options.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { VIEW_TOP, VIEW_HTML, VIEW_PPROF, VIEW_NONE };
static const char *const views[] = {
	[VIEW_TOP] = "top", [VIEW_HTML] = "html", [VIEW_PPROF] = "pprof", [VIEW_NONE] = "none", NULL
};

static int view = VIEW_TOP;
static bool dry_run, with_source = true;
static const char *name;
static struct host_choice there;
static struct agent agent;
static struct sample_choices chosen = {
	.buffer = SAMPLE_BUFFER_DEFAULT, .filters = { .beside = &chosen.names },
	.run = { .target = &chosen.target },
};

#define ANOTHER_MACHINE "On another machine"

static const struct command_option options[] = {
	{ 'o', "output", "NAME", "write NAME.pb.gz and NAME.html", SETS_TEXT(name) },
	{ 0, "source", "[YES|NO]", "put source lines into the page; for root: no",
	  SETS_YES_NO(with_source) },
	{ 0, "view", "HOW", "how to show the result",
	  SETS_CHOICE(view, views) },
	{ 0, "host", "USER@HOST", "profile on another machine, by ssh; show the result here",
	  SETS_TEXT(there.host), .excludes = "dry-run", .group = ANOTHER_MACHINE },
	{ 0, "host-binary", "FILE", "the static pmukit to copy there", SETS_TEXT(there.binary),
	  .needs = "host", .group = ANOTHER_MACHINE },
	{ 0, "host-dir", "DIR", "where to put it there, if not into ~/.cache or /tmp",
	  SETS_TEXT(there.directory), .needs = "host", .group = ANOTHER_MACHINE },
	{ 0, "dry-run", NULL, "print the pipe for a shell, and run nothing", SETS_FLAG(dry_run) },
	{ 0 }
};

static const struct command_option sample_options[] = { SAMPLE_OPTIONS(chosen), { 0 } };

static const struct command command = {
	.name = "pmu-prof",
	.purpose = "profile a command or process: a pprof profile, a page and a table",
	.operands = "{-p PID | -a | ... | [--] COMMAND [ARG]...}",
	.options = options,
	.passed = sample_options,
	.passed_to = "pmu-sample(1)",
	.runs_command = true,
	.spellings = sample_spellings,
};

/* Return whether pmu-sample can unwind stacks: it has the same options as we pass on. */
static bool can_unwind(void)
{
	for (const struct command_option *o = sample_options; o->name; o++)
		if (!strcmp(o->name, "unwind"))
			return true;
	return false;
}

static void check_target(const struct plan_request *r)
{
	int kinds = sample_target_kinds(&chosen);

	if (!kinds && !chosen.target.cpus.count && !r->command)
		command_misused(&command, "nothing to profile: give a command or -p PID");
	if (kinds > 1)
		command_misused(&command, "more than one kind of target");
}

/* Refuse a NAME whose files would be hidden, or in no directory. */
static void check_name(void)
{
	const char *last = name && strrchr(name, '/') ? strrchr(name, '/') + 1 : name;

	if (last && (!*last || !strcmp(last, ".") || !strcmp(last, "..")))
		command_misused(&command, "--output needs the name of files, not '%s'", name);
}

/*
 * Return whether the profile has samples; a failure is reported.  Set *IS_EMPTY to whether it does
 * not even have an event: pmu-sample could not start, and has reported why.
 */
static bool has_samples(const char *profile, bool *is_empty, struct report *report)
{
	struct decoded *d = decoded_read(profile, NULL, report);
	bool has = d && d->samples > 0;

	*is_empty = d && d->types == 0;
	decoded_free(d);
	return has;
}

/* Report that there are no samples, unless pmu-sample has said why. */
static void explain_nothing(bool was_stopped, bool is_empty, struct report *report)
{
	if (was_stopped)
		report_error(report, "stopped before there was a sample: there is no profile");
	else if (is_empty)
		report_error(report, "nothing was sampled, so there is no profile");
	else if (chosen.run.flight_recorder)
		report_error(report, "no samples: let it run longer, or sample more often "
			     "(-F 10000)");
}

/* Make the page.  Return whether that succeeded. */
static bool make_page(struct pipeline *p, const struct plan *plan, struct report *report)
{
	char path[PATH_MAX];

	if (sibling_find("pmu-flame", path))
		return pipeline_show(p, &plan->flame);
	report_note(report, "there is no page: 'pmu-flame' is neither beside pmu-prof nor in PATH");
	return false;
}

/* Print the ADDRESS of the page (NULL: none), and a command for the profile. */
static void print_links(const struct plan *plan, const char *address)
{
	char *line = words_quoted(1, (const char *[]){ plan->profile });

	fprintf(stderr, "\n");
	if (address)
		fprintf(stderr, "%s\n", address);
	fprintf(stderr, "go tool pprof -http : %s\n", line);
	free(line);
}

static void show(struct pipeline *p, const struct plan *plan, struct report *report)
{
	bool has_page = make_page(p, plan, report);
	char *address = has_page ? view_address(plan->page) : NULL;
	char path[PATH_MAX];

	if (!report->quiet && (view == VIEW_TOP || view == VIEW_HTML)) {
		if (sibling_find("pmu-top", path)) {
			if (plan->symptoms.count > 0)
				pipeline_show(p, &plan->symptoms);
			pipeline_show(p, &plan->top);
		} else {
			report_note(report, "there is no table: 'pmu-top' is neither beside "
				    "pmu-prof nor in PATH");
		}
	}
	if (plan->note)
		report_note(report, "%s", plan->note);
	if (view == VIEW_HTML && address)
		view_open(address, report);
	if (!report->quiet)
		print_links(plan, address);
	free(address);
}

/* A recording has ended as E says: show it.  Return the exit status. */
static int finish(struct pipeline *p, const struct plan *plan, const struct host_ending *e,
		  struct report *report)
{
	bool has_failed = e->has_failed || report->status, any_sample = false, is_empty = true;
	int status = e->status;

	if (e->has_profile)
		any_sample = has_samples(plan->profile, &is_empty, report);
	if (any_sample)
		show(p, plan, report);
	if (has_failed || report->status)
		status = 1;
	if (!has_failed && report->status == 0 && !any_sample) {
		if (!is_empty || !status)	/* else pmu-sample has said why */
			explain_nothing(e->was_stopped, is_empty, report);
		status = status ? status : 1;
	}
	if (e->has_profile && !any_sample)
		unlink(plan->profile);
	if (any_sample && view == VIEW_PPROF) {
		pipeline_free(p);
		p = NULL;
		view_pprof(plan->profile, report);
	}
	pipeline_free(p);
	return status;
}

/* Record by P, the pipeline of PLAN. */
static struct host_ending record(struct pipeline *p, const struct plan *plan,
				 struct report *report)
{
	struct host_ending e = { .status = pipeline_record(p), .note = plan->note };

	if (plan->why)
		report_summary(report, "%s", plan->why);
	if (plan->labels)
		report_summary(report, "%s", plan->labels);
	e.has_failed = report->status;
	e.has_profile = pipeline_has_profile(p);
	e.was_stopped = pipeline_was_stopped(p);
	return e;
}

/* Say how the recording ended to the other machine, where it is shown. */
static int send_ending(const struct host_ending *e)
{
	char status[16];

	snprintf(status, sizeof(status), "%d", e->status);
	agent_say(&agent, "status", status);
	if (e->has_failed)
		agent_say(&agent, "failed", "");
	if (e->has_profile)
		agent_say(&agent, "made", "");
	if (e->was_stopped)
		agent_say(&agent, "stopped", "");
	if (e->note)
		agent_say(&agent, "note", e->note);
	return e->has_failed ? 1 : e->status;
}

/* Run PLAN.  Return the exit status: 1 if a tool failed, or the command's. */
static int run(const struct plan *plan, struct report *report)
{
	struct pipeline *p = pipeline_new(plan, report);

	if (!p)
		return 1;
	const struct host_ending e = record(p, plan, report);
	if (!agent.profile)
		return finish(p, plan, &e, report);
	pipeline_free(p);
	return send_ending(&e);
}

/* Run what REQUEST asks for on another machine, and show it here.  Return the exit status. */
static int run_there(struct plan_request *request, struct report *report)
{
	static struct word_list words;	/* words live as long as the program */
	static struct plan first, plan;
	static struct host_ending e = { .has_failed = true };

	words = plan_words(request);
	if (!plan_make(&first, request, report))	/* can the results be written? */
		return 1;
	struct host *h = host_connect(&there, report);
	request->target = h ? host_start(h, &words, request->command) : NULL;
	bool good = request->target && plan_make(&plan, request, report);
	if (good)
		e = host_record(h, plan.profile);
	host_close(h);
	struct pipeline *p = good ? pipeline_new(&plan, report) : NULL;
	plan.note = e.note;
	return p ? finish(p, &plan, &e, report) : 1;
}

static void print_line(const struct plan *plan)
{
	char *line = plan_line(plan);

	puts(line);
	free(line);
}

/* If the command of R is "go test", say how to profile the tests alone, by these WORDS. */
static void explain_go_test(const struct plan_request *r, char **word, int count,
			    const struct go_flags *flags, struct report *report)
{
	if (count > 0 && !strcmp(word[count - 1], "--"))
		count--;
	char *line = go_flags_exec_line(word, count, flags, r->command);

	if (line)
		report_note(report, "this profiles go's compiler and linker, too; to profile only "
			    "the tests: %s", line);
	free(line);
}

/* Check the options for another machine. */
static void check_host(void)
{
	const char *why = there.host ? host_refused(there.host) : NULL;

	if (why)
		command_misused(&command, "--host: '%s' %s", there.host, why);
	if (there.directory && !host_directory_is_good(there.directory))
		command_misused(&command, "--host-dir takes a path without control characters");
}

int main(int argc, char **argv)
{
	struct report report;
	struct go_flags flags;
	struct plan plan;
	const char *wrong;
	int status = 0;

	char **words = agent_begin(&agent, &argc, argv, &status);
	if (!words)
		return status;
	words = go_flags_translate(&command, &argc, words, &flags, &wrong);
	int first = command_begin(&command, &report, argc, words);
	if (wrong)
		command_misused(&command, "%s takes a value%s", wrong, strstr(wrong, "config") ?
				" such as '{event=cycles rate=100000}'" : "");
	if (flags.other)
		command_misused(&command, "a run makes one profile: give -cpuprofile or "
				"-perfprofile, and several events as -e A,B");
	struct plan_request request = {
		.chosen = &chosen, .passed = command_passed(),
		.command = first < argc ? words + first : NULL,
		.name = name, .profile = flags.file, .can_unwind = can_unwind(),
		.records = !there.host, .shows = !agent.profile, .profile_fd = agent.profile,
		.command_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3),
		.source = with_source && ((geteuid() != 0 && !there.host) ||
					  command_given("source")),
		.quiet = report.quiet, .verbose = report.verbose,
		.progress = first == argc && !report.quiet && isatty(STDERR_FILENO),
	};
	check_target(&request);
	check_name();
	check_host();
	if (there.host) {
		explain_go_test(&request, words + 1, first - 1, &flags, &report);
		status = run_there(&request, &report);
	} else if (plan_make(&plan, &request, &report)) {
		explain_go_test(&request, words + 1, first - 1, &flags, &report);
		if (agent.profile)
			agent_say(&agent, "target", plan_target(&request));
		if (dry_run)
			print_line(&plan);
		else
			status = run(&plan, &report);
	}
	int own = command_end(&report);
	return status ? status : own;
}
