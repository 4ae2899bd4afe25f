/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spin - workloads with a known number of instructions, and a known profile.
 *
 *	spin serial ROUNDS	functions A..J with 1/55 .. 10/55 of the work in each round
 *	spin threads ROUNDS	ten threads t0..t9 of equal work, each in a function of its own
 *	spin growing ROUNDS	like threads, but each thread creates the next thread when it
 *				has done half of its work
 *	spin children ROUNDS	works, then creates two processes that do the same work
 *				each
 *	spin hot ROUNDS		one loop with one slow instruction, at the label "slow"
 *	spin MODE ROUNDS HZ	MODE, profiled with SIGPROF every 1/HZ s of CPU time, as
 *				profilers inside programs do; prints the number of hits
 *				in each of A..J, and "other"
 *
 * An iteration of the loop in A..J has two instructions; a round has slightly more than
 * 110 * UNIT instructions.  spin prints its CPU time in ns.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__aarch64__)
#define TURNS(n) __asm__ volatile("1: subs %0, %0, #1\n b.ne 1b\n" : "+r"(n) : : "cc", "memory")
#elif defined(__x86_64__)
#define TURNS(n) __asm__ volatile("1: dec %0\n jne 1b\n" : "+r"(n) : : "cc", "memory")
#else
#define TURNS(n) do __asm__ volatile("" : "+r"(n)); while (--n)
#endif

#define FUNCTION(name)						\
	__attribute__((noinline)) static void name(uint64_t turns)	\
	{							\
		TURNS(turns);					\
		__asm__ volatile("" ::: "memory");		\
	}

FUNCTION(A) FUNCTION(B) FUNCTION(C) FUNCTION(D) FUNCTION(E)
FUNCTION(F) FUNCTION(G) FUNCTION(H) FUNCTION(I) FUNCTION(J)

enum { UNIT = 100003 };	/* iterations; prime, so that no period divides it */

static void (*const function[10])(uint64_t) = { A, B, C, D, E, F, G, H, I, J };
static uint64_t rounds;

__attribute__((noinline)) static void serial(void)
{
	for (uint64_t round = 0; round < rounds; round++)
		for (unsigned i = 0; i < 10; i++)
			function[i]((i + 1) * (uint64_t)UNIT);
}

static void take_name(unsigned index)
{
	char name[] = { 't', (char)('0' + index), '\0' };

	prctl(PR_SET_NAME, name);
}

static void work(unsigned index, uint64_t times)
{
	for (uint64_t i = 0; i < times; i++)
		function[index](UNIT);
}

static void *be_thread(void *argument)
{
	unsigned index = (unsigned)(uintptr_t)argument;

	take_name(index);
	work(index, rounds);
	return NULL;
}

static void threads(void)
{
	pthread_t thread[10];

	for (uintptr_t i = 0; i < 10; i++)
		pthread_create(&thread[i], NULL, be_thread, (void *)i);
	for (int i = 0; i < 10; i++)
		pthread_join(thread[i], NULL);
}

static void *be_parent_thread(void *argument)
{
	uintptr_t index = (uintptr_t)argument;
	pthread_t next;

	take_name((unsigned)index);
	work((unsigned)index, rounds / 2);
	if (index < 9)
		pthread_create(&next, NULL, be_parent_thread, (void *)(index + 1));
	work((unsigned)index, rounds - rounds / 2);
	if (index < 9)
		pthread_join(next, NULL);
	return NULL;
}

static void growing(void)
{
	be_parent_thread(NULL);
}

static void children(void)
{
	serial();
	for (int i = 0; i < 2; i++)
		if (fork() == 0) {
			prctl(PR_SET_NAME, "child");
			serial();
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
}

/* Thirty cheap instructions and, at its label, one division. */
__attribute__((noinline)) static void hot_loop(uint64_t turns)
{
#if defined(__aarch64__)
	uint64_t a = 1, b = 3;

	__asm__ volatile("1:\n .rept 15\n add %1, %1, #1\n .endr\n"
			 ".globl slow\nslow: udiv %1, %1, %2\n .rept 15\n add %1, %1, #1\n .endr\n"
			 "subs %0, %0, #1\n b.ne 1b\n" : "+r"(turns), "+r"(a) : "r"(b) : "cc");
#else
	TURNS(turns);
#endif
}

static void hot(void)
{
	for (uint64_t round = 0; round < rounds; round++)
		hot_loop(UNIT);
}

static unsigned hits[11];	/* in A..J, and elsewhere */

#if defined(__aarch64__)
#define PROGRAM_COUNTER(u) ((u)->uc_mcontext.pc)
#elif defined(__x86_64__)
#define PROGRAM_COUNTER(u) ((uint64_t)(u)->uc_mcontext.gregs[REG_RIP])
#endif

static void on_timer(int number, siginfo_t *info, void *context)
{
	enum { LONGEST = 16 };	/* bytes of each of A..J, and their alignment */
	uint64_t pc = PROGRAM_COUNTER((ucontext_t *)context);
	int i = 0;

	(void)number;
	(void)info;
	while (i < 10 && pc - (uintptr_t)function[i] >= LONGEST)
		i++;
	__atomic_fetch_add(&hits[i], 1, __ATOMIC_RELAXED);
}

static void start_timer(long hz)
{
	struct sigaction act = { .sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct itimerval each = { { 0, 1000000 / hz }, { 0, 1000000 / hz } };

	sigaction(SIGPROF, &act, NULL);
	setitimer(ITIMER_PROF, &each, NULL);
}

static void stop_timer(void)
{
	static const struct itimerval never;

	setitimer(ITIMER_PROF, &never, NULL);
	for (int i = 0; i < 11; i++)
		printf("%.*s %u\n", i < 10 ? 1 : 5, i < 10 ? &"ABCDEFGHIJ"[i] : "other", hits[i]);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {
		{ "serial", serial }, { "threads", threads }, { "growing", growing },
		{ "children", children }, { "hot", hot },
	};
	struct timespec t;

	if (argc < 3 || argc > 4 || !(rounds = strtoull(argv[2], NULL, 10)))
		return 2;
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(argv[1], modes[i].name)) {
			if (argc == 4)
				start_timer(strtol(argv[3], NULL, 10));
			modes[i].run();
			if (argc == 4)
				stop_timer();
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
			printf("%lld\n", (long long)t.tv_sec * 1000000000 + t.tv_nsec);
			return 0;
		}
	return 2;
}
