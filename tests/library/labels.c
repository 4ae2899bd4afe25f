/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels by the library:
 *
 *	labels work MS		two threads run work_a() to work_d() under the labels work=a to d
 *	labels limits MS	work_a() runs under more labels than a profile has, two of them long
 *	labels threads N	N threads set labels, and end
 *	labels foreign		a set of another library is there first
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

static void run_with_many(int ms)
{
	enum { LABELS = 13, LONG = 300 };
	char key[16], text[LONG + 1];
	uint64_t x = 0;

	memset(text, 'x', LONG);
	text[LONG] = '\0';
	pmukit_label_set("long", text);
	pmukit_label_set(text, "long");
	pmukit_label_set("set twice", "before");
	for (int i = 0; i < LABELS; i++) {
		snprintf(key, sizeof(key), "key%d", i);
		pmukit_label_set(key, i % 2 ? "odd" : "even");
	}
	pmukit_label_set("set twice", "the last");
	until = ms * 1000000L;
	while (now(CLOCK_THREAD_CPUTIME_ID) < until)
		x = work_a(x);
	__asm__ volatile("" : "+r"(x));
}

/* The layout of custom labels, as another library has it. */
struct other_text { size_t size; const char *at; };
struct other_set { struct other_text (*pair)[2]; size_t count, room; };
extern __thread struct other_set *custom_labels_current_set;

/* The other library's set is not freed, and its label is kept. */
static void meet_another(void)
{
	struct other_text pair[1][2] = { { { 5, "other" }, { 3, "set" } } };
	struct other_set other = { pair, 1, 1 };

	pmukit_label_set("ours", "before");
	custom_labels_current_set = &other;
	pmukit_label_set("ours", "after");
	for (size_t i = 0; i < custom_labels_current_set->count; i++) {
		const struct other_text *label = custom_labels_current_set->pair[i];

		printf("%.*s=%.*s\n", (int)label[0].size, label[0].at, (int)label[1].size,
		       label[1].at);
	}
	custom_labels_current_set = &other;
	pmukit_label_clear();
	printf("%d\n", custom_labels_current_set != NULL);
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
	else if (!strcmp(what, "limits") && argc > 2)
		run_with_many(atoi(argv[2]));
	else if (!strcmp(what, "foreign"))
		meet_another();
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
