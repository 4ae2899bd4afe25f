/* SPDX-License-Identifier: Apache-2.0 */
/*
 * churn SECONDS - a process that is hard to attach to: 1,000 threads a second
 * begin and end, while every 50 ms one more that stays begins, up to 20.
 * Those that stay are called "stays" and work; each prints its thread id.
 */
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned sink;
static volatile int done;

static void *come_and_go(void *unused)
{
	for (unsigned i = 0; i < 1000; i++)
		sink += i;
	return unused;
}

static void *stay(void *unused)
{
	prctl(PR_SET_NAME, "stays");
	printf("%ld\n", syscall(SYS_gettid));
	fflush(stdout);
	while (!done)
		sink++;
	return unused;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
	pthread_t thread, stays[20];
	struct timespec pause = { .tv_nsec = 1000000 };
	int staying = 0;

	for (int ms = 0; ms < seconds * 1000; ms++) {
		if (ms % 50 == 0 && staying < 20 &&
		    pthread_create(&stays[staying], NULL, stay, NULL) == 0)
			staying++;
		if (pthread_create(&thread, NULL, come_and_go, NULL) == 0)
			pthread_detach(thread);
		nanosleep(&pause, NULL);
	}
	done = 1;
	while (staying > 0)
		pthread_join(stays[--staying], NULL);
	return 0;
}
