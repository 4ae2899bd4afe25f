/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that profiles itself, and writes a profile for pprof.
 *
 *	cc -O2 -g -fno-omit-frame-pointer -o profile-yourself profile-yourself.c \
 *		$(pkg-config --cflags --libs pmukit)
 *	./profile-yourself profile.pb.gz
 *	go tool pprof -top profile.pb.gz
 *
 * It needs pmu-sample in $PATH, or named by $PMUKIT_SAMPLER.  It needs no hardware PMU: where
 * cycles cannot be sampled, the CPU's clock is.
 */
#include <pmukit.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* The work: two functions, which take different times. */

static uint64_t sum;

__attribute__((noinline)) static void add_squares(void)
{
	for (uint64_t i = 0; i < 1000000; i++)
		sum += i * i ^ sum >> 3;
}

__attribute__((noinline)) static void divide(void)
{
	for (uint64_t i = 1; i < 300000; i++)
		sum += (sum | 1ull << 63) / i % 7;
}

static double cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Call WORK with the label phase=NAME, and return the CPU time that it took, in seconds. */
static double measured(const char *name, void (*work)(void))
{
	double start = cpu_time();

	pmukit_label_set("phase", name);
	work();
	pmukit_label_set("phase", NULL);
	return cpu_time() - start;
}

static void do_the_work(void)
{
	double squares = 0, divisions = 0;

	while (squares + divisions < 0.5) {
		squares += measured("squares", add_squares);
		divisions += measured("divisions", divide);
	}
	printf("add_squares %.3f\ndivide %.3f\n", squares, divisions);
}

/* The messages of a profile: lost samples, functions without names. */
static void on_message(void *context, enum pmukit_severity severity, const char *text)
{
	(void)context;
	fprintf(stderr, "%s: %s\n", severity == PMUKIT_PROBLEM ? "problem" : "note", text);
}

static struct pmukit_profile *start(int fd)
{
	struct pmukit_profile_config config = {
		.size = sizeof(config), .frequency = 999, .fd = fd, .message = on_message,
		/* An ordinary user may usually sample nothing but user mode. */
		.flags = PMUKIT_NO_KERNEL | PMUKIT_LABELS,
	};
	struct pmukit_profile *p = pmukit_profile_start(&config);

	if (!p && pmukit_error_code() == PMUKIT_NO_RIGHTS) {	/* labels need more rights */
		fprintf(stderr, "without labels: %s\n", pmukit_error());
		config.flags &= ~(unsigned int)PMUKIT_LABELS;
		p = pmukit_profile_start(&config);
	}
	return p;
}

int main(int argc, char **argv)
{
	const char *file = argc > 1 ? argv[1] : "profile.pb.gz";
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	struct pmukit_profile *p;

	if (fd < 0) {
		perror(file);
		return 1;
	}
	p = start(fd);
	if (!p)	/* the program does its work all the same */
		fprintf(stderr, "without a profile: %s\n", pmukit_error());
	do_the_work();
	if (p && pmukit_profile_stop(p) < 0) {
		fprintf(stderr, "%s: %s\n", file, pmukit_error());
		return 1;
	}
	if (close(fd) < 0) {
		perror(file);
		return 1;
	}
	return !p;
}
