/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accuracy - samples ten functions of known shares by pmu-sample, and by a timer as profilers
 * inside programs use it.
 *
 * A child of this process does the work.  pmu-sample attaches to it, and starts to sample when we
 * say so by its --control; the child works when pmu-sample has answered.
 */
#include "survey/internal.h"
#include "base/sibling.h"
#include "base/write.h"
#include "linux/kernel-info.h"
#include "stream/reader.h"

#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ACCURACY "accuracy"

enum { METHODS = 4, TIMER = METHODS - 1, TIMER_HZ = 100 };
static const char *const methods[METHODS] = { "cycles:u", "instructions:u", "cpu-clock:u",
					      "timer" };

struct hits {
	uint64_t in[WORK_FUNCTIONS];
	uint64_t elsewhere;
	bool known;
};

/* Return the first prime from NUMBER on: no loop is in step with it for long. */
static uint64_t prime_from(uint64_t number)
{
	for (number |= 1;; number += 2) {
		uint64_t divisor = 3;
		while (divisor * divisor <= number && number % divisor)
			divisor += 2;
		if (divisor * divisor > number)
			return number;
	}
}

/* Start a child that works ROUNDS when it can read a byte from *GO. */
static pid_t start_worker(uint64_t rounds, int *go)
{
	int ends[2];
	char byte;

	if (pipe(ends) < 0)
		return -1;
	pid_t parent = getpid(), pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[1]);
		if (getppid() == parent && read(ends[0], &byte, 1) == 1)
			work_rounds(rounds);
		_exit(0);
	}
	close(ends[0]);
	if (pid < 0)
		close(ends[1]);
	else
		*go = ends[1];
	return pid;
}

/* Start pmu-sample for the process PID; CONTROL is its end of our socket.  Return its stream. */
static int start_sampler(struct sibling *sampler, const char *event, uint64_t period, pid_t pid,
			 int control, struct report *report)
{
	char period_text[24], pid_text[24], control_text[48];
	const char *const argv[] = { "pmu-sample", "-q", "--force", "-e", event, "-c", period_text,
				     "-p", pid_text, "-D", "-1", "--control", control_text, NULL };
	struct sibling_how how = { .in = -1, .out = -1, .passed = control, .bound = true };

	snprintf(period_text, sizeof(period_text), "%llu", (unsigned long long)period);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)pid);
	snprintf(control_text, sizeof(control_text), "fd:%d,%d", control, control);
	return sibling_run(sampler, (char *const *)(uintptr_t)argv, &how, report);
}

/* Tell pmu-sample to start, and wait until it has. */
static bool enable(int control, const volatile sig_atomic_t *stop)
{
	struct pollfd waiting = { .fd = control, .events = POLLIN };
	char answer[8];

	if (send(control, "enable\n", 7, MSG_NOSIGNAL) != 7)
		return false;
	for (int tries = 0; tries < 100 && !is_stopped(stop); tries++)
		if (poll(&waiting, 1, 100) > 0)
			return read(control, answer, sizeof(answer)) > 0;
	return false;
}

static void count_samples(int fd, struct hits *hits, struct report *report)
{
	struct stream_reader *in = stream_open_rest(fd, "pmu-sample", "", 0, report);
	struct record rec;
	struct sample sample;

	while (stream_next(in, &rec)) {
		if (rec.type != PERF_RECORD_SAMPLE || !stream_sample(in, &rec, &sample))
			continue;
		int function = work_find(sample.ip);
		if (function >= 0)
			hits->in[function]++;
		else
			hits->elsewhere++;
	}
	stream_close(in);
	hits->known = true;
}

/* Let pmu-sample sample the work.  Return whether it did. */
static bool sample_by(const char *event, uint64_t period, uint64_t rounds, struct hits *hits,
		      const volatile sig_atomic_t *stop, struct report *report)
{
	struct sibling sampler = { 0 };
	int control[2], go = -1;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) < 0)
		return false;
	pid_t worker = start_worker(rounds, &go);
	int stream = worker > 0 ? start_sampler(&sampler, event, period, worker, control[1], report)
			       : -1;
	close(control[1]);
	bool starts = stream >= 0 && enable(control[0], stop) && write(go, "", 1) == 1;
	if (go >= 0)
		close(go);		/* without a byte the worker ends at once */
	if (starts)
		count_samples(stream, hits, report);
	else if (stream >= 0)
		close(stream);
	if (worker > 0)
		waitpid(worker, NULL, 0);
	sibling_end(&sampler, !starts, report);
	close(control[0]);
	return starts;
}

static uint64_t total(const struct hits *h)
{
	uint64_t sum = 0;

	for (int i = 0; i < WORK_FUNCTIONS; i++)
		sum += h->in[i];
	return sum;
}

/* Add the largest error of a share, in points, and what chance would explain. */
static void add_result(struct facts *all, const char *method, const struct hits *h)
{
	double sum = (double)total(h), worst = 0;
	double elsewhere = sum > 0 ? 100 * (double)h->elsewhere / (sum + (double)h->elsewhere) : 0;

	if (!(sum > 0)) {
		facts_add(all, ACCURACY, method, "no samples of the work");
		return;
	}
	for (int i = 0; i < WORK_FUNCTIONS; i++) {
		double error = fabs(100 * (double)h->in[i] / sum - 100.0 * (i + 1) / WORK_SHARES);
		worst = error > worst ? error : worst;
	}
	/* two standard deviations of the largest share, 10/55 */
	double chance = 200 * sqrt(10.0 / 55 * 45 / 55 / sum);
	facts_measure(all, ACCURACY, method, worst, "points",
		      "worst share wrong by %.2f points, of %.0f samples; chance alone: %.2f; "
		      "%.2f %% of the samples are elsewhere", worst, sum, chance, elsewhere);
}

/* Add a line for each function: its share of the work, and its share by each method. */
static void add_table(struct facts *all, const struct hits hits[METHODS])
{
	for (int i = WORK_FUNCTIONS - 1; i >= 0; i--) {
		char text[128], name[32];
		int used = snprintf(text, sizeof(text), "%.2f %%", 100.0 * (i + 1) / WORK_SHARES);
		for (int m = 0; m < METHODS; m++) {
			double sum = (double)total(&hits[m]);
			if (hits[m].known && sum > 0)
				used += snprintf(text + used, sizeof(text) - (size_t)used,
						 ", %s %.2f", methods[m],
						 100 * (double)hits[m].in[i] / sum);
		}
		snprintf(name, sizeof(name), "share of %c", 'A' + i);
		facts_add(all, ACCURACY, name, "%s", text);
	}
}

static void measure(struct facts *all, int method, double pace, uint64_t rounds, struct hits *hits)
{
	struct report silent = { .tool = "pmu-events", .quiet = true };
	long limit = kernel_sysctl("perf_event_max_sample_rate");
	double rate = limit >= 80000 ? 20000 : (double)limit / 4;
	uint64_t period = (uint64_t)(pace / (rate > 1 ? rate : 1));

	if (sample_by(methods[method], prime_from(period > 1000 ? period : 1001), rounds, hits,
		      all->options->stop, &silent))
		add_result(all, methods[method], hits);
	else
		facts_add(all, ACCURACY, methods[method], survey_stopped(all) ? "not finished"
			  : "unknown: pmu-sample cannot attach to a process here");
}

void survey_accuracy(struct facts *all)
{
	struct hits hits[METHODS] = { 0 };
	char path[PATH_MAX];
	bool found = sibling_find("pmu-sample", path);
	uint64_t rounds = work_rounds_of(1000000000);

	for (int m = 0; m < METHODS && !survey_stopped(all); m++) {
		struct perf_event_attr attr;
		if (m == TIMER) {
			work_under_timer(rounds, TIMER_HZ, hits[m].in);
			hits[m].known = true;
			add_result(all, "timer of 100 Hz", &hits[m]);
		} else if (!found) {
			facts_add(all, ACCURACY, methods[m], "unknown: pmu-sample was not found");
		} else if (!survey_attr(methods[m], &attr)) {
			facts_add(all, ACCURACY, methods[m], "none: it cannot be sampled here");
		} else {
			measure(all, m, survey_pace(&attr), rounds, &hits[m]);
		}
	}
	if (!survey_stopped(all))
		add_table(all, hits);
}
