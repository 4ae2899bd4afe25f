/* SPDX-License-Identifier: Apache-2.0 */
/* Benchmarks in Go: what they print, and the command lines that run them. */
#include "counting/bench-command.h"
#include "counting/bench-line.h"
#include "tests/unit/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lines in the order in which a test binary writes them, and what is read from them. */
static const struct {
	const char *line;
	const char *name;	/* of a result; NULL: none */
	uint64_t iterations;
	double ns;
	const char *metrics, *other;
} lines[] = {
	{ "goos: linux", NULL, 0, 0, NULL, "goos: linux" },
	{ "      10\t 5 ns/op", NULL, 0, 0, NULL, "      10\t 5 ns/op" },	/* nobody's */
	{ "BenchmarkA-2   \t      10\t      1419 ns/op", "BenchmarkA-2", 10, 1419,
	  "1419 ns/op", NULL },
	{ "BenchmarkA/n=10-2\t 100\t 98.20 ns/op\t 538.21 MB/s\t       0 B/op",
	  "BenchmarkA/n=10-2", 100, 98.2, "98.20 ns/op\t 538.21 MB/s\t       0 B/op", NULL },
	{ "BenchmarkB", NULL, 0, 0, NULL, "BenchmarkB" },	/* -test.v */
	{ "BenchmarkB \tnoise", NULL, 0, 0, NULL, "noise" },
	{ "more 7\tnoise", NULL, 0, 0, NULL, "more 7\tnoise" },
	{ "without an end      10\t      6067 ns/op", "BenchmarkB", 10, 6067, "6067 ns/op",
	  "without an end" },
	{ "again      10\t      6067 ns/op", NULL, 0, 0, NULL, "again      10\t      6067 ns/op" },
	{ "a BenchmarkBenchmarkB \tb      10\t     6 ns/op", "BenchmarkBenchmarkB", 10, 6,
	  "6 ns/op", "a b" },
	{ "BenchmarkC\t--- FAIL: BenchmarkC", NULL, 0, 0, NULL, "--- FAIL: BenchmarkC" },
	{ "BenchmarkD\t       7", "BenchmarkD", 7, NAN, "", NULL },
	{ "      7", NULL, 0, 0, NULL, "      7" },
	{ "BenchmarkE\t       1\t         3.500 things/op", "BenchmarkE", 1, NAN,
	  "3.500 things/op", NULL },
	{ "BenchmarkF\t12 \t 5 ns/op", NULL, 0, 0, NULL, "12 \t 5 ns/op" },
	{ "BenchmarkG\t12\t 5 ns/op ", NULL, 0, 0, NULL, "12\t 5 ns/op " },
	{ "BenchmarkH\t12\t x ns/op", NULL, 0, 0, NULL, "12\t x ns/op" },
	{ "BenchmarkI\t", NULL, 0, 0, NULL, NULL },
	{ "", NULL, 0, 0, NULL, "" },
	{ "PASS", NULL, 0, 0, NULL, "PASS" },
};

static bool equal(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool is_read(struct bench_line *l, size_t i)
{
	char *text = strdup(lines[i].line);

	bench_line_read(l, text);
	bool good = l->has_result == (lines[i].name != NULL) && equal(l->other, lines[i].other);
	if (l->has_result) {
		double ns = bench_line_metric(l->metrics, "ns/op");
		good &= equal(l->name, lines[i].name) && l->iterations == lines[i].iterations &&
			equal(l->metrics, lines[i].metrics) &&
			(isnan(lines[i].ns) ? isnan(ns) : fabs(ns - lines[i].ns) < 1e-9);
	}
	if (!good)
		printf("# '%s'\n", lines[i].line);
	free(text);
	return good;
}

static void test_lines(void)
{
	struct bench_line l = { 0 };
	bool good = true;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		good &= is_read(&l, i);
	bench_line_release(&l);
	tap(good, "results of benchmarks are found between all that they print");
	l = (struct bench_line){ .name = strdup("BenchmarkX"), .is_open = true };
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		for (size_t size = 0; size <= strlen(lines[i].line); size++) {
			char *part = strndup(lines[i].line, size);
			bench_line_read(&l, part);
			free(part);
		}
	bench_line_release(&l);
	tap(true, "a line that is cut anywhere is read to its end and no farther");
	tap(bench_line_has("NaN ns/op\t 4 allocs/op", "ns/op") &&
	    bench_line_has("NaN ns/op\t 4 allocs/op", "allocs/op") &&
	    !bench_line_has("3 B/op", "B/o") && !bench_line_has("", "B/op"),
	    "a unit is found whatever its value is");
	tap(bench_line_metric("3 B/op\t 4 allocs/op", "allocs/op") == 4 &&
	    isnan(bench_line_metric("3 B/op", "B/o")) && isnan(bench_line_metric("", "B/op")),
	    "a metric is found by its whole unit");
}

static unsigned threads(unsigned cpus, const char *first, const char *second)
{
	char *names[] = { (char *)(uintptr_t)first, (char *)(uintptr_t)second };

	return bench_line_threads(names, 1 + (second != NULL), cpus);
}

static void test_threads(void)
{
	tap(threads(4, "BenchmarkA/n-8-4", "BenchmarkB-4") == 4 &&
	    threads(4, "BenchmarkA/n-8", "BenchmarkB") == 1 &&
	    threads(1, "BenchmarkB-64", NULL) == 64,
	    "the name of a function shows the number of threads");
	tap(threads(4, "BenchmarkA/n-8-4", "BenchmarkA/n-4") == 4 &&
	    threads(4, "BenchmarkA/n-4", "BenchmarkA/n-8") == 1 &&
	    threads(4, "BenchmarkA/n-1024", NULL) == 1 &&
	    threads(4, "BenchmarkA/-02", "BenchmarkA/x-02") == 1 &&
	    threads(4, "BenchmarkA/x-", "BenchmarkA/y-") == 1 &&
	    threads(UINT32_MAX, "BenchmarkA/x-99999999999999999999", NULL) == 1 &&
	    bench_line_threads(NULL, 0, 4) == 1,
	    "sub-benchmarks show it only if all end in a number that can be it");
}

enum { MOST = 24 };

/* Split TEXT at its spaces, in place, into WORD, which ends with NULL. */
static void split(char *text, char *word[MOST])
{
	size_t count = 0;

	for (char *at; count < MOST - 1 && (at = strsep(&text, " ")); )
		word[count++] = at;
	word[count] = NULL;
}

/* Return whether WORDS are those of WANT, with '|' between words. */
static bool are_words(struct bench_words *words, const char *want)
{
	char line[1024] = "";

	for (size_t i = 0; i < words->count; i++)
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s%s", i ? "|" : "",
			 words->word[i]);
	bool same = !strcmp(line, want);
	if (!same)
		printf("# %s\n# %s\n", line, want);
	bench_words_release(words);
	return same;
}

/* Check what "go test" becomes: NULL if it is not "go test". */
static bool becomes(const char *command, const char *want)
{
	char *text = strdup(command), *word[MOST];
	struct bench_words words = { 0 }, prefix = { 0 };
	bool good;

	split(text, word);
	bench_words_add(&prefix, "/a b/pmu-stat");
	bench_words_add(&prefix, "--");
	if (want)
		good = !bench_command_exec(&words, word, &prefix) && are_words(&words, want);
	else
		good = bench_command_go_test(word) == 0;
	bench_words_release(&prefix);
	free(text);
	return good;
}

#define ADDED "-exec='/a b/pmu-stat' '--'"
#define ALSO "|-p=1|-timeout=0"

static void test_go_test(void)
{
	tap(becomes("go test", "go|test|" ADDED ALSO) &&
	    becomes("/x/go1.22 test -bench . ./...",
		    "/x/go1.22|test|" ADDED ALSO "|-bench|.|./...") &&
	    becomes("go -C dir test -v", "go|-C|dir|test|" ADDED ALSO "|-v") &&
	    becomes("gotip test -C=dir -v", "gotip|test|-C=dir|" ADDED ALSO "|-v") &&
	    becomes("go test -C dir", "go|test|-C|dir|" ADDED ALSO),
	    "go test gets -exec, -p and -timeout before the flags of the user");
	tap(becomes("go test -exec=taskset x", "go|test|" ADDED " taskset" ALSO "|x") &&
	    becomes("go test --exec taskset x", "go|test|" ADDED " taskset" ALSO "|x") &&
	    becomes("go test -args -exec x", "go|test|" ADDED ALSO "|-args|-exec|x"),
	    "a program of the user's -exec comes after ours");
	tap(becomes("go build test", NULL) && becomes("go", NULL) && becomes("go -C", NULL) &&
	    becomes("go -C dir", NULL) && becomes("gofmt test", NULL) && becomes("got test", NULL),
	    "other commands are not go test");

	char *test[] = { (char[]){ "go" }, (char[]){ "test" }, (char[]){ "--bench=." },
			 (char[]){ "-args" }, (char[]){ "-count=1" }, NULL };
	tap(bench_command_has(test, "bench") && !bench_command_has(test, "count") &&
	    !bench_command_has(test, "benc"), "flags of go test are found before -args");

	struct bench_words words = { 0 }, prefix = { 0 };
	bench_words_add(&prefix, "it's");
	tap(!bench_command_exec(&words, test, &prefix) &&
	    are_words(&words, "go|test|-exec=\"it's\"|-p=1|-timeout=0|--bench=.|-args|-count=1"),
	    "a quote is put into the other quotes");
	bench_words_add(&prefix, "it's \"new\"");
	const char *wrong = bench_command_exec(&words, test, &prefix);
	tap(wrong && !strcmp(wrong, "it's \"new\"") && words.count == 0,
	    "a word with both kinds of quotes is refused");
	bench_words_release(&prefix);
}

/* Return whether COMMAND starts "go test"; '|' is a space in a word. */
static bool starts(const char *command)
{
	char *text = strdup(command), *word[MOST];

	split(text, word);
	for (size_t i = 0; word[i]; i++)
		for (char *at; (at = strchr(word[i], '|')); )
			*at = ' ';
	bool good = bench_command_starts_go_test(word);
	free(text);
	return good;
}

static void test_starts(void)
{
	tap(starts("nice go test -bench .") && starts("env A=1 /x/go1.22 test ./... -bench=x") &&
	    starts("taskset 1 go -C dir test -bench .") && starts("sh -c cd|x;go|test|-bench|."),
	    "a command that starts go test is recognised");
	tap(!starts("go test -bench .") && !starts("nice go test ./...") && !starts("true") &&
	    !starts("sh -c go|build") && !starts("nice a.test -test.bench=.") &&
	    !starts("echo go test") && !starts("nice -bench go"),
	    "other commands are not");
}

/* Check what a test binary becomes for all benchmarks, and for one. */
static bool runs_as(const char *command, const char *cpus, const char *once, const char *name,
		    const char *alone)
{
	char *text = strdup(command), *word[MOST];
	struct bench_words words = { 0 };

	split(text, word);
	bench_command_once(&words, word, cpus);
	bool good = are_words(&words, once);
	bench_command_alone(&words, word, name, 10, cpus);
	good &= are_words(&words, alone);
	free(text);
	return good;
}

static void test_binary(void)
{
	tap(runs_as("a.test -test.paniconexit0 -test.timeout=10m0s -test.bench=. -test.count=7",
		    NULL, "a.test|-test.count=1|-test.paniconexit0|-test.timeout=10m0s|"
		    "-test.bench=.", "BenchmarkA",
		    "a.test|-test.run=^$|-test.bench=^BenchmarkA$|-test.benchtime=10x|"
		    "-test.count=1|-test.paniconexit0|-test.timeout=10m0s"),
	    "a test binary runs once, and each benchmark alone");
	tap(runs_as("nice a.test -test.cpu 1,2 -test.bench . -test.cpuprofile x -test.v -test.short"
		    " -x -test.list=y z", "2",
		    "nice|a.test|-test.count=1|-test.cpu=2|-test.bench|.|-test.cpuprofile|x|"
		    "-test.v|-test.short|-x|-test.list=y|z", "BenchmarkA/b",
		    "nice|a.test|-test.run=^$|-test.bench=^BenchmarkA$/^b$|-test.benchtime=10x|"
		    "-test.count=1|-test.cpu=2|-test.short|-x|z"),
	    "flags with and without an argument stay, but for profiles and other choices");
	tap(runs_as("a --test.bench=.", NULL, "a|-test.count=1|--test.bench=.",
		    "BenchmarkA/a_b/c(d)/#00/1.5/x|y/[z]/\\x07/{2}^$+*?/\xc3\xa9",
		    "a|-test.run=^$|-test.bench=^BenchmarkA$/^a_b$/^c\\(d\\)$/^#00$/^1\\.5$/"
		    "^x\\|y$/^\\[z\\]$/^\\\\x07$/^\\{2\\}\\^\\$\\+\\*\\?$/^\xc3\xa9$|"
		    "-test.benchtime=10x|-test.count=1"),
	    "a name of any characters matches itself alone");

	char *plain[] = { (char[]){ "a" }, (char[]){ "-test.benchtime=1x" }, (char[]){ "-bench" },
			  NULL };
	char *bench[] = { (char[]){ "a" }, (char[]){ "-test.count" }, (char[]){ "3" },
			  (char[]){ "--test.bench=" }, NULL };
	tap(!bench_command_is_binary(plain) && bench_command_is_binary(bench) &&
	    equal(bench_command_argument(bench, "count"), "3") &&
	    equal(bench_command_argument(bench, "bench"), "") &&
	    equal(bench_command_argument(plain, "cpu"), NULL),
	    "a test binary is known by -test.bench");
}

int main(void)
{
	test_lines();
	test_threads();
	test_go_test();
	test_starts();
	test_binary();
	return tap_done();
}
