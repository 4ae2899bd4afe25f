/* SPDX-License-Identifier: Apache-2.0 */
/* brief THREADS - run THREADS threads in turn, each of 1,000,006 instructions and a few more. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__aarch64__)
#define TURNS(n) __asm__ volatile("1: subs %0, %0, #1\n b.ne 1b\n" : "+r"(n) : : "cc", "memory")
#else
#define TURNS(n) do __asm__ volatile("" : "+r"(n)); while (--n)
#endif

static void *work(void *unused)
{
	uint64_t turns = 500003;

	TURNS(turns);
	return unused;
}

int main(int argc, char **argv)
{
	unsigned long threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	pthread_t thread;

	for (unsigned long i = 0; i < threads; i++)
		if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
			return 1;
	return threads == 0;
}
