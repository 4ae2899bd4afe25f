/* SPDX-License-Identifier: Apache-2.0 */
/* watch: when tools that write no files are started again, and when they are not. */
#include "serve/internal.h"
#include "tests/unit/tap.h"

#include <string.h>

static const char *still;	/* the tool that does not work */
static bool at_disk, drained;

const char *__wrap_work_watch(struct work *w, unsigned rounds, bool *waits);
bool __wrap_work_is_drained(const struct work *w);

const char *__wrap_work_watch(struct work *w, unsigned rounds, bool *waits)
{
	(void)w;
	(void)rounds;
	*waits = at_disk;
	return still;
}

bool __wrap_work_is_drained(const struct work *w)
{
	(void)w;
	return drained;
}

static struct watch watch;
static double now;
static char why[WATCH_WHY];

static void start(double interval)
{
	watch.interval = interval;
	watch.round = interval < 60 ? interval : 60;
	watch_start(&watch, now);
}

/* Let SECONDS pass.  Return after how many of them the tools are to be started again, or 0. */
static double passes(double seconds)
{
	for (double end = now + seconds, first = now; now < end; ) {
		now += watch.round;
		if (watch_look(&watch, NULL, now, why))
			return now - first;
	}
	return 0;
}

static void test_hung(void)
{
	start(1);
	still = "pmu-x";
	tap(passes(1) == 1 && !strcmp(why, "pmu-x does not work"), "a tool that hangs is named");
	start(1);
	at_disk = true;
	tap(passes(1000) == 0 && !strcmp(why, "pmu-x waits for a disk"),
	    "tools that wait for a disk would hang again, so they are left alone");
	watch_file(&watch, true);
	tap(passes(500) == 0 && !*why, "a slow disk causes no message");
	still = NULL;
	at_disk = false;
}

static void test_idle(void)
{
	drained = true;
	start(1);
	tap(passes(1000) == 0, "tools that have had no sample are left alone");
	watch_file(&watch, true);
	tap(passes(1000) == 14 && !strcmp(why, "no profile was written for 14 s, though the tools "
					       "run"),
	    "if there were samples, but no more come, the tools are started again");
	start(1);
	tap(passes(1000) == 0, "but only once");
	watch_file(&watch, true);
	tap(passes(80000) == 0, "what is sometimes idle is left alone, for a day");
	tap(passes(10000) > 0, "after that, once more");
	start(1);
	passes(2);
	watch_file(&watch, true);
	tap(passes(1000) == 14, "if samples come after a start, the start helped");
	start(1);
	passes(2);
	for (int i = 0; i < 100; i++) {
		watch_file(&watch, i > 0 && i < 50);	/* then no file can be written */
		passes(5);
	}
	tap(!*why, "nor if the last tool tries to write");
}

static void test_busy(void)
{
	drained = false;
	start(60);
	tap(passes(100000) == 0, "tools that have much work at their start are left alone");
	watch_file(&watch, true);
	tap(passes(10000) == 840, "later they have some time");
	start(60);
	watch_file(&watch, true);
	for (int i = 0; i < 4; i++) {
		now += 1e6;		/* nothing ran meanwhile */
		watch_look(&watch, NULL, now, why);
	}
	tap(watch.silence == 480 && !*why, "time in which the machine stands still does not count");
}

int main(void)
{
	test_hung();
	test_idle();
	test_busy();
	return tap_done();
}
