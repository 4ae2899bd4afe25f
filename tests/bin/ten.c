/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ten - workloads with a known profile.
 *
 *	ten serial SECONDS	functions A..J with 1/55 .. 10/55 of the time
 *	ten lazy SECONDS	the same, but it sleeps nine times as long as it works
 *	ten threads SECONDS	ten threads t0..t9 of equal work, each in a function of its own
 *	ten growing SECONDS	like threads, but each thread creates the next thread when it
 *				has done half of its work
 *	ten late SECONDS	like threads, but t0..t4 wait for SIGUSR1; then t5..t9 start
 *	ten pair SECONDS	A alone, then two threads at a time, in B and C: a third each
 *	ten faulting SECONDS	the function faulting(), which spends its time in itself and
 *				in page faults, and then A for 10 ms
 *
 * Work is measured in CPU time of the thread that does it, so the load of the
 * machine does not matter.  SECONDS may be "forever".
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
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

/* Each function is a leaf, and rarely reads the clock. */
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

static uint64_t unit = 2000000;	/* ns */
static uint64_t sleeps;		/* so many times as long as it works */

/* Rounds of 55 units, so that any part of the run has the same shares. */
static void serial(double seconds)
{
	uint64_t rounds = (uint64_t)(seconds * 1e9 / 55 / (double)unit) + 1;

	for (uint64_t round = 0; round < rounds; round++)
		for (unsigned i = 0; i < 10; i++) {
			struct timespec rest = { .tv_nsec = (long)(sleeps * (i + 1) * unit) };
			function[i]((i + 1) * unit);
			if (sleeps)
				nanosleep(&rest, NULL);
		}
}

enum { THREADS = 10 };

static uint64_t each_ns;	/* CPU time of one thread */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void take_name(uintptr_t index)
{
	char name[8] = { 't', (char)('0' + index) };

	prctl(PR_SET_NAME, name);
}

static void *work(void *argument)
{
	uintptr_t index = (uintptr_t)argument;

	take_name(index);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	function[index](each_ns);
	return NULL;
}

static pthread_t create(void *(*run)(void *), uintptr_t index)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, (void *)index))
		exit(1);
	return thread;
}

static void threads(unsigned late)
{
	pthread_t thread[THREADS];
	sigset_t set;
	int number;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pthread_mutex_lock(&gate);
	for (unsigned i = 0; i < THREADS; i++) {
		if (i == THREADS - late)
			sigwait(&set, &number);
		thread[i] = create(work, i);
	}
	pthread_mutex_unlock(&gate);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void *grow(void *argument)
{
	uintptr_t index = (uintptr_t)argument;

	take_name(index);
	function[index](each_ns / 2);
	pthread_t next = index + 1 < THREADS ? create(grow, index + 1) : 0;
	function[index](each_ns / 2);
	if (next)
		pthread_join(next, NULL);
	return NULL;
}

static void *do_third(void *index)
{
	function[(uintptr_t)index](each_ns);
	return NULL;
}

static void pair(void)
{
	A(each_ns);
	pthread_t b = create(do_third, 1), c = create(do_third, 2);
	pthread_join(b, NULL);
	pthread_join(c, NULL);
}

__attribute__((noinline)) static void faulting(uint64_t ns)
{
	const size_t page = 4096, size = 16 * page;
	uint64_t end = cpu_time() + ns, x = end;

	do {
		char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (bytes == MAP_FAILED)
			exit(1);
		for (size_t i = 0; i < size; i += page)
			bytes[i] = 1;
		munmap(bytes, size);
		for (int i = 0; i < 20000; i++)
			x = x * 6364136223846793005u + 1442695040888963407u;
	} while (cpu_time() < end);
	sink += x;
	A(10000000);
}

int main(int argc, char **argv)
{
	double seconds = argc != 3 ? 0 : strcmp(argv[2], "forever") ? strtod(argv[2], NULL) : 1e9;

	if (seconds <= 0)
		return 2;
	each_ns = (uint64_t)(seconds * 1e9 / THREADS);
	if (!strcmp(argv[1], "serial"))
		serial(seconds);
	else if (!strcmp(argv[1], "lazy"))
		unit = 200000, sleeps = 9, serial(seconds);
	else if (!strcmp(argv[1], "threads"))
		threads(0);
	else if (!strcmp(argv[1], "late"))
		threads(5);
	else if (!strcmp(argv[1], "growing"))
		pthread_join(create(grow, 0), NULL);
	else if (!strcmp(argv[1], "pair"))
		each_ns = (uint64_t)(seconds * 1e9 / 3), pair();
	else if (!strcmp(argv[1], "faulting"))
		faulting((uint64_t)(seconds * 1e9));
	else
		return 2;
	return 0;
}
