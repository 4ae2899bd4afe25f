/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns - two threads that switch at a given rate, and know how long they lived.
 *
 *	turns sleep RATE SECONDS	each thread works a little and sleeps, RATE times a second
 *	turns pass RATE SECONDS		the threads share a CPU and pass a byte to and fro, so that
 *					RATE times a second one goes on where the other stops
 *
 * Each prints a line for each thread: its ID, the time of its life by CLOCK_MONOTONIC, in ns, and
 * how many turns it had.  A busy machine gives fewer turns; the time of life stays what it is.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static uint64_t interval, life;	/* ns: of a turn, of all turns */
static uint64_t start;
static int there[2], back[2];

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void work_until(uint64_t time)
{
	while (now() < time)
		;
}

static uint64_t sleep_in_turns(void)
{
	uint64_t turns = 0;

	for (uint64_t t = now(), next = t; t < start + life; t = now(), turns++) {
		work_until(t + interval / 10);
		next = next + interval > t ? next + interval : t + interval;
		struct timespec until = { (time_t)(next / 1000000000), (long)(next % 1000000000) };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
	return turns;
}

/* The byte 1 is the last. */
static uint64_t pass_in_turns(int from, int to)
{
	uint64_t turns = 0;
	char c = 0;

	while (c == 0 && read(from, &c, 1) == 1) {
		uint64_t t = now();
		if (c == 0) {
			work_until(t + interval - interval / 4);
			c = t > start + life;
		}
		turns++;
		if (write(to, &c, 1) != 1)
			exit(1);
	}
	return turns;
}

static bool passes;

static void report(uint64_t from, uint64_t turns)
{
	char line[96];
	int size = snprintf(line, sizeof(line), "%d %" PRIu64 " %" PRIu64 "\n", gettid(),
			    now() - from, turns);

	if (write(1, line, (size_t)size) != size)
		exit(1);
}

static void *second(void *unused)
{
	uint64_t from = now();

	report(from, passes ? pass_in_turns(there[0], back[1]) : sleep_in_turns());
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	cpu_set_t one;
	char first = 0;

	start = now();
	if (argc != 4 || atof(argv[2]) <= 0 || pipe(there) || pipe(back))
		return 1;
	interval = (uint64_t)(1e9 / atof(argv[2]));
	life = (uint64_t)(1e9 * atof(argv[3]));
	passes = !strcmp(argv[1], "pass");
	prctl(PR_SET_TIMERSLACK, 1);
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	if (passes && (sched_setaffinity(0, sizeof(one), &one) || write(back[1], &first, 1) != 1))
		return 1;
	if (pthread_create(&thread, NULL, second, NULL))
		return 1;
	uint64_t turns = passes ? pass_in_turns(back[0], there[1]) : sleep_in_turns();
	pthread_join(thread, NULL);
	report(start, turns);
	return 0;
}
