/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long events should have counted, on CPUs of two kinds (Intel's cpu_core and cpu_atom,
 * Arm's big.LITTLE): an event of either kind is open on its CPUs only, while the kernel says of
 * all of them that they were enabled as long as their task ran, wherever that was.
 */
#include "counters/counters.h"
#include "tests/unit/tap.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CPUS = 4, MS = 1000000 };	/* 0 and 1 are of one kind, 2 and 3 of the other */
enum { TASKS = 3 };
enum { CORE, ATOM, OTHER_CORE, CLOCK, EVENTS };

static struct event event[EVENTS];
static struct event_list list = { .event = event, .count = EVENTS };
static struct counter counter[32];
static struct counters counters = { .events = &list, .cpus = CPUS, .all_cpus = true,
				    .counter = counter };
static struct counters_total total[EVENTS];
static bool twice[TASKS * EVENTS];

/* EVENT of TASK on CPU has counted COUNT; it was enabled and has run for so many ms. */
static void counts(uint32_t task, uint32_t which, uint32_t cpu, uint64_t count, uint64_t enabled,
		   uint64_t running)
{
	uint64_t words[4] = { count, enabled * MS, running * MS, counters.count };
	int fd = memfd_create("counter", MFD_CLOEXEC);

	if (fd < 0 || write(fd, words, sizeof(words)) != sizeof(words) || lseek(fd, 0, SEEK_SET))
		_exit(1);
	counter[counters.count++] = (struct counter){ .fd = fd, .event = which, .cpu = cpu,
						      .task = task };
}

/*
 * Return the count of CORE in what the kernel says of its group: WORDS words, with a value and an
 * id of each event, and with its losses if LOST.  CORE is the second event; none of more than 12
 * words.
 */
static uint64_t read_group(size_t words, bool lost)
{
	uint64_t id = 7, all[256] = { 3, MS, MS }, format = event[CORE].attr.read_format;
	struct ids ids[EVENTS] = { [CORE] = { .id = &id, .count = 1 } };
	size_t step = lost ? 3 : 2, at = 3 + step;
	int fd = memfd_create("group", MFD_CLOEXEC);

	for (size_t i = 3; i < 256; i++)
		all[i] = 1000 + i;
	all[at] = 42;
	all[at + 1] = words > 12 ? 8 : id;
	if (fd < 0 || write(fd, all, words * 8) != (ssize_t)words * 8 || lseek(fd, 0, SEEK_SET))
		_exit(1);
	event[CORE].attr.read_format |= PERF_FORMAT_GROUP | (lost ? PERF_FORMAT_LOST : 0);
	counters.ids = ids;
	counter[counters.count++] = (struct counter){ .fd = fd, .event = CORE };
	counters_totals(&counters, NULL, 0, total);
	close(fd);
	counters.count = 0;
	counters.ids = NULL;
	event[CORE].attr.read_format = format;
	return total[CORE].count;
}

static bool is(uint32_t which, uint64_t count, uint64_t enabled, uint64_t running)
{
	const struct counters_total *t = &total[which];

	if (t->count == count && t->enabled == enabled * MS && t->running == running * MS)
		return true;
	printf("# event %u: %lu counted, enabled %lu ms, ran %lu ms\n", which, t->count,
	       t->enabled / MS, t->running / MS);
	return false;
}

/* What COUNTS() said, in TOTAL; then nothing is open. */
static void sum(void)
{
	counters_totals(&counters, twice, TASKS, total);
	for (size_t i = 0; i < counters.count; i++)
		close(counter[i].fd);
	counters.count = 0;
}

int main(void)
{
	for (int i = 0; i < EVENTS; i++)
		event[i].attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
					    PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
	event[CLOCK].attr.type = PERF_TYPE_SOFTWARE;

	/* A task that ran for 100 ms: 30, 20, 40 and 10 on the four CPUs. */
	counts(0, CORE, 0, 300, 100, 30);
	counts(0, CORE, 1, 200, 100, 20);
	counts(0, ATOM, 2, 80, 100, 40);
	counts(0, ATOM, 3, 20, 100, 10);
	sum();
	tap(is(CORE, 500, 50, 50) && is(ATOM, 100, 50, 50), "each kind for the time on its CPUs");

	/* The same, where two events share the counters of one kind. */
	counts(0, CORE, 0, 150, 100, 15);
	counts(0, OTHER_CORE, 0, 15, 100, 15);
	counts(0, CLOCK, 0, 30, 100, 30);
	counts(0, CORE, 1, 100, 100, 10);
	counts(0, OTHER_CORE, 1, 10, 100, 10);
	counts(0, CLOCK, 1, 20, 100, 20);
	counts(0, ATOM, 2, 80, 100, 40);
	counts(0, CLOCK, 2, 40, 100, 40);
	counts(0, ATOM, 3, 20, 100, 10);
	counts(0, CLOCK, 3, 10, 100, 10);
	sum();
	tap(is(CORE, 250, 50, 25) && is(OTHER_CORE, 25, 50, 25) && is(ATOM, 100, 50, 50) &&
	    is(CLOCK, 100, 100, 100), "half of the time on its CPUs, as the clock knows");

	/* Two tasks, each on one kind, the first only on one CPU of it. */
	counts(0, CORE, 0, 700, 70, 70);
	counts(0, CORE, 1, 0, 70, 0);
	counts(0, ATOM, 2, 0, 70, 0);
	counts(0, ATOM, 3, 0, 70, 0);
	counts(1, CORE, 0, 0, 50, 0);
	counts(1, CORE, 1, 0, 50, 0);
	counts(1, ATOM, 2, 50, 50, 25);
	counts(1, ATOM, 3, 50, 50, 25);
	sum();
	tap(is(CORE, 700, 70, 70) && is(ATOM, 100, 50, 50), "two tasks, each on one kind");

	/* The task ran on CPU 1 only.  The clock of CPU 0 was opened 30 ms before the others. */
	counts(0, CLOCK, 0, 0, 100, 0);
	for (uint32_t cpu = 1; cpu < CPUS; cpu++)
		counts(0, CLOCK, cpu, 70 * (cpu == 1), 70, 70 * (cpu == 1));
	sum();
	tap(is(CLOCK, 70, 70, 70), "what needs no counter is enabled only while it runs");

	/* On all CPUs the task's time is known, whatever the counters did. */
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		counts(0, CORE, cpu, 10, 100, 5);
		counts(0, OTHER_CORE, cpu, 1, 100, 5);
	}
	sum();
	tap(is(CORE, 40, 100, 20) && is(OTHER_CORE, 4, 100, 20), "events open on all CPUs");

	/* Without an event that needs no counter it is not known, and so nothing is scaled. */
	counts(0, CORE, 0, 150, 100, 15);
	counts(0, OTHER_CORE, 0, 15, 100, 15);
	sum();
	tap(is(CORE, 150, 15, 15) && is(OTHER_CORE, 15, 15, 15),
	    "not known: the longest that one ran there");

	/*
	 * Before Linux 6.2 a clock's time includes the removal of the other events from threads
	 * that end, here 8 ms.  Events that did not share counters, or never ran, are not scaled.
	 */
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		counts(0, CORE, cpu, 100, 100, 25);
		counts(0, OTHER_CORE, cpu, 0, 0, 0);
		counts(0, CLOCK, cpu, 27, 108, 27);
	}
	sum();
	tap(is(CORE, 400, 100, 100) && is(OTHER_CORE, 0, 100, 0) && is(CLOCK, 108, 108, 108),
	    "what did not share counters has run all the time");

	/* Dead threads add no time to an event that was off at their end: the clock's is right. */
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		counts(0, CORE, cpu, 60, 60, 15);
		counts(0, OTHER_CORE, cpu, 40, 40, 10);
		counts(0, CLOCK, cpu, 27, 108, 27);
	}
	sum();
	tap(is(CORE, 240, 108, 60) && is(OTHER_CORE, 160, 108, 40),
	    "what shared counters has run for a part of the clock's time");

	/* The counters may be in use by others, such as another session. */
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		counts(0, CORE, cpu, 20, 100, 5);
		counts(0, CLOCK, cpu, 27, 108, 27);
	}
	sum();
	tap(is(CORE, 80, 108, 20), "one event that shared its counter with other sessions");

	/* Tasks 1 and 2 were found late; of task 1, one event is known to be there twice. */
	for (uint32_t task = 0; task < TASKS; task++) {
		counts(task, CORE, 0, 100 + task, 10, 10);
		counts(task, CLOCK, 0, 10 + task, 10, 10);
	}
	counters.doubtful = 1;
	twice[EVENTS + CORE] = true;
	sum();
	tap(total[CORE].count == 303 && total[CORE].twice == 101 && total[CORE].in_doubt == 102,
	    "an event of a task that is known to be there twice, and one that may be");
	tap(total[CLOCK].count == 33 && total[CLOCK].twice == 0 && total[CLOCK].in_doubt == 23,
	    "another event of these tasks, which both may be there twice");
	counters.doubtful = 0;
	twice[EVENTS + CORE] = false;
	tap(read_group(7, false) == 42 && read_group(9, true) == 42, "a member of a group");
	tap(read_group(6, false) == 0 && read_group(8, true) == 0 &&
	    read_group(256, false) == 0 && read_group(256, true) == 0,
	    "a member that the kernel leaves out has no count, and nothing after the end is read");
	return tap_done();
}
