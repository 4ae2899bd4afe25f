/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event - turns the name of an event into arguments of perf_event_open(2).
 *
 *	struct event_options options = { 0 };
 *	struct event_list list = { 0 };
 *
 *	if (event_parse(&list, &options, "cycles:u,{branches,branch-misses}:S", &report))
 *		for (size_t i = 0; i < list.count; i++)
 *			... list.event[i].attr ...
 *	event_list_release(&list);
 *
 * pmu-event(7) describes the language.  Parsing opens no event: a name means the same on all
 * machines with the same CPU and /sys.
 */
#pragma once
#include "base/arena.h"
#include "base/report.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/types.h>

/* attr.type of an event whose PMU this machine does not have. */
#define EVENT_TYPE_ABSENT UINT32_MAX

/* One event to open.  Its strings live as long as its list. */
struct event {
	const char *name;	/* canonical name ("cycles:u", "cpu_core/cycles/", "r1c0"): parsing
				   it again gives the same type, config and excludes;
				   or the name in a name= term */
	/*
	 * This module sets size, type, config*, bp_*, exclude_*, precise_ip, pinned, exclusive,
	 * branch_sample_type, and sample_period, or freq and sample_freq.  counters/settings.h sets
	 * all other fields.  Both add bits to sample_type and read_format.
	 */
	struct perf_event_attr attr;
	uint16_t max_stack;	/* of its max-stack= term, for sample_max_stack; 0: not given */
	uint32_t group;		/* number of its {group}; 0: none */
	bool precise_max;	/* :P: event_probe_precise() will set attr.precise_ip */
	int inherit;		/* 1: inherit term; -1: no-inherit term; 0: the tool decides */
	bool named;		/* NAME comes from a name= term */
	bool after_leader;	/* not sampled, and opened only in the group of its leader, which
				   is not sampled, either */
	uint32_t slots;		/* of "topdown" on Arm: slots in a cycle; 0: not known */
	bool weak;		/* :W: open it alone if the group does not fit the counters */
	const char *filter;	/* filter expression of a tracepoint, for the kernel; or NULL */
	const char *pmu;	/* name of its PMU in sysfs; NULL: any core PMU, or software */
	const int *cpu;		/* CPUs it can be opened on, ascending; NULL: all */
	size_t cpus;		/* number of these CPUs; 0: all */
	bool per_cpu;		/* its PMU counts for a package or device, not for a process: open
				   it with pid -1 on each of CPU */
	const char *unit;	/* unit of scaled values: "count", "nanoseconds", or sysfs's
				   ("Joules") */
	double scale;		/* factor from a count to UNIT; mostly 1 */
	uint32_t floor;		/* shortest period allowed without FORCE; 1: any */
	const char *base;	/* NAME without modifiers */
	const char *letters;	/* the modifiers in NAME ("u", "ppS") */
	const char *foreign;	/* the CPU model whose event it is, if this machine's CPU is
				   another: on this CPU the code may mean another event; or NULL */
};

/* Zero-initialised: empty. */
struct event_list {
	struct event *event;	/* array; it moves when the list grows */
	size_t count;
	uint32_t groups;	/* highest group number in use */
	struct arena arena;	/* strings of the events */
};

/* How to resolve names.  Zero-initialised: on this machine, with preset periods. */
struct event_options {
	const char *sysfs;	/* path of sysfs; NULL: SYSFS_ROOT */
	const char *tracefs;	/* path of tracefs; NULL: where it is usually mounted */
	const char *model;	/* libpfm4 PMU for names without MODEL::; NULL: this CPU's */
	uint64_t period;	/* period of events without a period= or freq= term; 0: preset */
	uint64_t frequency;	/* samples per second of these events instead; 0: not given */
	uint32_t max_rate;	/* highest frequency allowed, in Hz; 0: the kernel's limit */
	bool force;		/* allow periods below an event's floor */
	bool counts;		/* they will be counted, not sampled */
};

/*
 * Parse TEXT, a list of events, and add its events to LIST.  False (reported): TEXT has an
 * error; LIST is unchanged.
 */
bool event_parse(struct event_list *list, const struct event_options *options, const char *text,
		 struct report *report);

/*
 * Add FILTER to the events of LIST from index FIRST on; an event that has a filter must then
 * match both.  Returns NULL, or the name of the first event that is not a tracepoint and so
 * cannot have a filter.
 */
const char *event_list_filter(struct event_list *list, size_t first, const char *filter);

/*
 * Remove duplicates from LIST, except in groups, each with a note: the kernel attributes all
 * samples of equal software events to one of the events.
 */
void event_list_drop_equal(struct event_list *list, struct report *report);

void event_list_release(struct event_list *list);

/* Call perf_event_open(2), which libc lacks.  Returns a descriptor, or -1 with errno set. */
int event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
	       unsigned long flags);

/* A replacement for event_open() in tests; CONTEXT is the caller's. */
typedef int event_opener(void *context, const struct perf_event_attr *attr);

/*
 * Find the highest precise_ip with which EVENT opens for sampling, and set it in EVENT.  Each
 * attempt calls OPEN, or event_open() on this process if OPEN is NULL, and closes the
 * descriptor.  Returns the level, or -1 with errno set if no level works.
 */
int event_probe_precise(struct event *event, event_opener *open, void *context);

/* Let EVENT record branches of these kinds, PERF_SAMPLE_BRANCH_*, and no others. */
void event_set_branches(struct event *event, uint64_t kinds);

/* Exclude the kernel and the hypervisor, but keep the name: the user chose so for all events. */
void event_exclude_kernel(struct event *event);

/*
 * Return whether EVENT can be counted and sampled here.  Opens it on this process, or on its
 * first CPU, and closes it again.  Writes "ok", with the precise level that :P found, or the
 * reason and a remedy to WHY (SIZE bytes).
 */
bool event_check(const struct event *event, char *why, size_t size);

/* Return whether EVENT is of AMD's Instruction-Based Sampling of micro-operations. */
bool event_is_ibs(const struct event *event);

/*
 * Return whether pmukit reads what EVENT's PMU records.  False: it is a trace, for which the kernel
 * has a buffer apart from the samples; WHY (SIZE bytes) says what to use.
 */
bool event_is_readable(const struct event *event, char *why, size_t size);

/*
 * Like event_check(), but while the kernel refuses EVENT, change it by event_relax() and try
 * again.  LIST holds the changed name.
 */
bool event_check_relaxed(struct event_list *list, struct event *event, char *why, size_t size);

/* Return whether the kernel shows a PMU of this machine's CPUs: most virtual machines have none. */
bool event_machine_has_pmu(void);

/* The note for a user of a machine without a PMU, who has asked for no event. */
#define EVENT_NO_PMU \
	"no hardware counters here (a virtual machine?): sampling time instead (cpu-clock)"

/* Write to WHY (SIZE bytes) why the kernel refused EVENT with ERROR, an errno, and a remedy. */
void event_explain(const struct event *event, int error, char *why, size_t size);

/* Like event_explain(), for thread TID: also consider that it has ended or is another user's. */
void event_explain_task(const struct event *event, pid_t tid, int error, char *why, size_t size);

/* Note the cause of the error about to be reported, that the kernel refused an event with ERROR. */
void event_because(int error, struct report *report);

/*
 * Change EVENT so that the kernel, which refused it with ERROR, may accept it: exclude the
 * kernel if sampling it is forbidden (EVENT's name then has :u), or include guests if the PMU
 * cannot exclude anything (IBS, msr, uncore).  True: EVENT has changed, try it again.  False:
 * nothing can be changed.  LIST holds the changed name.
 */
bool event_relax(struct event_list *list, struct event *event, int error);

/*
 * Return the copy of a machine's sysfs in DIRECTORY, for event_options: DIRECTORY itself, or its
 * "sys", then in PATH (SIZE bytes).  NULL: there are no PMUs in DIRECTORY.
 */
const char *event_find_sysfs(const char *directory, char *path, size_t size);

/*
 * Write the directory of this machine's tracepoints (/sys/kernel/tracing/events) to PATH.
 * False with errno set: it cannot be read.
 */
bool event_tracepoints_path(char *path, size_t size);
