/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/bench.h"
#include "base/arena.h"
#include "base/units.h"
#include "counting/bench-command.h"
#include "counting/bench-line.h"

#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a process wrote to its standard output, line by line.  Zero-initialised: nothing. */
struct output_lines {
	FILE *file;
	char *line;
	size_t room;
};

struct bench {
	struct counting *counting;
	char *const *command;
	struct report *report;
	uint64_t count;		/* results of each benchmark */
	int status;

	const char *cpus;	/* the rest of -test.cpu, for later runs; NULL: no more runs */
	char *cpu;		/* argument of -test.cpu of this run; NULL: the command's own */
	unsigned threads;	/* of this run: N in BenchmarkName-N; 1: names end without it */
	struct output_lines whole;	/* output of this run */
	struct bench_line at;	/* where we are in it */
	uint64_t left;		/* results still to be returned of the benchmark there */

	struct output_lines failed;	/* output of a benchmark that failed when it ran alone */
	struct bench_line failed_at;	/* where we are in it */
	struct output_lines alone[2];	/* of N iterations, of 2 N */
	struct bench_line result[2];
	double *per_op;
};

static void release_lines(struct output_lines *lines)
{
	if (lines->file)
		fclose(lines->file);
	free(lines->line);
	*lines = (struct output_lines){ .file = NULL };
}

/* Return the next line, without its end, or NULL.  It is valid until the next call. */
static char *next_line(struct output_lines *lines)
{
	ssize_t size = lines->file ? getline(&lines->line, &lines->room, lines->file) : -1;

	if (size < 0)
		return NULL;
	if (lines->line[size - 1] == '\n')
		lines->line[size - 1] = '\0';
	return lines->line;
}

static int shell_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Run WORDS, set RUN, and LINES to what it prints.  False: reported. */
static bool run(struct bench *b, const struct bench_words *words, struct counting_run *run,
		struct output_lines *lines)
{
	int fd = memfd_create("output", MFD_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	release_lines(lines);
	if (!file) {
		report_failure(b->report, "cannot keep the output of '%s'", words->word[0]);
		return false;
	}
	lines->file = file;
	b->counting->command_fd = fd;
	bool ran = counting_run_command(b->counting, words->word, run, b->report);
	b->counting->command_fd = -1;
	rewind(file);
	return ran;
}

/* Return how many CPUs this process may use. */
static unsigned usable_cpus(void)
{
	cpu_set_t set;

	bool known = sched_getaffinity(0, sizeof(set), &set) == 0;
	return known ? (unsigned)CPU_COUNT(&set) : UINT32_MAX;
}

/* Set b->threads: by -test.cpu, by $GOMAXPROCS, or by the names in the output of the whole run. */
static void find_threads(struct bench *b)
{
	const char *known = b->cpu ? b->cpu : getenv("GOMAXPROCS");
	struct bench_line l = { 0 };
	struct bench_words names = { 0 };
	uint64_t threads;
	char *line;

	if (known && units_parse_count(known, &threads) && threads > 0 && threads <= INT32_MAX) {
		b->threads = (unsigned)threads;
		return;
	}
	while ((line = next_line(&b->whole))) {
		bench_line_read(&l, line);
		if (l.has_result)
			bench_words_add(&names, l.name);
	}
	b->threads = bench_line_threads(names.word, names.count, usable_cpus());
	bench_words_release(&names);
	bench_line_release(&l);
	rewind(b->whole.file);
}

/* Run all benchmarks once more.  False: all runs were made, or one failed (reported). */
static bool run_whole(struct bench *b)
{
	struct bench_words words = { 0 };
	struct counting_run counted = { 0 };

	if (!b->cpus || b->counting->is_stopped)
		return false;
	size_t length = strcspn(b->cpus, ",");
	free(b->cpu);
	b->cpu = length ? strndup(b->cpus, length) : NULL;
	b->cpus = b->cpus[length] ? b->cpus + length + 1 : NULL;
	bench_command_once(&words, b->command, b->cpu);
	bool ran = run(b, &words, &counted, &b->whole);
	if (ran)
		find_threads(b);
	if (ran && !b->status)
		b->status = shell_status(counted.status);
	if (!ran || counted.is_cut)
		b->cpus = NULL;
	counting_run_release(&counted);
	bench_words_release(&words);
	return ran;
}

/* Return the name of this benchmark without the number of threads.  The caller frees. */
static char *plain_name(const struct bench *b)
{
	char ending[16];
	int length = snprintf(ending, sizeof(ending), "-%u", b->threads);
	char *name = mem_text(b->at.name);
	size_t size = strlen(name);

	if (b->threads != 1 && size > (size_t)length && !strcmp(name + size - length, ending))
		name[size - (size_t)length] = '\0';
	return name;
}

/*
 * Find the result of this benchmark in what it printed alone.  Return false if it has no
 * result.  A process that ends during the benchmark may print a result of 0 iterations.
 */
static bool find_result(struct bench *b, int which, uint64_t iterations)
{
	struct bench_line *l = &b->result[which];
	char *line;

	while ((line = next_line(&b->alone[which]))) {
		bench_line_read(l, line);
		if (l->has_result && l->iterations == iterations && !strcmp(l->name, b->at.name))
			return true;
	}
	return false;
}

/* Run this benchmark alone, with so many ITERATIONS.  False: stopped, or it failed (reported). */
static bool run_alone(struct bench *b, int which, uint64_t iterations, struct counting_run *counted)
{
	struct bench_words words = { 0 };
	char *name = plain_name(b);

	bench_command_alone(&words, b->command, name, iterations, b->cpu);
	bool good = run(b, &words, counted, &b->alone[which]);
	free(name);
	bench_words_release(&words);
	if (!good)
		return false;
	int status = shell_status(counted->status);
	if (counted->is_cut) {
		b->status = b->status ? b->status : status;
		return false;
	}
	good = status == 0 && find_result(b, which, iterations);
	if (good)
		return true;
	report_error(b->report, "'%s' %s when it ran alone with %" PRIu64 " iterations: it is left "
		     "out here", b->at.name, status ? "failed" : "printed no result", iterations);
	rewind(b->alone[which].file);
	bench_line_release(&b->failed_at);
	release_lines(&b->failed);
	b->failed = b->alone[which];
	b->alone[which] = (struct output_lines){ .file = NULL };
	return false;
}

static double total_time(const struct bench_line *l)
{
	return (double)l->iterations * bench_line_metric(l->metrics, "ns/op");
}

/* Return METRICS after "ns/op", which comes first if it is there. */
static const char *other_metrics(const char *metrics)
{
	size_t first = strcspn(metrics, "\t");

	if (isnan(bench_line_metric(metrics, "ns/op")))
		return metrics;
	return metrics + first + strspn(metrics + first, "\t ");
}

/*
 * Set ITEM to the counts that the second of RUNS has more than the first, and to the mean time of
 * both: the benchmark's clock does not run while the process starts, so nothing is subtracted.
 */
static void set_costs(struct bench *b, const struct counting_run runs[2], struct bench_item *item)
{
	double first = (double)b->result[0].iterations, second = (double)b->result[1].iterations;

	for (size_t i = 0; i < runs[0].events; i++)
		b->per_op[i] = (counting_scaled(&runs[1].value[i]) -
				counting_scaled(&runs[0].value[i])) / (second - first) *
			       b->counting->events->event[i].scale;
	*item = (struct bench_item){
		.name = b->at.name,
		.iterations = b->result[0].iterations,
		.nanoseconds = (total_time(&b->result[0]) + total_time(&b->result[1])) /
			       (first + second),
		.metrics = other_metrics(b->result[1].metrics),
		.per_op = b->per_op,
	};
}

/*
 * Count this benchmark once.  With -test.benchtime=1x, Go takes the result of the iteration that
 * comes before the others; with any other number it runs all of them after that one.  So the number
 * here is at least 2.
 */
static bool count_once(struct bench *b, struct bench_item *item)
{
	struct counting_run runs[2] = { 0 };
	uint64_t n = b->at.iterations < 2 ? 2 : b->at.iterations;

	b->left--;
	bool good = run_alone(b, 0, n, &runs[0]) && run_alone(b, 1, 2 * n, &runs[1]);
	if (good)
		set_costs(b, runs, item);
	else
		b->left = 0;
	counting_run_release(&runs[0]);
	counting_run_release(&runs[1]);
	return good;
}

struct bench *bench_open(struct counting *counting, char *const *command, struct report *report)
{
	struct bench *b = mem_zeroed(1, sizeof(*b));
	const char *count = bench_command_argument(command, "count");

	b->counting = counting;
	b->command = command;
	b->report = report;
	b->cpus = bench_command_argument(command, "cpu");
	if (!b->cpus)
		b->cpus = "";
	if (!count || !units_parse_count(count, &b->count))
		b->count = 1;
	b->per_op = mem_zeroed(counting->events->count + 1, sizeof(*b->per_op));
	return b;
}

/* Return the next line of what a benchmark that failed alone printed, without results, or NULL. */
static const char *next_failed_line(struct bench *b)
{
	const char *text = NULL;
	char *line;

	while (!text && (line = next_line(&b->failed))) {
		bench_line_read(&b->failed_at, line);
		text = b->failed_at.other;
	}
	return text;
}

bool bench_next(struct bench *b, struct bench_item *item)
{
	*item = (struct bench_item){ .text = next_failed_line(b) };
	while (!item->text && !b->counting->is_stopped) {
		if (b->left && count_once(b, item))
			return true;
		item->text = next_failed_line(b);
		if (item->text)
			break;
		char *line = next_line(&b->whole);
		if (!line && !run_whole(b))
			return false;
		if (!line)
			continue;
		bench_line_read(&b->at, line);
		if (b->at.has_result)
			b->left = b->count;
		item->text = b->at.other;
	}
	return item->text;
}

int bench_close(struct bench *b)
{
	int status = b->status;

	if (b->counting->is_stopped) {
		report_note(b->report, "stopped: the rest of the benchmarks has no lines");
		status = status ? status : 128 + SIGINT;
	}
	for (int i = 0; i < 2; i++) {
		release_lines(&b->alone[i]);
		bench_line_release(&b->result[i]);
	}
	release_lines(&b->failed);
	bench_line_release(&b->failed_at);
	release_lines(&b->whole);
	bench_line_release(&b->at);
	free(b->cpu);
	free(b->per_op);
	free(b);
	return status;
}
