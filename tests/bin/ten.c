/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ten - workloads whose profile is known.
 *
 *	ten serial SECONDS	functions A..J, of 1/55 .. 10/55 of the time
 *	ten threads SECONDS	ten threads t0..t9, of equal work, each in its function
 *	ten growing SECONDS	the same, but created one after the other while it runs
 *
 * Work is measured in CPU time of the thread that does it, so what else the
 * machine does is no matter.
 */
#include <pthread.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static uint64_t cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static volatile uint64_t sink;

/* Each is a leaf, and looks at the clock rarely. */
#define FUNCTION(name)						\
	__attribute__((noinline)) static void name(uint64_t ns)	\
	{							\
		uint64_t end = cpu_time() + ns, x = end;	\
								\
		do						\
			for (int i = 0; i < 20000; i++)		\
				x = x * 6364136223846793005u + 1442695040888963407u;	\
		while (cpu_time() < end);			\
		sink += x;					\
	}

FUNCTION(A) FUNCTION(B) FUNCTION(C) FUNCTION(D) FUNCTION(E)
FUNCTION(F) FUNCTION(G) FUNCTION(H) FUNCTION(I) FUNCTION(J)

static void (*const function[10])(uint64_t) = { A, B, C, D, E, F, G, H, I, J };

/* Rounds of 55 units, so that a part of the whole has the same shares. */
static void serial(double seconds)
{
	const uint64_t unit = 2000000;	/* ns */
	uint64_t rounds = (uint64_t)(seconds * 1e9 / 55 / (double)unit) + 1;

	for (uint64_t round = 0; round < rounds; round++)
		for (unsigned i = 0; i < 10; i++)
			function[i]((i + 1) * unit);
}

struct job {
	unsigned index;
	uint64_t ns;
};

static void *thread_main(void *argument)
{
	const struct job *job = argument;
	char name[8] = { 't', (char)('0' + job->index) };

	prctl(PR_SET_NAME, name);
	function[job->index](job->ns);
	return NULL;
}

static void threads(double seconds, unsigned pause_us)
{
	pthread_t thread[10];
	struct job job[10];

	for (unsigned i = 0; i < 10; i++) {
		job[i] = (struct job){ i, (uint64_t)(seconds * 1e8) };
		if (pthread_create(&thread[i], NULL, thread_main, &job[i]))
			exit(1);
		usleep(pause_us);
	}
	for (unsigned i = 0; i < 10; i++)
		pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
	double seconds = argc == 3 ? strtod(argv[2], NULL) : 0;

	if (seconds <= 0)
		return 2;
	if (!strcmp(argv[1], "serial"))
		serial(seconds);
	else if (!strcmp(argv[1], "threads"))
		threads(seconds, 0);
	else if (!strcmp(argv[1], "growing"))
		threads(seconds, 100000);
	else
		return 2;
	return 0;
}
