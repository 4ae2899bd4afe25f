/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve-clock - pmu-serve on a machine whose clock is set while it runs: the time of day is ahead
 * by the number of seconds in the file "ahead".  Its tools have the real time.
 */
#include <stdio.h>
#include <time.h>

int main_of_pmu_serve(int argc, char **argv);
int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
time_t __wrap_time(time_t *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	int result = __real_clock_gettime(clock, now);
	FILE *f = clock == CLOCK_REALTIME ? fopen("ahead", "re") : NULL;
	long ahead;

	if (f && fscanf(f, "%ld", &ahead) == 1)
		now->tv_sec += ahead;
	if (f)
		fclose(f);
	return result;
}

time_t __wrap_time(time_t *now)
{
	struct timespec t;

	__wrap_clock_gettime(CLOCK_REALTIME, &t);
	if (now)
		*now = t.tv_sec;
	return t.tv_sec;
}

int main(int argc, char **argv)
{
	return main_of_pmu_serve(argc, argv);
}
