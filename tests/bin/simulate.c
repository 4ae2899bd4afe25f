/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate - write the stream of a program that never ran: for statistics.
 *
 *	simulate PROGRAM SEED [SAMPLES [FUNCTION CHANGE]]
 *
 * PROGRAM is steady, layout, phases, threads, bursts; equalN: N functions of equal shares; large:
 * one of 70 % and 150 small ones; heavyS: four functions at a frequency, with periods whose
 * logarithms have the standard deviation S; varyS: f0 differs by S between runs, and is called
 * FUNCTION.
 *
 * A sample every millisecond of a clock.  The functions are objects, f0, f1, ...; the true
 * shares of a program are the same for all seeds.  CHANGE makes FUNCTION slower (0.2: by 20 %).
 */
#include <linux/perf_event.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 200, TEN = 10, MS = 1000000 };

static uint64_t state;

static uint64_t next(void)
{
	uint64_t x = state += 0x9e3779b97f4a7c15u;	/* splitmix64 */

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static double uniform(void)
{
	return ((double)(next() >> 11) + 0.5) * 0x1p-53;
}

static double exponential(double mean)
{
	return -mean * log(uniform());
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* Return a function by the shares in MIX. */
static int draw(const double *mix)
{
	double u = uniform();
	int f = 0;

	while (f < TEN - 1 && u >= mix[f])
		u -= mix[f++];
	return f;
}

static void put(const void *bytes, size_t size)
{
	fwrite(bytes, 1, size, stdout);
}

static void put_header(uint32_t type, uint16_t misc, size_t size)
{
	struct perf_event_header h = { .type = type, .misc = misc, .size = (uint16_t)size };

	put(&h, sizeof(h));
}

/* SIGMA of the logarithms of the periods; 0: they are all 1 ms. */
static double sigma;

static void put_attr(void)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(a), .sample_period = MS,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	};
	uint64_t id = 1;

	if (sigma > 0) {	/* page faults, at a frequency */
		a.config = PERF_COUNT_SW_PAGE_FAULTS;
		a.sample_type |= PERF_SAMPLE_PERIOD;
		a.freq = 1;
	}
	put("PERFILE2\20\0\0\0\0\0\0", 16);
	put_header(64, 0, 8 + sizeof(a) + sizeof(id));
	put(&a, sizeof(a));
	put(&id, sizeof(id));
}

static void put_maps(void)
{
	for (uint32_t f = 0; f < FUNCTIONS; f++) {
		struct {
			uint32_t pid, tid;
			uint64_t start, size, offset;
			char path[8];
		} map = { 7, 7, (f + 1) << 16, 1 << 12, 0, "/f" };
		snprintf(map.path, sizeof(map.path), "/f%u", f % 1000);
		put_header(PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, 8 + sizeof(map));
		put(&map, sizeof(map));
	}
}

static uint64_t start;

/* A sample of thread TID in function F at TIME ms after the start. */
static void sample(int f, double time, uint32_t tid)
{
	struct {
		uint64_t ip;
		uint32_t pid, tid;
		uint64_t time;
	} s = { (uint64_t)(f + 1) << 16, 7, tid, start + (uint64_t)(time * MS) };

	uint64_t period = sigma > 0 ? (uint64_t)(1000 * exp(sigma * normal())) + 1 : 0;

	put_header(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER,
		   8 + sizeof(s) + (period ? sizeof(period) : 0));
	put(&s, sizeof(s));
	if (period)
		put(&period, sizeof(period));
}

/* The first function has the share LARGE, COUNT others have equal shares of the rest. */
static void equal(int n, double large, int count)
{
	for (int i = 0; i < n; i++)
		sample(uniform() < large ? 0 : (large > 0) + (int)(uniform() * count), i, 7);
}

/* Four functions of unequal shares. */
static void four(int n)
{
	static const double mix[FUNCTIONS] = { .5, .3, .15, .05 };

	for (int i = 0; i < n; i++)
		sample(draw(mix), i, 7);
}

/*
 * The share of the first function, 20 %, varies by SPREAD from run to run.  It is called f0, or as
 * function NAME if that is not negative.
 */
static void vary(int n, double spread, int name)
{
	double mix[FUNCTIONS] = { 0.2 * exp(spread * normal()), 0.3, 0.25, 0.25 }, sum = 0;

	for (int f = 0; f < 4; f++)
		sum += mix[f];
	for (int f = 0; f < 4; f++)
		mix[f] /= sum;
	for (int i = 0; i < n; i++) {
		int f = draw(mix);
		sample(f == 0 && name >= 0 ? name : f, i, 7);
	}
}

/* The functions take i / 55 of the time, in stretches shorter than a period. */
static void steady(int n, int slow, double change, double noise)
{
	double mix[FUNCTIONS] = { 0 }, sum = 0;

	for (int f = 0; f < TEN; f++) {
		mix[f] = (f + 1) / 55. * (f == slow ? 1 + change : 1) * exp(noise * normal());
		sum += mix[f];
	}
	for (int f = 0; f < TEN; f++)
		mix[f] /= sum;
	n = (int)(n * sum);	/* a slower function makes the run longer */
	for (int i = 0; i < n; i++)
		sample(draw(mix), i, 7);
}

/* Two kinds of work in turn, each some 1/32 of the recording. */
static void phases(int n)
{
	static const double mix[2][FUNCTIONS] = { { .6, .3, .1 }, { 0, 0, .1, .7, .2 } };
	double mean = n / 32., end = 0;
	int kind = (int)(next() & 1);

	/* start anywhere: some phases long ago */
	for (double skip = uniform() * 20 * mean; skip > 0; kind ^= 1) {
		double length = 0;
		for (int k = 0; k < 4; k++)
			length += exponential(mean / 4);
		skip -= length;
		end = -skip;
	}
	for (int i = 0; i < n; i++) {
		for (; end < i; kind ^= 1)
			for (int k = 0; k < 4; k++)
				end += exponential(mean / 4);
		sample(draw(mix[!kind]), i, 7);
	}
}

/* Eight threads, all in the same phase. */
static void threads(int n)
{
	static const double kinds[FUNCTIONS] = { .5, .3, .2 };
	static const double mix[3][FUNCTIONS] = { { .8, .1, .1 }, { 0, .9, 0, .1 }, { .1, 0, .9 } };
	double end = -1;
	int kind = 0;

	for (int i = 0; i < n / 8; i++) {
		for (; end < i; end += exponential(n / 8 / 80.))
			kind = draw(kinds);
		for (uint32_t tid = 7; tid < 15; tid++)
			sample(draw(mix[kind]), i, tid);
	}
}

/* A rare function in 12 bursts, more or less. */
static void bursts(int n)
{
	double from = exponential(n / 12.), to = from + exponential(8 * n / 2000.);

	for (int i = 0; i < n; i++) {
		while (to <= i) {
			from += exponential(n / 12.);
			to = fmax(to, from + exponential(8 * n / 2000.));
		}
		sample(i >= from && i < to, i, 7);
	}
}

int main(int argc, char **argv)
{
	const char *program = argc > 2 ? argv[1] : "";
	int n = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 2000;
	int slow = argc > 5 ? (int)strtol(argv[4], NULL, 10) : -1;
	double change = argc > 5 ? strtod(argv[5], NULL) : 0;

	state = argc > 2 ? strtoull(argv[2], NULL, 10) * 0x2545f4914f6cdd1d : 0;
	for (const char *p = program; *p; p++)
		state = state * 31 + (uint64_t)*p;
	if (!strncmp(program, "heavy", 5))
		sigma = strtod(program + 5, NULL);
	start = 1000000000000 + next() % 1000000000 * 1000;
	put_attr();
	put_maps();
	if (!strcmp(program, "steady"))
		steady(n, slow, change, 0);
	else if (!strcmp(program, "layout"))
		steady(n, slow, change, 0.02);
	else if (!strcmp(program, "phases"))
		phases(n);
	else if (!strcmp(program, "threads"))
		threads(n);
	else if (!strcmp(program, "bursts"))
		bursts(n);
	else if (!strncmp(program, "equal", 5))
		equal(n, 0, (int)strtol(program + 5, NULL, 10));
	else if (!strcmp(program, "large"))
		equal(n, 0.7, 150);
	else if (!strncmp(program, "vary", 4))
		vary(n, strtod(program + 4, NULL), slow);
	else if (sigma > 0)
		four(n);
	else
		return 2;
	return fflush(stdout) != 0;
}
