/* SPDX-License-Identifier: Apache-2.0 */
/* report: the limit of messages holds for an hour, after which they are counted and said again. */
#include "base/report.h"
#include "tests/unit/tap.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static time_t later;	/* s by which the monotonic clock is ahead of the kernel's */

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	int result = __real_clock_gettime(clock, now);

	if (clock == CLOCK_MONOTONIC)
		now->tv_sec += later;
	return result;
}

static int said;	/* file that stderr goes to */

/* Return whether WANTED has been printed since the last call. */
static bool has_said(const char *wanted)
{
	char text[4096];

	fflush(stderr);
	ssize_t size = pread(said, text, sizeof(text) - 1, 0);
	text[size > 0 ? size : 0] = '\0';
	if (ftruncate(said, 0) < 0)
		return false;
	if (!strcmp(text, wanted))
		return true;
	printf("# it has printed:\n%s", text);
	return false;
}

/* Report COUNT times that a write failed. */
static void fail(struct report *r, int count)
{
	for (int i = 0; i < count; i++)
		report_error(r, "cannot write file %d", i);
}

static void test_hours(void)
{
	struct report r = { .tool = "t" };

	fail(&r, 10);
	report_note(&r, "all is full");
	tap(has_said("t: cannot write file 0\nt: cannot write file 1\nt: cannot write file 2\n"
		     "t: all is full\n"), "three messages of a kind are printed");
	later += 3500;
	fail(&r, 2);
	report_check_hour(&r);
	tap(has_said(""), "no more are printed in that hour");
	later += 101;
	fail(&r, 1);
	tap(has_said("t: 9 more within an hour like this: cannot write file 0\n"
		     "t: cannot write file 0\n"), "after it they are counted, and printed again");
	fail(&r, 5);
	has_said("t: cannot write file 0\nt: cannot write file 1\n");
	later += 3600;
	report_check_hour(&r);
	tap(has_said("t: 3 more within an hour like this: cannot write file 0\n"),
	    "the counts are printed although no message follows");
	later += 36000;
	report_check_hour(&r);
	report_note(&r, "all is full");
	tap(has_said("t: all is full\n"), "an hour without messages is not mentioned");
	fail(&r, 4);
	tap(report_finish(&r) == 1, "the status is that of all hours");
	tap(has_said("t: cannot write file 0\nt: cannot write file 1\nt: cannot write file 2\n"
		     "t: 1 more like this: cannot write file 0\n"), "the end counts its own hour");
}

static void test_rarely(void)
{
	struct report r = { .tool = "t" };

	for (int hour = 0; hour < 2; hour++) {
		for (int i = 0; i < 10; i++)
			report_rarely(&r, "limit of %d reached", 7);
		tap(has_said("t: limit of 7 reached\n"), "a rare note is printed once an hour");
		later += 3600;
	}
	tap(report_finish(&r) == 0 && has_said(""), "and the others are not counted");
}

static void test_once(void)
{
	struct report r = { .tool = "t" };
	const struct { uint64_t number; const char *said; } calls[] = {
		{ 0, "" }, { 2, "t: left out\n" }, { 2, "" }, { 3, "" },
	};
	bool reported = false;

	for (int i = 0; i < 3; i++) {
		report_once(&r, "no addresses of '%d'", i);
		later += 3600;
	}
	tap(has_said("t: no addresses of '0'\n"), "a note is printed once, not once an hour");
	for (int hour = 0; hour < 2; hour++) {
		for (int i = 0; i < 4; i++) {
			report_more(&r, calls[i].number + 2 * (uint64_t)hour, "left out");
			tap(has_said(calls[i].said), "a note follows when more was left out, but "
			    "once an hour");
		}
		later += 3600;
	}
	tap(report_finish(&r) == 0 && has_said(""), "and the others are not counted");
	bool first = report_first(&reported), second = report_first(&reported);
	tap(first && !second && reported, "a flag of an object is the first once");
}

static void test_quiet(void)
{
	struct report r = { .tool = "t", .quiet = true };

	fail(&r, 10);
	later += 3600;
	fail(&r, 10);
	tap(report_finish(&r) == 1 && has_said(""), "with -q nothing is printed, counts neither");
}

int main(void)
{
	int terminal = dup(STDERR_FILENO);

	said = memfd_create("messages", MFD_CLOEXEC);
	if (said < 0 || dup2(said, STDERR_FILENO) < 0)
		return 1;
	fcntl(STDERR_FILENO, F_SETFL, O_APPEND);
	test_hours();
	test_rarely();
	test_once();
	test_quiet();
	dup2(terminal, STDERR_FILENO);
	return tap_done();
}
