/* SPDX-License-Identifier: Apache-2.0 */
#include "compose/profiled-runs.h"
#include "base/arena.h"
#include "base/progress.h"
#include "base/random.h"
#include "base/sibling.h"
#include "base/signals.h"
#include "base/word-list.h"
#include "base/write.h"
#include "compose/turns.h"
#include "linux/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const sides[2] = { "base", "after" };

static char *path_of(const struct profiled_runs *t, int side, size_t run, const char *ending)
{
	char *path;

	if (asprintf(&path, "%s/%s-%zu%s", t->directory, sides[side], run + 1, ending) < 0)
		abort();
	return path;
}

static bool make_directory(struct profiled_runs *t, const char *directory, struct report *report)
{
	const char *parent = getenv("TMPDIR");

	t->is_ours = !directory;
	if (directory) {
		t->directory = mem_text(directory);
		if (mkdir(directory, 0777) == 0 || errno == EEXIST)
			return true;
		report_failure(report, "cannot create '%s'", directory);
		return false;
	}
	if (asprintf(&t->directory, "%s/pmu-diff-XXXXXX", parent && *parent ? parent : "/tmp") < 0)
		abort();
	if (mkdtemp(t->directory))
		return true;
	report_failure(report, "cannot create a directory in '%s'",
		       parent && *parent ? parent : "/tmp");
	t->is_ours = false;
	return false;
}

/* Pass on what a command has written to FROM.  Return false at its end. */
static bool pass_on(struct profiled_runs *t, int from)
{
	char part[1 << 12];
	ssize_t n = read(from, part, sizeof(part));

	if (n <= 0)
		return n < 0 && errno == EINTR;
	progress_erase();
	t->is_mid_line = part[n - 1] != '\n';
	return write_whole(STDERR_FILENO, part, (size_t)n) == 0;
}

/*
 * Until PROF ends, pass on its output from FROM, and show that DONE runs have ended.  Programs that
 * the command leaves running may keep FROM open.
 */
static void watch(struct profiled_runs *t, const struct sibling *prof, int from, size_t done)
{
	enum { STEP_MS = 100 };
	struct pollfd poll_on = { .fd = from, .events = POLLIN };
	bool more = true, ended = false;

	while (more && !ended) {
		ended = proc_child_has_ended(prof->pid);
		while (more && poll(&poll_on, 1, ended ? 0 : STEP_MS) > 0)
			more = pass_on(t, from);
		if (!t->is_mid_line)	/* a prompt, perhaps: it stays */
			progress_runs(done, 2 * t->count);
	}
	progress_erase();
}

/*
 * Run ARGV.  Its output goes to stderr, so that it does not mix with the comparison.  If stderr
 * shows how many runs have ended, the output comes through a pipe, so that it does not mix with
 * that, either.
 */
static void run_program(struct profiled_runs *t, char *const *argv, size_t done,
			struct report *report)
{
	struct sibling prof = { 0 };
	struct sibling_how how = { .in = -1, .out = STDERR_FILENO };
	int ends[2];
	bool is_watched = progress_is_allowed() && pipe2(ends, O_CLOEXEC) == 0;

	if (is_watched)
		how.out = how.err = ends[1];
	bool runs = sibling_run(&prof, argv, &how, report) >= 0;
	if (is_watched)
		close(ends[1]);
	if (is_watched && runs)
		watch(t, &prof, ends[0], done);
	if (is_watched)
		close(ends[0]);
	if (runs)
		sibling_end(&prof, false, report);
}

/* Report that a run of SIDE has failed, and how to see why: pmu-prof was quiet. */
static void report_failed(const struct profiled_runs *t, int side, size_t run)
{
	const char *const prof[] = { "pmu-prof", t->waits ? "--waits" : "--", "sh", "-c",
				     t->command[side] };
	char *line = words_quoted(sizeof(prof) / sizeof(*prof), prof);
	bool has_profile = access(t->profile[side][run], F_OK) == 0;

	report_error(t->report, "no comparison: run %zu of '%s' %s; to see why: %s", run + 1,
		     sides[side], has_profile ? "failed" : "has no profile: it was too short for "
		     "a sample, or failed", line);
	free(line);
}

/* Profile command OF once, after DONE other runs. */
static bool run_once(void *runs, size_t of, size_t run, size_t done)
{
	struct profiled_runs *t = runs;
	struct report *report = t->report;
	int side = (int)of, before = report->status;
	char *name = path_of(t, side, run, ""), *command = t->command[side];
	/* with and without "--", the options end before "sh" */
	char *argv[] = { (char *)(uintptr_t)"pmu-prof", (char *)(uintptr_t)"-q",
			 (char *)(uintptr_t)"--view=none", (char *)(uintptr_t)"-o", name,
			 (char *)(uintptr_t)(t->waits ? "--waits" : "--"),
			 (char *)(uintptr_t)"sh", (char *)(uintptr_t)"-c", command, NULL };

	t->profile[side][run] = path_of(t, side, run, ".pb.gz");
	run_program(t, argv, done, report);
	free(name);
	if (is_stopped(t->stop))
		report_error(report, "stopped in run %zu of '%s'", run + 1, sides[side]);
	else if (report->status != before)
		report_failed(t, side, run);
	return report->status == before;
}

bool profiled_runs_make(struct profiled_runs *t, char *const command[2], size_t count,
			const char *directory, const volatile sig_atomic_t *stop,
			struct report *report)
{
	const struct turns turns = { .commands = 2, .count = count, .seed = random_seed() };

	*t = (struct profiled_runs){ .waits = t->waits, .command = command, .count = count,
				     .stop = stop, .report = report };
	for (int side = 0; side < 2; side++)
		t->profile[side] = mem_zeroed(count, sizeof(*t->profile[side]));
	return make_directory(t, directory, report) && turns_run(&turns, run_once, t);
}

void profiled_runs_release(struct profiled_runs *t)
{
	for (int side = 0; side < 2; side++) {
		for (size_t run = 0; t->profile[side] && run < t->count; run++) {
			if (t->is_ours && t->profile[side][run]) {
				char *page = path_of(t, side, run, ".html");
				unlink(page);
				unlink(t->profile[side][run]);
				free(page);
			}
			free(t->profile[side][run]);
		}
		free(t->profile[side]);
	}
	if (t->is_ours)
		rmdir(t->directory);
	free(t->directory);
	*t = (struct profiled_runs){ .count = 0 };
}
