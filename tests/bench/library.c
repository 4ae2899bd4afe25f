/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libpmukit costs:
 *
 *	library records FILE		read all records of a stream
 *	library samples FILE		read all samples of a stream
 *	library profile FILE TO		make a profile of a stream
 *	library start TIMES		pmukit_profile_start() beside ten threads: the median, in ms
 *	library label TIMES		the time of pmukit_label_set(), in ns
 *	library fixed HZ BYTES ROUNDS	tests/bin/fixed.c, which profiles itself
 */
#define main fixed
#include "../bin/fixed.c"
#undef main

#include <pmukit.h>

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, pmukit_error());
	exit(1);
}

static struct pmukit_stream *opened(const char *file)
{
	struct pmukit_stream *s = pmukit_stream_open(file, NULL);

	if (!s)
		fail("open");
	return s;
}

static void read_records(const char *file)
{
	struct pmukit_stream *s = opened(file);
	const struct pmukit_record *record;
	int status;

	while ((status = pmukit_stream_next(s, &record)) > 0)
		;
	if (status < 0)
		fail("next");
	pmukit_stream_close(s);
}

static void read_samples(const char *file)
{
	struct pmukit_stream *s = opened(file);
	const struct pmukit_sample *sample;
	int status;

	while ((status = pmukit_stream_next_sample(s, &sample)) > 0)
		;
	if (status < 0)
		fail("next_sample");
	pmukit_stream_close(s);
}

static void make_profile(const char *file, const char *to)
{
	struct pmukit_stream *s = opened(file);
	struct pmukit_pprof *p = pmukit_stream_profile(s, NULL);

	if (!p || pmukit_pprof_write(p, to) < 0)
		fail("profile");
	pmukit_pprof_close(p);
	pmukit_stream_close(s);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return (first > second) - (first < second);
}

static void *wait_for_ever(void *unused)
{
	pause();
	return unused;
}

static struct pmukit_profile *started(uint64_t frequency)
{
	static const char *const events[] = { "cpu-clock", NULL };
	static int nowhere;

	if (!nowhere)
		nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	const struct pmukit_profile_config config = {
		.size = sizeof(config), .events = events, .frequency = frequency,
		.flags = PMUKIT_NO_CALLCHAINS, .result = PMUKIT_RECORDS,
		.fd = nowhere,
	};
	struct pmukit_profile *p = pmukit_profile_start(&config);

	if (!p)
		fail("start");
	return p;
}

static void time_starts(int times)
{
	double *each = calloc((size_t)times, sizeof(*each));
	pthread_t thread;

	for (int i = 0; i < 10; i++)
		pthread_create(&thread, NULL, wait_for_ever, NULL);
	for (int i = 0; i < times; i++) {
		double start = now();
		struct pmukit_profile *p = started(0);

		each[i] = now() - start;
		if (pmukit_profile_stop(p) < 0)
			fail("stop");
	}
	qsort(each, (size_t)times, sizeof(*each), compare);
	printf("%.3f\n", 1e3 * each[times / 2]);
	free(each);
}

static void time_labels(int times)
{
	static const char *const values[] = { "GET /index.html", "POST /login" };
	double start = cpu_seconds();

	for (int i = 0; i < times; i++)
		if (pmukit_label_set("request", values[i % 2]) < 0)
			fail("label");
	printf("%.1f\n", 1e9 * (cpu_seconds() - start) / times);
}

static int run_fixed(char **argv)
{
	struct pmukit_profile *p = started(strtoull(argv[2], NULL, 10));
	int status = fixed(3, argv + 2);

	if (pmukit_profile_stop(p) < 0)
		fail("stop");
	return status;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (!strcmp(what, "records"))
		read_records(argv[2]);
	else if (!strcmp(what, "samples"))
		read_samples(argv[2]);
	else if (!strcmp(what, "profile") && argc > 3)
		make_profile(argv[2], argv[3]);
	else if (!strcmp(what, "start"))
		time_starts(atoi(argv[2]));
	else if (!strcmp(what, "label"))
		time_labels(atoi(argv[2]));
	else if (!strcmp(what, "fixed") && argc > 4)
		return run_fixed(argv);
	else
		return 2;
	return 0;
}
