/* SPDX-License-Identifier: Apache-2.0 */
/* The attrs of events that count, without what this kernel or our rights refuse. */
#include "base/descriptor.h"
#include "counting/internal.h"
#include "linux/kernel-info.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void counting_note(struct counting_notes *n, const char *format, ...)
{
	va_list arguments;

	if (n->count == sizeof(n->text) / sizeof(*n->text))
		return;
	va_start(arguments, format);
	vsnprintf(n->text[n->count++], sizeof(*n->text), format, arguments);
	va_end(arguments);
}

void counting_notes_print(struct counting_notes *n, struct report *report)
{
	for (size_t i = 0; i < n->count; i++)
		report_note(report, "%s", n->text[i]);
	n->count = 0;
}

/* Complete the attr of EVENT, which is alone, leads its group, or follows the group's leader. */
static void complete(const struct counting *c, struct event *event, bool leads, bool in_group)
{
	const struct target *t = c->target;
	struct perf_event_attr *attr = &event->attr;
	bool by_task = !target_is_by_cpu(t) && !event->per_cpu;

	attr->sample_period = 0;	/* and sample_freq */
	attr->freq = 0;
	attr->sample_type = 0;
	attr->branch_sample_type = 0;
	attr->precise_ip = 0;		/* the kernel refuses it without samples */
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			    PERF_FORMAT_ID | (in_group ? PERF_FORMAT_GROUP : 0);
	attr->disabled = leads;
	attr->enable_on_exec = leads && by_task && t->command;
	attr->inherit = by_task && c->by == BY_NOTHING && event->inherit >= 0;
	attr->inherit_thread = attr->inherit && !t->command && !t->children;
}

/* Return a descriptor of EVENT, idle, on this process; -1: errno is set. */
static int try_here(const struct event *event, int leader)
{
	struct perf_event_attr attr = event->attr;

	attr.enable_on_exec = 0;
	return event_open(&attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

/* Remove what older kernels lack from EVENT.  False: there is nothing to remove. */
static bool leave_out(struct event *event, struct report *report)
{
	struct perf_event_attr *attr = &event->attr;

	if (attr->inherit_thread) {
		attr->inherit_thread = 0;
		report_once(report, "this kernel cannot follow new threads alone (Linux 5.13): new "
			    "processes are counted, too");
		return true;
	}
	if (attr->inherit && attr->read_format & PERF_FORMAT_GROUP) {	/* before Linux 4.13 */
		attr->read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
		return true;
	}
	return false;
}

/*
 * Change EVENT until the kernel opens it in the group of LEADER (-1: alone).  Return a descriptor,
 * or -1 with errno.
 */
static int adapt(struct event_list *events, struct event *event, int leader,
		 struct report *report)
{
	int fd, error;

	while ((fd = try_here(event, leader)) < 0) {
		error = errno;
		if (!event_relax(events, event, error) &&
		    !(error == EINVAL && leave_out(event, report))) {
			errno = error;
			return -1;
		}
	}
	return fd;
}

/*
 * Return whether EVENT counts time by Linux's clocks of threads and CPUs.  They count the time in
 * the kernel, too, whatever their modifiers say (kernel/events/core.c, task_clock_event_update()
 * and cpu_clock_event_update()).
 */
static bool is_clock(const struct event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE &&
	       (event->attr.config == PERF_COUNT_SW_TASK_CLOCK ||
		event->attr.config == PERF_COUNT_SW_CPU_CLOCK);
}

/* Count the members of a group apart. */
static void dissolve(const struct counting *c, struct event_list *events, uint32_t first,
		     uint32_t end)
{
	for (uint32_t e = first; e < end; e++) {
		events->event[e].group = 0;
		complete(c, &events->event[e], true, false);
	}
}

/* Report that ASKED is refused with ERROR in the group of LEADER (-1: alone).  Return false. */
static bool report_refused(const struct event *asked, int leader, int error, struct report *report)
{
	int alone = leader >= 0 && error == EINVAL ? try_here(asked, -1) : -1;
	char why[512];

	event_explain(asked, error, why, sizeof(why));
	if (alone >= 0)
		report_error(report, "cannot count '%s' in its group: the group has more events "
			     "than the CPU has counters for, or they cannot count together: "
			     "make it smaller, or add :W", asked->name);
	else
		report_error(report, "cannot count '%s': %s", asked->name, why);
	descriptor_close(alone);
	return false;
}

/* Try the group of the events from FIRST to *END.  False: reported. */
static bool try_group(const struct counting *c, struct event_list *events, uint32_t first,
		      uint32_t *end, struct report *report)
{
	bool is_weak = false, good = true;
	int leader = -1;

	for (uint32_t e = first; e < *end; e++)
		is_weak |= events->event[e].weak;
	for (uint32_t e = first; good && e < *end; e++) {
		struct event *event = &events->event[e];
		/* A PMU that is not on all CPUs may refuse an attempt on this CPU: do not try. */
		if (event->per_cpu || event->cpus)
			break;
		const struct event asked = *event;
		int fd = adapt(events, event, leader, report);
		if (fd < 0 && e > first && is_weak) {
			dissolve(c, events, first, *end);
			*end = first;	/* try them again, one by one */
			break;
		}
		if (fd < 0) {
			good = report_refused(&asked, leader, errno, report);
		} else if (is_clock(event)) {	/* it does not count less */
			event->name = asked.name;
			event->letters = asked.letters;
		}
		if (e == first)
			leader = fd;
		else
			descriptor_close(fd);
	}
	descriptor_close(leader);
	return good;
}

/* Note what the events do not count.  NO_KERNEL: counting the kernel is forbidden. */
static void note_limits(const struct event_list *events, bool no_kernel, struct counting_notes *n)
{
	if (no_kernel)
		counting_note(n, "the kernel's own code is not counted, nor context switches and "
			      "migrations, which happen there: kernel.perf_event_paranoid "
			      "forbids it without CAP_PERFMON; times have the kernel's part");
	for (size_t i = 0; i < events->count; i++) {
		const struct perf_event_attr *attr = &events->event[i].attr;
		if (is_clock(&events->event[i]) && strpbrk(events->event[i].letters, "uk"))
			counting_note(n, "'%s' has the time in user mode and in the kernel: Linux "
				      "does not count them apart; user-time and system-time do",
				      events->event[i].name);
		if (attr->exclude_kernel && attr->type == PERF_TYPE_SOFTWARE &&
		    (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		     attr->config == PERF_COUNT_SW_CPU_MIGRATIONS))
			counting_note(n, "'%s' counts nothing: it happens in the kernel, which is "
				      "not counted", events->event[i].name);
	}
}

/* Return how many of EVENTS do not count the kernel, although they could. */
static size_t count_user_only(const struct event_list *events)
{
	size_t count = 0;

	for (size_t i = 0; i < events->count; i++)
		count += events->event[i].attr.exclude_kernel && !is_clock(&events->event[i]);
	return count;
}

bool counting_begin(struct counting *c, struct event_list *events, struct report *report)
{
	size_t user_only = count_user_only(events);
	uint32_t end;

	c->events = events;
	for (uint32_t first = 0; first < events->count; first = end) {
		end = counts_group_end(events, first);
		for (uint32_t e = first; e < end; e++)
			complete(c, &events->event[e], e == first, end - first > 1);
		if (!try_group(c, events, first, &end, report))
			return false;
	}
	note_limits(events, count_user_only(events) > user_only, &c->notes);
	return true;
}
