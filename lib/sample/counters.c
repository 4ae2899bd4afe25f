/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/counters.h"
#include "base/arena.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static void add_cpu(struct counters *c, int cpu)
{
	c->cpu = array_grow(c->cpu, c->cpus, sizeof(*c->cpu));
	c->ring = array_grow(c->ring, c->cpus, sizeof(*c->ring));
	c->cpu[c->cpus] = cpu;
	c->ring[c->cpus++] = (struct ring){ .fd = -1 };
}

/* A list like "0-3,8" of CPUs online; where there is none, as many as sysconf() says. */
static void find_cpus(struct counters *c)
{
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	int first, last;
	char separator = ',';

	while (f && separator == ',' && fscanf(f, "%d", &first) == 1) {
		last = first;
		if (fscanf(f, "%c", &separator) == 1 && separator == '-' &&
		    fscanf(f, "%d%c", &last, &separator) < 1)
			break;
		for (int cpu = first; cpu >= 0 && cpu <= last && cpu < CPU_SETSIZE * 64; cpu++)
			add_cpu(c, cpu);
	}
	if (f)
		fclose(f);
	for (int cpu = 0; c->cpus == 0 && cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
		add_cpu(c, cpu);
}

static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

bool counters_init(struct counters *c, const struct event_list *events, size_t ring_size,
		   struct report *report)
{
	*c = (struct counters){ .events = events, .report = report, .ring_size = ring_size };
	find_cpus(c);
	raise_file_limit();
	c->ids = mem_zeroed(events->count, sizeof(*c->ids));
	if (c->cpus == 0) {
		report_error(report, "cannot tell which CPUs are online");
		return false;
	}
	return true;
}

/* The first event of a CPU brings the ring, the others write to it. */
static bool share_ring(struct counters *c, struct ring *ring, int fd)
{
	if (ring->fd < 0) {
		if (ring_map(ring, fd, c->ring_size))
			return true;
		if (errno == EPERM)
			report_error(c->report, "cannot lock rings of %zu KiB per CPU in memory: "
				     "ask for less with -m, raise ulimit -l or "
				     "sysctl kernel.perf_event_mlock_kb", c->ring_size >> 10);
		else
			report_failure(c->report, "cannot map a ring of %zu KiB",
				       c->ring_size >> 10);
		return false;
	}
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) == 0)
		return true;
	report_failure(c->report, "cannot let events share a ring");
	return false;
}

static bool keep_id(struct counters *c, size_t event, int fd)
{
	struct ids *ids = &c->ids[event];
	uint64_t id;

	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0) {
		report_failure(c->report, "cannot get the id of an event");
		return false;
	}
	ids->id = array_grow(ids->id, ids->count, sizeof(id));
	ids->id[ids->count++] = id;
	return true;
}

bool counters_open(struct counters *c, pid_t tid, bool *ended)
{
	char why[512];

	*ended = false;
	for (size_t i = 0; i < c->cpus; i++)
		for (size_t e = 0; e < c->events->count; e++) {
			const struct event *event = &c->events->event[e];
			int fd = event_open(&event->attr, tid, c->cpu[i], -1, PERF_FLAG_FD_CLOEXEC);
			if (fd < 0 && errno == ESRCH) {
				*ended = true;
				return true;
			}
			if (fd < 0 && errno == ENODEV && c->ring[i].fd < 0 && c->cpus > 1)
				break;	/* this CPU has gone offline */
			if (fd < 0) {
				event_explain(event, errno, why, sizeof(why));
				report_error(c->report, "cannot sample '%s': %s", event->name, why);
				return false;
			}
			c->fd = array_grow(c->fd, c->fds, sizeof(*c->fd));
			c->fd[c->fds++] = fd;
			if (!share_ring(c, &c->ring[i], fd) || !keep_id(c, e, fd))
				return false;
		}
	return true;
}

static bool ring_has_fork(const struct ring *ring, pid_t tid)
{
	struct ring copy = *ring;	/* its tail moves, the ring's own does not */
	const struct perf_event_header *record;

	if (ring->fd < 0)
		return false;
	ring_refresh(&copy);
	while ((record = ring_peek(&copy))) {
		const uint32_t *task = (const void *)(record + 1);	/* pid, ppid, tid, ptid */
		if (record->type == PERF_RECORD_FORK && (pid_t)task[2] == tid)
			return true;
		ring_take(&copy, record);
	}
	return false;
}

bool counters_saw_fork(struct counters *c, pid_t tid)
{
	for (size_t i = 0; i < c->cpus; i++)
		if (ring_has_fork(&c->ring[i], tid))
			return true;
	return false;
}

void counters_stop(void)
{
	prctl(PR_TASK_PERF_EVENTS_DISABLE);	/* all that this process has opened */
}

void counters_close(struct counters *c)
{
	for (size_t i = 0; i < c->cpus; i++)
		ring_unmap(&c->ring[i]);
	for (size_t i = 0; i < c->fds; i++)
		close(c->fd[i]);
	for (size_t i = 0; c->ids && i < c->events->count; i++)
		free(c->ids[i].id);
	free(c->ids);
	free(c->fd);
	free(c->cpu);
	free(c->ring);
	*c = (struct counters){ 0 };
}
