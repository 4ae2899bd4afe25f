/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event - from the name of an event to what perf_event_open(2) takes.
 *
 *	struct event_options options = { 0 };
 *	struct event_list list = { 0 };
 *
 *	if (event_parse(&list, &options, "cycles:u,{branches,branch-misses}:S", &report))
 *		for (size_t i = 0; i < list.count; i++)
 *			... list.event[i].attr ...
 *	event_list_release(&list);
 *
 * The language is pmu-event(7).  A name means the same on every machine that
 * has the same /sys and CPU; nothing is opened to parse one.
 */
#pragma once
#include "base/arena.h"
#include "base/report.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/types.h>

enum { EVENT_PRECISE_MAX = 4 };	/* the highest precise_ip that opens: event_probe_precise() */

/* The type of an event of a PMU that this machine lacks, so that its number is not known. */
#define EVENT_TYPE_ABSENT UINT32_MAX

/* One event to open.  Its strings live as long as its list. */
struct event {
	const char *name;	/* canonical; parsed again, it gives the same type, config and
				   excludes ("cycles:u", "cpu_core/cycles/", "r1c0"),
				   unless the user named it by a name= term */
	struct perf_event_attr attr;	/* size, type, config*, exclude_*, precise_ip, pinned,
					   exclusive; sample_period, or freq and sample_freq;
					   :S adds to sample_type and read_format */
	uint32_t group;		/* events of one {group} share a number; 0: none */
	bool precise_max;	/* :P: event_probe_precise() finds attr.precise_ip */
	int inherit;		/* 1, -1: the terms inherit, no-inherit; 0: as the tool likes */
	bool named;		/* NAME is the user's own */
	bool weak;		/* :W: open it alone where the group does not fit */
	const char *filter;	/* of a tracepoint: the kernel drops what it does not match; NULL */
	const char *pmu;	/* the PMU in sysfs that counts it; NULL: any core's, or software */
	const int *cpu;		/* the CPUs it can be opened on, ascending; NULL: all */
	size_t cpus;		/* how many; 0: all */
	bool per_cpu;		/* it counts for a package or device, and for no process: open it
				   with pid -1, on each of CPU */
	const char *unit;	/* of its values: "count", "nanoseconds", or sysfs's ("Joules") */
	double scale;		/* a value times this is in UNIT; 1 for most */
	uint32_t floor;		/* the shortest period that is sane; 1: any */
	const char *base;	/* NAME without modifiers */
	const char *letters;	/* the modifiers of NAME ("u", "ppS") */
};

/* Zero-initialised: empty. */
struct event_list {
	struct event *event;	/* moves as it grows */
	size_t count;
	uint32_t groups;	/* the last number given to a group */
	struct arena arena;	/* its strings */
};

/* How to read names.  Zero-initialised: this machine, preset periods. */
struct event_options {
	const char *sysfs;	/* NULL: "/sys" */
	const char *tracefs;	/* NULL: where this machine has it */
	const char *model;	/* the libpfm4 PMU that names without one mean; NULL: this CPU's */
	uint64_t period;	/* of events without a period= or freq= term; 0: none given */
	uint64_t frequency;	/* samples per second, likewise; 0: none given */
	uint32_t max_rate;	/* samples per second the kernel allows; 0: ask it */
	uint8_t precise;	/* of events without :p or :P: 1..3, EVENT_PRECISE_MAX; 0: none */
	bool force;		/* allow periods below an event's floor */
};

/*
 * Add the events that TEXT names, a list of the language's events, to LIST.
 * False where TEXT is no such list: that has been reported, and LIST is as
 * it was.
 */
bool event_parse(struct event_list *list, const struct event_options *options, const char *text,
		 struct report *report);

/*
 * Give the events of LIST from FIRST on the FILTER, besides what they have.  NULL, or the
 * name of an event that is no tracepoint, and so takes none.
 */
const char *event_list_filter(struct event_list *list, size_t first, const char *filter);

/*
 * Leave out what is in LIST twice, but for groups, with a note: the kernel attributes the
 * samples of equal software events to one of them.
 */
void event_list_drop_equal(struct event_list *list, struct report *report);

void event_list_release(struct event_list *list);

/* perf_event_open(2), which libc lacks: a descriptor, or -1 and errno. */
int event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
	       unsigned long flags);

/* What stands in for event_open() in tests; CONTEXT is the caller's. */
typedef int event_opener(void *context, const struct perf_event_attr *attr);

/*
 * Find the highest precise_ip that opens here, sampling, and set it in EVENT.
 * OPEN makes the attempts (a descriptor, which is closed, or -1 and errno);
 * NULL: event_open() on this process.  The level, or -1 and errno: none opens.
 */
int event_probe_precise(struct event *event, event_opener *open, void *context);

/*
 * Can EVENT be opened here, counting and then sampling?  It is opened for
 * this process, or on one of its CPUs, and closed.  WHY (SIZE bytes) is "ok",
 * with the precise level that :P comes to; or why not, and what would help.
 */
bool event_check(const struct event *event, char *why, size_t size);

/*
 * The same for a tool that takes less where it cannot have all: while the kernel
 * refuses EVENT, change it by event_retreat() and try again.  LIST keeps its name.
 */
bool event_check_retreating(struct event_list *list, struct event *event, char *why, size_t size);

/* Why the kernel refused EVENT with ERROR (an errno), and what would help, into WHY. */
void event_explain(const struct event *event, int error, char *why, size_t size);

/* The same where it refused EVENT on the thread TID: its owner or its end may be the cause. */
void event_explain_task(const struct event *event, pid_t tid, int error, char *why, size_t size);

/*
 * What to try next where the kernel refused EVENT with ERROR: leave out the
 * kernel where that is forbidden (its name then has :u), let guests in where
 * the PMU can exclude nothing (IBS, msr, uncore).  True: EVENT is changed, open
 * it again; false: nothing helps.  LIST keeps the name.
 */
bool event_retreat(struct event_list *list, struct event *event, int error);

/*
 * The directory of this machine's tracepoints ("/sys/kernel/tracing/events")
 * into PATH.  False with errno set if it cannot be read.
 */
bool event_tracepoints_path(char *path, size_t size);
