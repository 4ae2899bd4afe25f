/* SPDX-License-Identifier: Apache-2.0 */
/* counts - how exact counts are: alone, in a group, and when events share the counters. */
#include "survey/internal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#define COUNTS "counts"

/* As PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING has it; times in ns. */
struct count_reading {
	uint64_t count, enabled, running;
};

/* Open the event NAME on this thread, in the group of LEADER (-1: it leads).  Return it, or -1. */
static int open_counter(const char *name, int leader)
{
	struct perf_event_attr attr;

	if (!survey_attr(name, &attr))
		return -1;
	attr.freq = 0;
	attr.sample_period = 0;
	attr.sample_type = 0;
	attr.disabled = leader < 0;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return event_open(&attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

/* The events of a group, or the events that share the counters. */
struct opened_counters {
	int fd[24];
	size_t count;
};

static void close_counters(struct opened_counters *o)
{
	while (o->count)
		close(o->fd[--o->count]);
}

/* Count TURNS of our loop by the group whose leader is the first of O. */
static bool count_turns(const struct opened_counters *o, uint64_t turns, struct count_reading *r)
{
	ioctl(o->fd[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	ioctl(o->fd[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	work_turn(turns);
	ioctl(o->fd[0], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	return read(o->fd[0], r, sizeof(*r)) == sizeof(*r);
}

/* Count the instructions of a known loop by the first EVENTS of a group of instructions. */
static void add_exactness(struct facts *all, const char *name, size_t events)
{
	/* not every PMU counts branches */
	static const char *const group[] = { "instructions:u", "cycles:u", "branches:u" };
	enum { TURNS = 10000000, RUNS = 5 };
	uint64_t expected = (uint64_t)TURNS * work_instructions;
	uint64_t least = UINT64_MAX, most = 0;
	struct opened_counters o = { .count = 0 };
	bool shared = false;

	for (size_t i = 0; i < events; i++) {
		int fd = open_counter(group[i], i ? o.fd[0] : -1);
		if (fd < 0 && i)
			fd = open_counter(group[0], o.fd[0]);
		if (fd < 0)
			break;
		o.fd[o.count++] = fd;
	}
	for (int run = 0; run < RUNS && o.count == events && !survey_stopped(all); run++) {
		struct count_reading r;
		if (!count_turns(&o, TURNS, &r))
			break;
		shared |= r.running != r.enabled;
		least = r.count < least ? r.count : least;
		most = r.count > most ? r.count : most;
	}
	if (o.count < events)
		facts_add(all, COUNTS, name, "none: %s", o.count ? "no such group fits" :
			  "instructions:u does not open");
	else if (shared)
		facts_add(all, COUNTS, name, "not exact: others use the counters, too");
	else if (!expected)
		facts_add(all, COUNTS, name, "%llu to %llu for a loop of unknown length",
			  (unsigned long long)least, (unsigned long long)most);
	else if (least <= most)
		facts_measure(all, COUNTS, name, (double)most - (double)expected, "count",
			      "%llu to %llu for the %llu instructions of a loop",
			      (unsigned long long)least, (unsigned long long)most,
			      (unsigned long long)expected);
	close_counters(&o);
}

/* Count the same event many times: the kernel must take turns. */
static void add_multiplexing(struct facts *all)
{
	static const char name[] = "many events at once";
	struct opened_counters o = { .count = 0 };
	uint64_t turns = work_rounds_of(300000000) * WORK_UNIT * WORK_SHARES;
	double worst = 0, least = 1, first = 0;

	while (o.count < sizeof(o.fd) / sizeof(*o.fd)) {
		int fd = open_counter("instructions:u", -1);
		if (fd < 0)
			break;
		o.fd[o.count++] = fd;
	}
	for (size_t i = 0; i < o.count; i++)
		ioctl(o.fd[i], PERF_EVENT_IOC_ENABLE, 0);
	if (o.count)
		work_turn(turns);
	for (size_t i = 0; i < o.count; i++)
		ioctl(o.fd[i], PERF_EVENT_IOC_DISABLE, 0);
	for (size_t i = 0; i < o.count; i++) {
		struct count_reading r;
		if (read(o.fd[i], &r, sizeof(r)) != sizeof(r) || !r.enabled)
			continue;
		double ran = (double)r.running / (double)r.enabled;
		double scaled = ran > 0 ? (double)r.count / ran : 0;
		first = i ? first : scaled;
		double error = first > 0 ? scaled / first - 1 : 0;
		worst = error > worst ? error : -error > worst ? -error : worst;
		least = ran < least ? ran : least;
	}
	if (!o.count)
		facts_add(all, COUNTS, name, "none: instructions:u does not open");
	else
		facts_measure(all, COUNTS, name, 100 * least, "percent",
			      "%zu times instructions: each counted at least %.0f %% of the time; "
			      "scaled counts differ by at most %.2f %%", o.count, 100 * least,
			      100 * worst);
	close_counters(&o);
}

void survey_counts(struct facts *all)
{
	add_exactness(all, "instructions alone", 1);
	if (!survey_stopped(all))
		add_exactness(all, "in a group of three", 3);
	if (!survey_stopped(all))
		add_multiplexing(all);
}
