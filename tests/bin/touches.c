/* SPDX-License-Identifier: Apache-2.0 */
/*
 * touches PAGES [ROUNDS [SLEEPS]] - write to so many pages that are new, no huge ones; count up to
 * ROUNDS; sleep so often.  Prints the CPU time in ns and the context switches that getrusage() has
 * more than when main() began: before that, it was forked and waited for its exec(), too.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static unsigned long number(int argc, char **argv, int i)
{
	return i < argc ? strtoul(argv[i], NULL, 10) : 0;
}

static long long ns_of(struct timeval t)
{
	return t.tv_sec * 1000000000LL + t.tv_usec * 1000LL;
}

int main(int argc, char **argv)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = number(argc, argv, 1) * page;
	char *area = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	volatile unsigned long rounds = 0;
	struct rusage before, used;

	getrusage(RUSAGE_SELF, &before);
	if (area == MAP_FAILED || madvise(area, size + page, MADV_NOHUGEPAGE) < 0)
		return 1;
	for (size_t i = 0; i < size; i += page)
		area[i] = 1;
	while (rounds < number(argc, argv, 2))
		rounds++;
	for (unsigned long i = 0; i < number(argc, argv, 3); i++)
		usleep(100);
	getrusage(RUSAGE_SELF, &used);
	printf("%lld %ld\n",
	       ns_of(used.ru_utime) + ns_of(used.ru_stime) - ns_of(before.ru_utime) -
		       ns_of(before.ru_stime),
	       used.ru_nvcsw + used.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw);
	return 0;
}
