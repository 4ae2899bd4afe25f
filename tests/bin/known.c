/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known FAULTS SWITCHES MIGRATIONS [threads | children] - touch so many new pages, of which none is
 * huge, sleep so many times, and move so many times to another CPU.
 *
 * With "threads" or "children", two threads or processes do the same, too.  At the end, print the
 * CPU time in ns and the context switches of all since main() began, by getrusage(2).  What came
 * before is not of the program alone: it was forked and waited for its exec() by then.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned long faults, switches, migrations;

static void touch(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = (faults + 1) * page;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	madvise(memory, size, MADV_NOHUGEPAGE);	/* fails where the kernel has none */
	for (unsigned long i = 0; i < faults; i++)
		memory[i * page] = 1;
}

/* Move to the CPUs of this process in turns. */
static void move(void)
{
	cpu_set_t all, one;
	int cpu[2], found = 0;

	if (sched_getaffinity(0, sizeof(all), &all) < 0)
		exit(1);
	for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
		if (CPU_ISSET(i, &all))
			cpu[found++] = i;
	for (unsigned long i = 0; i <= migrations && migrations && found == 2; i++) {
		CPU_ZERO(&one);
		CPU_SET(cpu[i % 2], &one);
		if (sched_setaffinity(0, sizeof(one), &one) < 0)
			exit(1);
	}
}

static void *work(void *unused)
{
	touch();
	for (unsigned long i = 0; i < switches; i++)
		nanosleep(&(struct timespec){ 0, 1000 }, NULL);
	move();
	return unused;
}

struct used {
	long long ns, switches;
};

static struct used used_until_now(void)
{
	struct used sum = { 0 };

	for (int i = 0; i < 2; i++) {
		struct rusage used;
		getrusage(i ? RUSAGE_CHILDREN : RUSAGE_SELF, &used);
		sum.ns += (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000LL +
			  (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000LL;
		sum.switches += used.ru_nvcsw + used.ru_nivcsw;
	}
	return sum;
}

int main(int argc, char **argv)
{
	struct used before = used_until_now(), after;
	pthread_t thread[2];

	if (argc < 4)
		return 2;
	faults = strtoul(argv[1], NULL, 10);
	switches = strtoul(argv[2], NULL, 10);
	migrations = strtoul(argv[3], NULL, 10);
	for (int i = 0; i < 2 && argc > 4; i++) {
		if (!strcmp(argv[4], "threads") && pthread_create(&thread[i], NULL, work, NULL))
			return 1;
		if (!strcmp(argv[4], "children") && fork() == 0) {
			work(NULL);
			_exit(0);
		}
	}
	work(NULL);
	for (int i = 0; i < 2 && argc > 4 && !strcmp(argv[4], "threads"); i++)
		pthread_join(thread[i], NULL);
	while (wait(NULL) > 0)
		;
	after = used_until_now();
	printf("%lld %lld\n", after.ns - before.ns, after.switches - before.switches);
	return 0;
}
