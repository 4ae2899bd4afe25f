/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chains WHAT CPU_MS [DEPTH [WORK]] - a program whose callchains are known by construction:
 * main calls WHAT, which takes CPU_MS of CPU time in all, and then waits for the end of its input.
 *
 *	rec	rec() calls itself DEPTH times, then burn()
 *	sort	rec(), then compare() called by the C library's qsort()
 *	signal	rec(), then burn(), interrupted by handler(), which calls inside() and burn();
 *		WORK: how many times as much the handler does
 *	other	the same, but handler() has a stack of its own
 *	clock	once() calls the vdso
 *	stub	loop() calls tiny(), of a library, through the procedure linkage table
 *	frames	functions with frames of sizes not known when compiled, and aligned frames
 *	pops	pops() saves registers, restores them and returns, called from a frame by rbp
 *	jumps	last() ends in a call of jumps(), which does not return to it
 *	context	coroutines of makecontext(), which call rec() and burn()
 *	thread	a second thread calls rec() and burn()
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

#define apart __attribute__((noinline, noclone))

#ifdef LIBRARY
int tiny(int x);
int tiny(int x) { return x * 3 + 1; }
#else

static volatile unsigned long sink;
static long end_ms;

static long cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

apart static void burn(long n)
{
	for (long i = 0; i < n; i++)
		sink += (unsigned long)i ^ sink;
}

static int compare(const void *a, const void *b)
{
	for (int i = 0; i < 20; i++)
		sink += (unsigned long)i ^ sink;
	return *(const int *)a - *(const int *)b;
}

apart static void sort(void)
{
	static int number[3000];

	for (int i = 0; i < 3000; i++)
		number[i] = rand();
	qsort(number, 3000, sizeof(*number), compare);
	sink++;
}

apart static long rec(int depth, void (*last)(void))
{
	volatile char room[40];

	room[0] = (char)depth;
	if (depth > 0)
		return rec(depth - 1, last) + room[0];
	last();
	return room[0];
}

apart static void burn_some(void)
{
	burn(100000);
	sink++;
}

static int handler_work = 1;	/* more, for CPUs that are so fast that it is hardly sampled */

apart static void inside(void)
{
	burn(400000 * handler_work);
	sink++;
}

static void handler(int number)
{
	(void)number;
	inside();
	sink++;
}

static void catch_signals(int own_stack)
{
	struct sigaction action = { .sa_handler = handler,
				    .sa_flags = SA_RESTART | (own_stack ? SA_ONSTACK : 0) };
	struct itimerval timer = { { 0, 4000 }, { 0, 4000 } };
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };

	if (own_stack)
		sigaltstack(&stack, NULL);
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &timer, NULL);
}

apart static long once(void)
{
	struct timespec t;
	struct timeval v;

	clock_gettime(CLOCK_MONOTONIC, &t);
	gettimeofday(&v, NULL);
	return t.tv_nsec + v.tv_usec;
}

#ifdef STUB
int tiny(int x);
#else
apart static int tiny(int x) { return x * 3 + 1; }
#endif

apart static long loop(int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++)
		sum += tiny(i);
	return sum + 1;
}

apart static long many_clocks(void)
{
	long sum = 0;

	for (int i = 0; i < 10000; i++)
		sum += once();
	return sum + 1;
}

apart static long of_any_size(int n)
{
	char *room = __builtin_alloca(n * 16);

	for (int i = 0; i < n * 16; i++)
		room[i] = (char)i;
	burn(20000);
	return room[n];
}

typedef float wide __attribute__((vector_size(32)));

apart static long aligned(int n)
{
	volatile wide x = { 0 };
	char *room = __builtin_alloca(n);

	room[0] = 1;
	for (int i = 0; i < 20; i++) {
		x += 1.0f;
		burn(1000);
	}
	return (long)x[3] + room[0];
}

/* Most of its time is in its last instructions, where the registers are restored already. */
apart static long pops(long n)
{
#ifdef POPS	/* not with frame pointers */
	__asm__ volatile("" : "+r" (n) : : "rbx", "rbp", "r12", "r13", "r14", "r15");
#endif
	return n + 1;
}

apart static long many_pops(int n)
{
	char *room = __builtin_alloca(n * 16);
	long sum = 0;

	room[0] = 1;
	for (int i = 0; i < 200000; i++)
		sum += pops(i);
	return sum + room[0];
}

static jmp_buf back;

apart __attribute__((noreturn)) static void jumps(void)
{
	burn(50000);
	longjmp(back, 1);
}

apart __attribute__((noreturn)) static void last(void)
{
	volatile char room[40];

	room[0] = 1;
	jumps();
}

static ucontext_t scheduler, coroutine[4];

static void run_coroutine(int which)
{
	for (;;) {
		rec(which + 3, burn_some);
		swapcontext(&coroutine[which], &scheduler);
	}
}

static void make_coroutines(void)
{
	for (int i = 0; i < 4; i++) {
		getcontext(&coroutine[i]);
		coroutine[i].uc_stack.ss_sp = calloc(1, 65536);
		coroutine[i].uc_stack.ss_size = 65536;
		coroutine[i].uc_link = &scheduler;
		makecontext(&coroutine[i], (void (*)(void))run_coroutine, 1, i);
	}
}

static int depth;

static void *run_thread(void *nothing)
{
	while (cpu_ms() < end_ms)
		sink += (unsigned long)rec(depth, burn_some);
	return nothing;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "rec";
	pthread_t thread;

	end_ms = cpu_ms() + (argc > 2 ? atoi(argv[2]) : 100);
	depth = argc > 3 ? atoi(argv[3]) : 10;
	handler_work = argc > 4 ? atoi(argv[4]) : 1;
	if (!strcmp(what, "signal") || !strcmp(what, "other"))
		catch_signals(!strcmp(what, "other"));
	if (!strcmp(what, "context"))
		make_coroutines();
	if (!strcmp(what, "thread")) {
		pthread_create(&thread, NULL, run_thread, NULL);
		pthread_join(thread, NULL);
	}
	for (int i = 0; cpu_ms() < end_ms; i++) {
		if (!strcmp(what, "sort"))
			sink += (unsigned long)rec(depth, sort);
		else if (!strcmp(what, "clock"))
			sink += (unsigned long)many_clocks();
		else if (!strcmp(what, "stub"))
			sink += (unsigned long)loop(100000);
		else if (!strcmp(what, "frames"))
			sink += (unsigned long)(of_any_size(i % 50 + 1) + aligned(i % 100 + 1));
		else if (!strcmp(what, "pops"))
			sink += (unsigned long)many_pops(i % 50 + 1);
		else if (!strcmp(what, "jumps") && setjmp(back) == 0)
			last();
		else if (!strcmp(what, "context"))
			swapcontext(&scheduler, &coroutine[i % 4]);
		else
			sink += (unsigned long)rec(depth, burn_some);
	}
	puts("done");
	while (getchar() != EOF)
		;
	return 0;
}
#endif
