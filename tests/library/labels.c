/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels by the library:
 *
 *	labels work MS		two threads run work_a() to work_d() under the labels work=a to d
 *	labels threads N	N threads set labels, and end
 *	labels cost		print the nanoseconds of a call
 *	labels mistakes
 */
#include <pmukit.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* Each has code of its own, and stays in it for some time. */
#define WORK(name) \
	__attribute__((noinline)) static uint64_t work_##name(uint64_t x) \
	{ \
		for (int i = 0; i < 100000; i++) \
			x = x * 6364136223846793005 + #name[0]; \
		__asm__ volatile("" : "+r"(x)); \
		return x; \
	}
WORK(a)
WORK(b)
WORK(c)
WORK(d)
WORK(none)

static uint64_t (*const work[])(uint64_t) = { work_a, work_b, work_c, work_d };
static long until;

static void *run(void *unused)
{
	uint64_t x = 0;

	(void)unused;
	while (now(CLOCK_THREAD_CPUTIME_ID) < until)
		for (int i = 0; i < 4; i++) {
			const char name[] = { (char)('a' + i), '\0' };

			pmukit_label_set("work", name);
			pmukit_label_set("also", "x");
			x = work[i](x);
			pmukit_label_set("also", NULL);
			x = work[i](x);
			pmukit_label_clear();
			x = work_none(x);
		}
	return (void *)(uintptr_t)x;
}

static void run_work(int ms)
{
	pthread_t thread;

	/* pmu-sample needs some time until it can read the labels of a new program */
	for (uint64_t x = 0; now(CLOCK_THREAD_CPUTIME_ID) < 100000000L; )
		x = work_none(x);
	until = ms * 1000000L;
	pthread_create(&thread, NULL, run, NULL);
	run(NULL);
	pthread_join(thread, NULL);
}

static void *set_some(void *unused)
{
	char key[16];

	for (int i = 0; i < 20; i++) {
		snprintf(key, sizeof(key), "key%d", i % 12);
		pmukit_label_set(key, i % 3 ? "value" : NULL);
	}
	return unused;
}

static void start_threads(int count)
{
	for (int i = 0; i < count; i += 10) {
		pthread_t thread[10];

		for (int k = 0; k < 10; k++)
			pthread_create(&thread[k], NULL, set_some, NULL);
		for (int k = 0; k < 10; k++)
			pthread_join(thread[k], NULL);
	}
}

static void print_cost(void)
{
	enum { CALLS = 1000000 };
	long start = now(CLOCK_THREAD_CPUTIME_ID);

	for (int i = 0; i < CALLS / 2; i++) {
		pmukit_label_set("user", "somebody");
		pmukit_label_set("user", NULL);
	}
	printf("%ld\n", (now(CLOCK_THREAD_CPUTIME_ID) - start) / CALLS);
}

static void call_wrongly(void)
{
	int of_null = pmukit_label_set(NULL, "x"), of_empty = pmukit_label_set("", "x");

	printf("%d %d %s\n", of_null, of_empty, pmukit_error());
	printf("%d\n", pmukit_label_set("absent", NULL));
	pmukit_label_clear();
	pmukit_label_clear();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "work") && argc > 2)
		run_work(atoi(argv[2]));
	else if (!strcmp(what, "threads") && argc > 2)
		start_threads(atoi(argv[2]));
	else if (!strcmp(what, "cost"))
		print_cost();
	else if (!strcmp(what, "mistakes"))
		call_wrongly();
	else
		return 2;
	return 0;
}
