/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hung - threads that wait: one for a mutex that is never unlocked, the first one for that thread,
 * one naps for 10 ms again and again, and one waits for a byte of stdin.
 *
 *	hung		print the name and ID of each thread; when all wait, print "ready"
 *
 * For each byte the last thread works for 0.3 s of CPU time and prints "worked".  At the end of
 * stdin the process ends.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int known;

static void name_thread(const char *name)
{
	printf("%s %d\n", name, (int)gettid());
	known++;
}

static __attribute__((noinline)) void wait_for_lock(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void *lock(void *unused)
{
	name_thread("lock");
	wait_for_lock();
	return unused;
}

static __attribute__((noreturn)) void *nap(void *unused)
{
	(void)unused;
	name_thread("naps");
	for (;;)
		usleep(10000);
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static __attribute__((noreturn)) void *work_late(void *unused)
{
	char c;

	(void)unused;
	name_thread("late");
	while (read(STDIN_FILENO, &c, 1) == 1) {
		double end = cpu_seconds() + 0.3;
		while (cpu_seconds() < end)
			;
		puts("worked");
	}
	exit(0);
}

/* Return whether thread TID sleeps. */
static bool sleeps(int tid)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	FILE *f = fopen(path, "r");
	if (f && fscanf(f, "%*d (hung) %c", &state) != 1)
		state = 0;
	if (f)
		fclose(f);
	return state == 'S';
}

static void *tell_ready(void *first)
{
	while (known < 4 || !sleeps(*(int *)first))
		usleep(1000);
	usleep(20000);		/* the others have nothing else to do before they wait */
	puts("ready");
	return NULL;
}

int main(void)
{
	void *(*const start[])(void *) = { lock, nap, work_late };
	pthread_t thread[3], teller;
	int tid = gettid();

	setvbuf(stdout, NULL, _IOLBF, 0);
	name_thread("join");
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, start[i], NULL);
	pthread_create(&teller, NULL, tell_ready, &tid);
	return pthread_join(thread[0], NULL);
}
