/* SPDX-License-Identifier: Apache-2.0 */
/*
 * movers THREADS PAGES - threads that each touch PAGES new pages, one after the other, and move to
 * the next CPU after each eight.  So each thread has exactly PAGES page faults in memory that is
 * its own, in the order of the addresses, on many CPUs.
 *
 * When all threads wait, it prints a line for each thread: its tid, and the first and the last
 * address of its memory.  They start at SIGUSR1.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, STAY = 8, STACK = 65536 };

static unsigned long pages;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t waiting;

/* Go to the next CPU that this process may use. */
static void move(unsigned *cpu, const cpu_set_t *allowed)
{
	cpu_set_t one;

	do
		*cpu = (*cpu + 1) % CPU_SETSIZE;
	while (!CPU_ISSET(*cpu, allowed));
	CPU_ZERO(&one);
	CPU_SET(*cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void *touch(void *memory)
{
	volatile char *own = memory;
	long tid = syscall(SYS_gettid);
	unsigned cpu = (unsigned)tid % 64;
	cpu_set_t allowed;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	printf("%ld %#lx %#lx\n", tid, (unsigned long)(uintptr_t)memory,
	       (unsigned long)(uintptr_t)memory + pages * PAGE - 1);
	pthread_barrier_wait(&waiting);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	for (unsigned long i = 0; i < pages; i++) {
		if (i % STAY == 0)
			move(&cpu, &allowed);
		own[i * PAGE] = 1;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	pthread_t *thread = calloc(threads + 1, sizeof(*thread));
	pthread_attr_t small;
	int signal;
	sigset_t start;

	pages = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	sigemptyset(&start);
	sigaddset(&start, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &start, NULL);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK);
	pthread_barrier_init(&waiting, NULL, threads + 1);
	pthread_mutex_lock(&gate);
	for (unsigned i = 0; i < threads; i++) {
		void *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED || madvise(memory, pages * PAGE, MADV_NOHUGEPAGE) < 0 ||
		    pthread_create(&thread[i], &small, touch, memory) != 0)
			return 1;
	}
	pthread_barrier_wait(&waiting);
	fflush(stdout);
	sigwait(&start, &signal);
	pthread_mutex_unlock(&gate);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
