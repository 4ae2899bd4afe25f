/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grow THREADS MILLISECONDS [FILE] - after SIGUSR1, create THREADS threads as fast as possible.
 * Each uses MILLISECONDS of CPU time, then prints its thread ID and its CPU time in ns.
 * With FILE, create a thread each 2 ms instead, and before each one rename the process 1000 times,
 * which fills small rings with records.  All threads wait until there is such a file.
 * At the end, print "total" and the time of the whole process in ns, by the clock of the
 * task-clock event.  Other than CPU time, it has what a host takes from a virtual CPU.
 */
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t end;	/* ns of CPU time */
static const char *file;

static uint64_t cpu_time(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Return a descriptor that counts the time of this process and all its threads to come. */
static int count_time(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK, .inherit = 1, .exclude_kernel = 1 };

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void *work(void *unused)
{
	while (file && access(file, F_OK))
		usleep(20000);
	while (cpu_time(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 5000; i++)
			;
	printf("%ld %llu\n", syscall(SYS_gettid),
	       (unsigned long long)cpu_time(CLOCK_THREAD_CPUTIME_ID));
	return unused;
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? (int)strtoul(argv[1], NULL, 10) : 0, number;
	pthread_t *thread = calloc((size_t)threads + 1, sizeof(*thread));
	int counter = count_time();
	uint64_t total;
	sigset_t set;

	if (!threads || !thread)
		return 2;
	end = strtoull(argv[2], NULL, 10) * 1000000;
	file = argc > 3 ? argv[3] : NULL;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (!freopen("ready", "w", stderr) || sigwait(&set, &number))
		return 1;
	for (int i = 0; i < threads; i++) {
		for (int names = file ? 1000 : 0; names > 0; names--)
			prctl(PR_SET_NAME, "grow");
		pthread_create(&thread[i], NULL, work, NULL);
		if (file)
			usleep(2000);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	if (read(counter, &total, sizeof(total)) != sizeof(total))
		return 1;
	printf("total %llu\n", (unsigned long long)total);
	free(thread);
	return 0;
}
