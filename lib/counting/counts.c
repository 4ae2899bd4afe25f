/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/descriptor.h"
#include "counters/refusal.h"
#include "counting/internal.h"
#include "linux/cpus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Where a group of events is opened. */
struct spot {
	pid_t tid;
	int cpu;
	unsigned long flags;
	uint32_t unit;
};

/* Report that the kernel refused EVENT at SPOT with ERROR.  Returns false. */
static bool report_refusal(struct counts *c, const struct event *event, const struct spot *spot,
			   int error)
{
	bool by_cpu = spot->tid < 0 || spot->flags & PERF_FLAG_PID_CGROUP;

	refusal_report(event, "count", by_cpu ? -1 : spot->tid, error, c->report);
	return false;
}

/* Open event E at SPOT, in the group of the count LEADER.  False: see *ENDED, or reported. */
static bool open_one(struct counts *c, uint32_t e, const struct spot *spot, uint32_t leader,
		     bool *ended)
{
	const struct event *event = &c->events->event[e];
	bool leads = leader == c->opened;
	uint64_t id = 0;
	int fd = event_open(&event->attr, spot->tid, spot->cpu,
			    leads ? -1 : c->count[leader].fd, spot->flags | PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == ESRCH)
		*ended = true;
	if (fd < 0)
		return !*ended && report_refusal(c, event, spot, errno);
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0) {
		report_failure(c->report, "cannot count '%s'", event->name);
		close(fd);
		return false;
	}
	c->count = array_grow(c->count, c->opened, sizeof(*c->count));
	c->count[c->opened++] = (struct count){ .fd = fd, .id = id, .event = e, .leader = leader,
						     .unit = spot->unit };
	return true;
}

/* Open the group of the events from FIRST to END at PLACE.  False: see *ENDED, or reported. */
static bool open_group(struct counts *c, uint32_t first, uint32_t end, struct spot spot,
		       bool *ended)
{
	uint32_t leader = (uint32_t)c->opened;

	for (uint32_t e = first; e < end; e++)
		if (!open_one(c, e, &spot, leader, ended))
			return false;
	return true;
}

/* Open the group on all CPUs of its PMU, of which each counts for a package or device. */
static bool open_on_pmu(struct counts *c, uint32_t first, uint32_t end, bool *ended)
{
	const struct event *event = &c->events->event[first];
	bool good = true;

	for (size_t i = 0; good && i < event->cpus; i++)
		good = open_group(c, first, end, (struct spot){ -1, event->cpu[i], 0, 0 }, ended);
	return good;
}

uint32_t counts_group_end(const struct event_list *events, uint32_t first)
{
	uint32_t end = first + 1, group = events->event[first].group;

	while (group && end < events->count && events->event[end].group == group)
		end++;
	return end;
}

bool counts_open(struct counts *c, pid_t tid, int cpu, unsigned long flags, uint32_t unit,
		 bool *ended)
{
	bool good = true, is_first = c->opened == 0;
	uint32_t end;

	*ended = false;
	for (uint32_t e = 0; good && !*ended && e < c->events->count; e = end) {
		const struct event *event = &c->events->event[e];
		struct spot spot = { tid, cpu, flags, unit };
		end = counts_group_end(c->events, e);
		if (cpu >= 0 && event->cpus && !cpus_has(event->cpu, event->cpus, cpu))
			continue;
		if (event->per_cpu)
			spot = (struct spot){ -1, cpu, 0, unit };
		if (event->per_cpu && cpu < 0)
			good = !is_first || open_on_pmu(c, e, end, ended);
		else
			good = open_group(c, e, end, spot, ended);
	}
	return good || *ended;
}

bool counts_enable(struct counts *c)
{
	for (; c->enabled < c->opened; c->enabled++) {
		const struct count *count = &c->count[c->enabled];
		const struct event *event = &c->events->event[count->event];
		if (count->leader == c->enabled && !event->attr.enable_on_exec &&
		    ioctl(count->fd, PERF_EVENT_IOC_ENABLE, 0) < 0) {
			report_failure(c->report, "cannot enable '%s'", event->name);
			return false;
		}
	}
	return true;
}

static void add(struct counting_value *sum, uint64_t count, uint64_t enabled, uint64_t running)
{
	sum->count += count;
	sum->enabled += enabled;
	sum->running += running;
}

/* Return the place in VALUE of the I-th count. */
static struct counting_value *value_of(const struct counts *c, size_t i,
				       struct counting_value *value)
{
	return &value[c->count[i].unit * c->events->count + c->count[i].event];
}

/* Add the values of a read of the group of LEADER, WORDS numbers, to VALUE. */
static bool add_group(const struct counts *c, size_t leader, const uint64_t *word, size_t words,
		      struct counting_value *value)
{
	bool good = true;

	/* struct read_format with GROUP: nr, enabled, running; each: value, id */
	for (size_t i = leader; i < c->opened && c->count[i].leader == leader; i++) {
		size_t at = 3;
		while (at + 1 < words && word[at + 1] != c->count[i].id)
			at += 2;
		if (at + 1 < words)
			add(value_of(c, i, value), word[at], word[1], word[2]);
		else
			good = false;
	}
	return good;
}

/* Add what the I-th count, with its group, has counted to VALUE.  False: reported. */
static bool read_count(const struct counts *c, size_t i, struct counting_value *value)
{
	enum { WORDS = 256 };
	const struct event *event = &c->events->event[c->count[i].event];
	bool whole = event->attr.read_format & PERF_FORMAT_GROUP;
	uint64_t word[WORDS];

	if (whole && c->count[i].leader != i)
		return true;
	ssize_t size = read(c->count[i].fd, word, sizeof(word));
	bool good = size >= (ssize_t)(4 * sizeof(*word));
	if (good && whole)
		good = add_group(c, i, word, (size_t)size / sizeof(*word), value);
	else if (good)
		add(value_of(c, i, value), word[0], word[1], word[2]);
	if (size == 0)
		report_error(c->report, "cannot count '%s': it was pinned, and could not stay on "
			     "the counters", event->name);
	else if (!good)
		report_failure(c->report, "cannot read '%s'", event->name);
	return good;
}

bool counts_read(const struct counts *c, struct counting_value *value)
{
	bool good = true;

	for (size_t i = 0; i < c->kept_units * c->events->count; i++)
		add(&value[i], c->kept[i].count, c->kept[i].enabled, c->kept[i].running);
	for (size_t i = 0; good && i < c->opened; i++)
		good = c->count[i].fd < 0 || read_count(c, i, value);
	return good;
}

void counts_close_unit(struct counts *c, uint32_t unit)
{
	size_t events = c->events->count;

	while (c->kept_units <= unit) {
		c->kept = mem_resize(c->kept, (c->kept_units + 1) * events * sizeof(*c->kept));
		memset(&c->kept[c->kept_units++ * events], 0, events * sizeof(*c->kept));
	}
	for (size_t i = 0; i < c->opened; i++)
		if (c->count[i].unit == unit && c->count[i].fd >= 0)
			read_count(c, i, c->kept);
	for (size_t i = 0; i < c->opened; i++)
		if (c->count[i].unit == unit) {
			descriptor_close(c->count[i].fd);
			c->count[i].fd = -1;
		}
}

void counts_close(struct counts *c)
{
	for (size_t i = 0; i < c->opened; i++)
		descriptor_close(c->count[i].fd);
	free(c->count);
	free(c->kept);
	c->count = NULL;
	c->kept = NULL;
	c->kept_units = 0;
	c->opened = c->enabled = 0;
}
