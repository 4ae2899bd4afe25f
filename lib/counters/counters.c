/* SPDX-License-Identifier: Apache-2.0 */
#include "counters/counters.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/random.h"
#include "counters/refusal.h"
#include "record/events.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { RING_MIN = 16 * 1024 };	/* bytes; smallest ring to fall back to */

static void add_cpu(struct counters *c, int cpu)
{
	c->cpu = array_grow(c->cpu, c->cpus, sizeof(*c->cpu));
	c->ring = array_grow(c->ring, c->cpus, sizeof(*c->ring));
	c->overwritten = array_grow(c->overwritten, c->cpus, sizeof(*c->overwritten));
	c->cpu[c->cpus] = cpu;
	c->overwritten[c->cpus] = (struct ring){ .fd = -1 };
	c->ring[c->cpus++] = (struct ring){ .fd = -1 };
}

/* Add the CPUs of TARGET; by default all that are online according to /sys, or to sysconf(). */
static void find_cpus(struct counters *c, const struct target *target)
{
	struct cpu_list online = { 0 };
	const struct cpu_list *wanted = &target->cpus;

	c->all_cpus = wanted->count == 0;
	if (c->all_cpus) {
		online = cpus_online();
		wanted = &online;
	}
	for (size_t i = 0; i < wanted->count; i++)
		add_cpu(c, wanted->cpu[i]);
	for (int cpu = 0; c->cpus == 0 && cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
		add_cpu(c, cpu);
	cpus_release(&online);
}

/* Check that all selected CPUs exist, online or not. */
static bool check_cpus(const struct counters *c)
{
	struct cpu_list possible = cpus_possible();
	int last = possible.count ? possible.cpu[possible.count - 1] : -1;
	bool good = true;

	for (size_t i = 0; i < c->cpus && last >= 0 && good; i++) {
		good = cpus_has(possible.cpu, possible.count, c->cpu[i]);
		if (!good)
			report_error(c->report, "there is no CPU %d here, only %d to %d",
				     c->cpu[i], possible.cpu[0], last);
	}
	cpus_release(&possible);
	return good;
}

bool counters_init(struct counters *c, const struct event_list *events,
		   const struct target *target, size_t ring_size, struct report *report)
{
	*c = (struct counters){ .events = events, .report = report, .ring_size = ring_size };
	find_cpus(c, target);
	descriptor_raise_limit();
	c->ids = mem_zeroed(events->count, sizeof(*c->ids));
	if (c->cpus == 0)
		report_error(report, "cannot find out which CPUs are online");
	return c->cpus > 0 && check_cpus(c);
}

void counters_budget(const struct counters *c, size_t tasks, uint64_t *needed, uint64_t *allowed)
{
	enum { OTHERS = 32 };	/* descriptors reserved for other uses */

	*needed = (uint64_t)tasks * c->cpus * c->events->count;
	*allowed = descriptor_raise_limit();
	*allowed -= *allowed < OTHERS + c->count ? *allowed : OTHERS + c->count;
}

/* Map a ring; halve its size while the kernel refuses to lock so much memory. */
static bool map_ring(struct counters *c, struct ring *ring, int fd, bool overwrite)
{
	size_t asked = c->ring_size;

	while (!ring_map(ring, fd, c->ring_size, overwrite)) {
		if (errno != EPERM && errno != ENOMEM) {
			report_failure(c->report, "cannot map a ring of %zu KiB",
				       c->ring_size >> 10);
			return false;
		}
		if (c->ring_size / 2 < RING_MIN) {
			report_error(c->report, "cannot lock rings of %zu KiB per CPU in memory: "
				     "ask for less with -m, raise ulimit -l or "
				     "sysctl kernel.perf_event_mlock_kb", asked >> 10);
			return false;
		}
		c->ring_size /= 2;	/* for this ring and all later rings */
	}
	if (c->ring_size != asked)
		report_note(c->report, "rings have %zu KiB, not %zu: ulimit -l and "
			    "kernel.perf_event_mlock_kb do not allow more", c->ring_size >> 10,
			    asked >> 10);
	return true;
}

/* Map the ring of a CPU over its first event FD; redirect further events to that ring. */
static bool share_ring(struct counters *c, size_t cpu, const struct event *event, int fd)
{
	bool overwrite = event->attr.write_backward;
	struct ring *ring = overwrite ? &c->overwritten[cpu] : &c->ring[cpu];

	if (ring->fd < 0)
		return map_ring(c, ring, fd, overwrite);
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) == 0)
		return true;
	report_failure(c->report, "cannot let events share a ring");
	return false;
}

/* Add the descriptor FD of EVENT, with its ID, to the counters. */
static bool add_counter(struct counters *c, uint32_t event, size_t cpu, int fd, bool by_cpu)
{
	struct ids *ids = &c->ids[event];
	uint64_t id;

	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0) {
		report_failure(c->report, "cannot get the id of an event");
		return false;
	}
	ids->id = array_grow(ids->id, ids->count, sizeof(id));
	ids->id[ids->count++] = id;
	c->counter = array_grow(c->counter, c->count, sizeof(*c->counter));
	c->counter[c->count] = (struct counter){ .fd = fd, .id = id, .event = event,
						  .cpu = (uint32_t)cpu, .task = c->tasks,
						  .by_cpu = by_cpu };
	table_add(&c->by_id, hash_u64(id), (uint32_t)c->count++);
	return true;
}

const struct counter *counters_find(const struct counters *c, uint64_t id)
{
	uint32_t at = TABLE_FIND(&c->by_id, hash_u64(id), i, c->counter[i].id == id);

	return at == TABLE_NONE ? NULL : &c->counter[at];
}

/* Return whether COUNTER is of the dummy event. */
static bool tracks(const struct counters *c, const struct counter *counter)
{
	return counter->event + 1 == c->events->count;
}

bool counters_have_lost(const struct counters *c)
{
	return c->events->event[0].attr.read_format & PERF_FORMAT_LOST;
}

/*
 * Return whether EVENT can be opened on CPU: a PMU may belong to some cores only, or to a package.
 */
static bool counts_on(const struct event *event, int cpu)
{
	return event->cpus == 0 || cpus_has(event->cpu, event->cpus, cpu);
}

static bool is_offline(int cpu)
{
	struct cpu_list online = cpus_online();
	bool offline = online.count > 0 && !cpus_has(online.cpu, online.count, cpu);

	cpus_release(&online);
	return offline;
}

/* Set the filter of EVENT in the kernel.  False: reported. */
static bool set_filter(struct counters *c, const struct event *event, int fd)
{
	if (!event->filter || ioctl(fd, PERF_EVENT_IOC_SET_FILTER, event->filter) == 0)
		return true;
	if (errno == EINVAL)
		report_error(c->report, "the kernel rejects the filter '%s' of '%s': its fields "
			     "are in /sys/kernel/tracing/events/*/*/format", event->filter,
			     event->name);
	else
		report_failure(c->report, "cannot filter '%s'", event->name);
	return false;
}

/* Complete event E, open as FD on the I-th CPU: its filter, ring, labels.  False: reported. */
static bool complete_event(struct counters *c, uint32_t e, size_t i, int fd, bool by_cpu)
{
	const struct event *event = &c->events->event[e];

	if (!set_filter(c, event, fd) || !share_ring(c, i, event, fd) ||
	    (c->labels && !label_recorder_attach(c->labels, e, fd, i, c->cpu[i], c->ring[i].fd)))
		return false;
	return add_counter(c, e, i, fd, by_cpu);
}

/* Open all events on task TID and the I-th CPU, each group with its leader first. */
static bool open_on_cpu(struct counters *c, pid_t tid, unsigned long flags, size_t i, bool *ended)
{
	uint32_t group = 0;
	int leader = -1;

	for (uint32_t e = 0; e < c->events->count; e++) {
		const struct event *event = &c->events->event[e];
		if (!counts_on(event, c->cpu[i]) || (event->per_cpu && c->tasks > 0))
			continue;
		bool follows = event->group && event->group == group;
		bool by_cpu = tid < 0 || event->per_cpu || flags & PERF_FLAG_PID_CGROUP;
		struct perf_event_attr attr = event->attr;
		attr.disabled = 1;
		int fd = event_open(&attr, event->per_cpu ? -1 : tid, c->cpu[i],
				    follows ? leader : -1, flags | PERF_FLAG_FD_CLOEXEC);
		int error = errno;
		if (fd < 0 && error == ESRCH) {
			*ended = true;
			return true;
		}
		if (fd < 0 && error == ENODEV && is_offline(c->cpu[i]))
			return true;
		if (fd < 0) {
			refusal_report(event, "sample", by_cpu ? -1 : tid, error, c->report);
			return false;
		}
		if (!complete_event(c, e, i, fd, by_cpu)) {
			close(fd);
			return false;
		}
		if (!follows)
			leader = fd;
		group = event->group;
	}
	return true;
}

/* Enable the counters from index FIRST on: those of the dummy event (TRACKING), or the others. */
static bool start_some(struct counters *c, size_t first, bool tracking)
{
	for (size_t i = first; i < c->count; i++) {
		const struct event *event = &c->events->event[c->counter[i].event];
		if (tracks(c, &c->counter[i]) == tracking && !event->attr.disabled &&
		    ioctl(c->counter[i].fd, PERF_EVENT_IOC_ENABLE, 0) < 0) {
			report_failure(c->report, "cannot enable '%s'", event->name);
			return false;
		}
	}
	return true;
}

/*
 * Let the counters from index FIRST on count.  What they counted before they had a ring would be
 * neither sampled nor lost.  All start together: otherwise a thread's start may be recorded on one
 * CPU, and its name be missed on another one.  The dummy events start first, so that the name and
 * mappings of each sample are known.  False: reported.
 */
static bool start_counting(struct counters *c, size_t first)
{
	return start_some(c, first, true) && start_some(c, first, false);
}

bool counters_open(struct counters *c, pid_t tid, unsigned long flags, bool *ended)
{
	size_t first = c->count;
	bool good = true, any = false;

	*ended = false;
	for (size_t i = 0; good && !*ended && i < c->cpus; i++)
		good = open_on_cpu(c, tid, flags, i, ended);
	good = good && start_counting(c, first);
	c->tasks++;
	for (size_t i = 0; i < c->count && !any; i++)
		any = !tracks(c, &c->counter[i]);
	if (good && !*ended && !any) {
		report_error(c->report, "none of the selected CPUs is online");
		return false;
	}
	return good;
}

int counters_new_cpu(const struct counters *c)
{
	struct cpu_list online = cpus_online();
	int missed = -1;

	for (size_t i = 0; i < online.count && c->all_cpus && missed < 0; i++)
		if (!cpus_has(c->cpu, c->cpus, online.cpu[i]))
			missed = online.cpu[i];
	cpus_release(&online);
	return missed;
}

/* FORK, linux/perf_event.h: after the header u32 pid, ppid, tid, ptid; u64 time. */
static void add_forks(const struct ring *ring, struct fork_record **forks, size_t *count)
{
	struct ring copy = *ring;	/* reading moves the tail of the copy only */
	const struct perf_event_header *record;

	if (ring->fd < 0)
		return;
	ring_refresh(&copy);
	for (; (record = ring_peek(&copy)); ring_take(&copy)) {
		const uint32_t *task = (const void *)(record + 1);
		if (record->type != PERF_RECORD_FORK || record->size < sizeof(*record) + 24)
			continue;
		*forks = array_grow(*forks, *count, sizeof(**forks));
		struct fork_record *fork = &(*forks)[(*count)++];
		*fork = (struct fork_record){ .tid = (pid_t)task[2], .parent = (pid_t)task[3] };
		memcpy(&fork->time, task + 4, sizeof(fork->time));
	}
}

struct fork_record *counters_forks(const struct counters *c, size_t *count)
{
	struct fork_record *forks = NULL;

	*count = 0;
	for (size_t i = 0; i < c->cpus; i++)
		add_forks(&c->ring[i], &forks, count);
	return forks;
}

uint64_t counters_now(const struct counters *c)
{
	return clock_ns(c->events->event[0].attr.clockid);
}

void counters_enable(const struct counters *c, bool on)
{
	for (size_t i = 0; i < c->count; i++)
		if (!tracks(c, &c->counter[i]))
			ioctl(c->counter[i].fd,
			      on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void counters_jitter(const struct counters *c, unsigned percent, uint64_t *seed)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct perf_event_attr *attr = &c->events->event[c->counter[i].event].attr;
		uint64_t period = attr->sample_period, range = period / 100 * percent;
		if (attr->freq || range == 0 || !(attr->sample_type & PERF_SAMPLE_PERIOD))
			continue;
		period = period - range + random_number(seed) % (2 * range + 1);
		ioctl(c->counter[i].fd, PERF_EVENT_IOC_PERIOD, &period);
	}
}

void counters_stop(void)
{
	prctl(PR_TASK_PERF_EVENTS_DISABLE);
}

static bool has_id(const struct ids *ids, uint64_t id)
{
	for (size_t i = 0; i < ids->count; i++)
		if (ids->id[i] == id)
			return true;
	return false;
}

/*
 * Read a counter.  A single event gives value, enabled, running, id, lost.  A member of a
 * group gives the whole group: nr, enabled, running, then value, id, lost of each member.
 */
static bool read_counter(const struct counters *c, const struct counter *counter,
			 struct counters_total *out)
{
	enum { WORDS = 256 };
	uint64_t format = c->events->event[counter->event].attr.read_format, word[WORDS] = { 0 };
	size_t step = format & PERF_FORMAT_LOST ? 3 : 2, at = 3;
	ssize_t size = read(counter->fd, word, sizeof(word));
	size_t words = size < 0 ? 0 : (size_t)size / sizeof(*word);

	if (words < 4)
		return false;
	if (!(format & PERF_FORMAT_GROUP)) {
		*out = (struct counters_total){ word[0], word[1], word[2],
						format & PERF_FORMAT_LOST ? word[4] : 0, 0, 0 };
		return true;
	}
	while (at + step <= words && !has_id(&c->ids[counter->event], word[at + 1]))
		at += step;
	if (at + step > words)
		return false;
	*out = (struct counters_total){ word[at], word[1], word[2], step > 2 ? word[at + 2] : 0,
					0, 0 };
	return true;
}

/* Times of a task, in ns. */
struct task_times {
	uint64_t enabled;	/* the longest of all its events */
	uint64_t in_hardware;	/* the longest of its events that need a counter */
	uint64_t *on_cpu;	/* per CPU index: the longest time that any event ran there */
	uint64_t *ran;		/* per event: time running, on all CPUs */
};

/*
 * Return whether events of the task with TIMES had to share counters.  If not, each event that
 * needs a counter ran all the time, or never.  Events are not all stopped at the same moment:
 * ignore small differences.
 */
static bool has_shared(const struct counters *c, const struct task_times *times)
{
	uint64_t most = times->in_hardware, little = most / 1000;

	for (uint32_t e = 0; e < c->events->count; e++)
		if (event_needs_counter(&c->events->event[e].attr) && times->ran[e] > little &&
		    times->ran[e] < most - little)
			return true;
	return false;
}

static uint64_t longer(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Add what COUNTER has READ to the TIMES of its task. */
static void add_times(const struct counters *c, const struct counter *counter,
		      const struct counters_total *read, struct task_times *times)
{
	uint64_t *ran = &times->on_cpu[counter->cpu];

	times->enabled = longer(times->enabled, read->enabled);
	*ran = longer(*ran, read->running);
	times->ran[counter->event] += read->running;
	if (event_needs_counter(&c->events->event[counter->event].attr))
		times->in_hardware = longer(times->in_hardware, read->enabled);
}

/*
 * Read all counters of the task whose counters start at index FIRST into READ, and set TIMES.
 * Returns the index after them.
 */
static size_t read_task(const struct counters *c, size_t first, struct counters_total *read,
			struct task_times *times)
{
	size_t i = first;

	times->enabled = times->in_hardware = 0;
	memset(times->on_cpu, 0, c->cpus * sizeof(*times->on_cpu));
	memset(times->ran, 0, c->events->count * sizeof(*times->ran));
	for (; i < c->count && c->counter[i].task == c->counter[first].task; i++) {
		const struct counter *counter = &c->counter[i];
		struct counters_total *one = &read[i - first];
		if (!read_counter(c, counter, one))
			*one = (struct counters_total){ 0 };
		if (!counter->by_cpu)
			add_times(c, counter, one, times);
	}
	if (has_shared(c, times))
		times->in_hardware = times->enabled;
	return i;
}

/* Return whether EVENT may have to wait until it or another event of its group gets a counter. */
static bool can_wait(const struct event_list *events, uint32_t event)
{
	uint32_t group = events->event[event].group;
	bool waits = event_needs_counter(&events->event[event].attr);

	for (uint32_t e = 0; group && !waits && e < events->count; e++)
		waits = events->event[e].group == group &&
			event_needs_counter(&events->event[e].attr);
	return waits;
}

/*
 * The task has COUNT counters, whose values are READ.  Add to TOTAL the values of those that count
 * EVENT.
 */
static void add_task(const struct counters *c, const struct counter *counter, size_t count,
		     const struct counters_total *read, const struct task_times *times,
		     uint32_t event, struct counters_total *total)
{
	uint64_t enabled = 0, on_cpus = 0;
	size_t cpus = 0;

	for (size_t i = 0; i < count; i++) {
		if (counter[i].event != event)
			continue;
		total->count += read[i].count;
		total->running += read[i].running;
		total->lost += read[i].lost;
		enabled += counter[i].by_cpu ? read[i].enabled : 0;
		on_cpus += counter[i].by_cpu ? 0 : times->on_cpu[counter[i].cpu];
		cpus += !counter[i].by_cpu;
	}
	bool everywhere = c->all_cpus && cpus == c->cpus;
	bool in_hardware = event_needs_counter(&c->events->event[event].attr);
	uint64_t task = in_hardware ? times->in_hardware : times->enabled;
	if (!can_wait(c->events, event))
		total->enabled = total->running;
	else
		total->enabled += enabled + (everywhere ? task : on_cpus);
}

/*
 * The kernel's time enabled needs care.  An event of a whole CPU is enabled all the time.  An
 * event of a task is enabled while the task runs, on any CPU, so all events of the task should
 * have the same time; but when a thread ends, the kernel adds its time only to events that are
 * on a counter then.  Hence the longest time is right.  An event that is open on some CPUs
 * only (-C, or its PMU) should count while the task runs on these CPUs: that is the longest
 * time running there, of an event that needs no counter.
 *
 * Before Linux 6.2, events that need no counter have a separate context.  The kernel ends it after
 * the other context, so these events are also enabled while the kernel removes the others from a
 * thread that ends: some microseconds for each.  That time is too long for hardware events.  So it
 * is used only if the hardware events shared counters, because their own time may then be too
 * short.
 *
 * An event that needs no counter never waits for one, so it ran as long as it was enabled.  Its
 * time enabled is longer, because we open and read its descriptors, one for each CPU, one after
 * the other.
 */
void counters_totals(const struct counters *c, const bool *twice, uint32_t tasks,
		     struct counters_total *total)
{
	size_t most = c->cpus * c->events->count;
	struct counters_total *read = mem_zeroed(most, sizeof(*read));
	struct task_times times = {
		.on_cpu = mem_zeroed(c->cpus, sizeof(*times.on_cpu)),
		.ran = mem_zeroed(c->events->count, sizeof(*times.ran)),
	};

	memset(total, 0, c->events->count * sizeof(*total));
	for (size_t i = 0, next; i < c->count; i = next) {
		next = read_task(c, i, read, &times);
		uint32_t task = c->counter[i].task;
		for (uint32_t e = 0; e < c->events->count; e++) {
			uint64_t before = total[e].count;
			add_task(c, &c->counter[i], next - i, read, &times, e, &total[e]);
			if (task < tasks && twice[task * c->events->count + e])
				total[e].twice += total[e].count - before;
			else if (c->doubtful && task >= c->doubtful)
				total[e].in_doubt += total[e].count - before;
		}
	}
	free(times.on_cpu);
	free(times.ran);
	free(read);
}

void counters_close(struct counters *c)
{
	for (size_t i = 0; i < c->cpus; i++) {
		ring_unmap(&c->ring[i]);
		ring_unmap(&c->overwritten[i]);
	}
	for (size_t i = 0; i < c->count; i++)
		close(c->counter[i].fd);
	for (size_t i = 0; c->ids && i < c->events->count; i++)
		free(c->ids[i].id);
	free(c->ids);
	table_release(&c->by_id);
	free(c->counter);
	free(c->cpu);
	free(c->ring);
	free(c->overwritten);
	*c = (struct counters){ 0 };
}
