/* SPDX-License-Identifier: Apache-2.0 */
#include "base/progress.h"
#include "base/clock.h"
#include "base/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND ((uint64_t)1000000000)	/* ns */

static const char *tool;	/* NULL: nothing is shown */
static uint64_t begun, due;	/* start of the work and time of the next drawing: CLOCK_MONOTONIC,
				   ns */
static bool is_shown;
static uint64_t runs_done, run_begun;	/* number of runs, and when the current one began, ns */

void progress_allow(const struct report *report)
{
	if (report->quiet || !terminal_can_erase(STDERR_FILENO))
		return;
	tool = report->tool;
	begun = monotonic_ns();
	due = begun + 2 * SECOND;
	atexit(progress_erase);
}

bool progress_is_allowed(void)
{
	return tool != NULL;
}

/* Return whether it is time to draw the line. */
static bool is_due(uint64_t now)
{
	if (now < due)
		return false;
	due = now + SECOND / 4;
	return !terminal_is_taken(STDERR_FILENO);
}

static void draw(const char *text)
{
	char line[160];

	snprintf(line, sizeof(line), "%s: %s", tool, text);
	/* If the terminal cannot be written to, show no progress. */
	if (!terminal_draw_line(STDERR_FILENO, line))
		tool = NULL;
	is_shown = true;
}

/* Write how long the rest of ALL will take: DONE of it took NS.  "" if nothing is done yet. */
static void time_left(char *text, size_t size, double ns, double done, double all)
{
	double seconds = done > 0 ? ns * (all - done) / done / (double)SECOND : 0;
	uint64_t left = seconds < 1e6 ? (uint64_t)seconds : 1000000;

	*text = '\0';
	if (done > 0)
		snprintf(text, size, ", %" PRIu64 ":%02" PRIu64 " left", left / 60, left % 60);
}

void progress_reading(int fd)
{
	uint64_t now = tool ? monotonic_ns() : 0;
	char left[48], text[120];
	struct stat st;

	if (!tool || !is_due(now))
		return;
	off_t at = lseek(fd, 0, SEEK_CUR);
	if (at < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || at >= st.st_size)
		return;
	time_left(left, sizeof(left), (double)(now - begun), (double)at, (double)st.st_size);
	snprintf(text, sizeof(text), "%.0f %% of %.1f MB read%s",
		 100 * (double)at / (double)st.st_size, (double)st.st_size / 1e6, left);
	draw(text);
}

void progress_runs(uint64_t done, uint64_t all)
{
	uint64_t now = tool ? monotonic_ns() : 0;
	char left[48], text[120];

	if (tool && done != runs_done) {
		runs_done = done;
		run_begun = now;
	}
	if (!tool || !is_due(now))
		return;
	/* count the current run by the time that it has taken, up to the mean of the others */
	double ns = (double)(run_begun - begun), mean = done ? ns / (double)done : 0;
	double part = mean > 0 ? (double)(now - run_begun) / mean : 0;
	part = part < 1 ? part : 1;
	time_left(left, sizeof(left), ns + part * mean, (double)done + part, (double)all);
	snprintf(text, sizeof(text), "run %" PRIu64 " of %" PRIu64 "%s", done + 1, all, left);
	draw(text);
}

void progress_erase(void)
{
	if (is_shown && !terminal_erase_line(STDERR_FILENO))
		tool = NULL;
	is_shown = false;
}
