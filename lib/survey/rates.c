/* SPDX-License-Identifier: Apache-2.0 */
/* rates - how fast this machine can be sampled, and what a sample costs the program. */
#include "survey/internal.h"
#include "base/clock.h"
#include "counters/ring.h"
#include "linux/kernel-info.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RATES "sampling"

/* What a run of our work under an event gave. */
struct sampled_run {
	uint64_t samples, throttled, lost;
	uint64_t cpu;		/* ns */
};

/* Add the records of RING to RUN. */
static void drain(struct ring *ring, struct sampled_run *run)
{
	const struct perf_event_header *record;

	ring_refresh(ring);
	while ((record = ring_peek(ring))) {
		run->samples += record->type == PERF_RECORD_SAMPLE;
		run->throttled += record->type == PERF_RECORD_THROTTLE;
		run->lost += record->type == PERF_RECORD_LOST;
		ring_take(ring);
	}
	ring_give_back(ring);
}

/* Sample this thread every PERIOD events while it works ROUNDS.  False: it cannot be sampled. */
static bool sample_work(const struct chosen *chosen, uint64_t period, uint64_t rounds,
			struct sampled_run *run)
{
	struct perf_event_attr attr = chosen->attr;
	struct ring ring = { .fd = -1 };

	*run = (struct sampled_run){ 0 };
	attr.freq = 0;
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.disabled = 0;
	int fd = event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return false;
	/* small enough for the memory that an ordinary user may lock */
	bool good = ring_map(&ring, fd, (size_t)128 * 1024, false);
	while (good && rounds--) {
		uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		work_rounds(1);
		run->cpu += clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
		drain(&ring, run);
	}
	if (good)
		ring_unmap(&ring);
	close(fd);
	return good;
}

double survey_pace(const struct perf_event_attr *sampled)
{
	struct perf_event_attr attr = *sampled;
	uint64_t count = 0, rounds = work_rounds_of(20000000);

	attr.freq = 0;
	attr.sample_period = 0;
	attr.disabled = 0;
	int fd = event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return 0;
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	work_rounds(rounds);
	uint64_t took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	if (read(fd, &count, sizeof(count)) != sizeof(count) || !took)
		count = 0;
	close(fd);
	return (double)count * 1e9 / (double)took;
}

void survey_choose(struct chosen *chosen)
{
	static const char *const names[] = { "cycles:u", "cpu-clock:u" };

	*chosen = (struct chosen){ 0 };
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !chosen->name; i++) {
		struct perf_event_attr attr;
		double pace = survey_attr(names[i], &attr) ? survey_pace(&attr) : 0;
		if (pace > 0)
			*chosen = (struct chosen){ names[i], attr, pace };
	}
}

/* Sample faster and faster, until the kernel throttles or the kernel's limit is reached. */
static void add_highest_rate(struct facts *all, const struct chosen *chosen)
{
	static const unsigned int rates[] = { 1000, 2000, 5000, 10000, 20000, 50000, 100000 };
	long limit = kernel_sysctl("perf_event_max_sample_rate");
	uint64_t rounds = work_rounds_of(100000000);
	double best = 0, throttled = 0;

	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates) && !survey_stopped(all); i++) {
		struct sampled_run run;
		uint64_t period = (uint64_t)(chosen->per_second / rates[i]);
		if ((long)rates[i] > limit || !period)
			break;
		if (!sample_work(chosen, period, rounds, &run) || !run.cpu)
			break;
		double got = (double)run.samples * 1e9 / (double)run.cpu;
		if (run.throttled) {
			throttled = rates[i];
			break;
		}
		best = got > best ? got : best;
	}
	if (throttled > 0)
		facts_measure(all, RATES, "highest rate", best, "hertz",
			      "%.0f samples per second of %s; throttled at %.0f", best,
			      chosen->name, throttled);
	else
		facts_measure(all, RATES, "highest rate", best, "hertz",
			      "%.0f samples per second of %s, never throttled; the kernel's limit "
			      "is %ld", best, chosen->name, limit);
}

static int compare_costs(const void *a, const void *b)
{
	int64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

/* The cost of a sample: the same work in turns, with samples and without. */
static void add_cost(struct facts *all, const struct chosen *chosen)
{
	enum { PAIRS = 15 };
	long limit = kernel_sysctl("perf_event_max_sample_rate");
	double rate = limit >= 20000 ? 10000 : (double)limit / 2;
	uint64_t period = (uint64_t)(chosen->per_second / (rate > 1 ? rate : 1));
	uint64_t rounds = work_rounds_of(20000000);
	int64_t cost[PAIRS];	/* below 0 where other work disturbed a run without samples */
	size_t count = 0;

	for (int i = 0; i < PAIRS && period && !survey_stopped(all); i++) {
		struct sampled_run with;
		uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		work_rounds(rounds);
		uint64_t without = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
		if (!sample_work(chosen, period, rounds, &with) || !with.samples)
			break;
		cost[count++] = ((int64_t)with.cpu - (int64_t)without) / (int64_t)with.samples;
	}
	if (!count) {
		facts_add(all, RATES, "cost of a sample", "unknown: there were no samples");
		return;
	}
	qsort(cost, count, sizeof(*cost), compare_costs);
	facts_measure(all, RATES, "cost of a sample", (double)cost[count / 2], "nanoseconds",
		      "%lld ns of CPU time, without a stack; half of %zu runs took %lld to %lld ns",
		      (long long)cost[count / 2], count, (long long)cost[count / 4],
		      (long long)cost[count - 1 - count / 4]);
}

void survey_rates(struct facts *all, const struct chosen *chosen)
{
	if (!chosen->name) {
		facts_add(all, RATES, "highest rate", "hidden: this user may not sample");
		return;
	}
	add_highest_rate(all, chosen);
	if (!survey_stopped(all))
		add_cost(all, chosen);
}
