/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool, run in a child with limits.  Its main() is linked into this program, so a run
 * takes a fork and no exec; what was covered comes back in shared memory.
 */
#include "whole.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The Makefile gives the tools' main() these names. */
int main_of_pmu_stream(int, char **);
int main_of_pmu_symbolize(int, char **);
int main_of_pmu_topprof(int, char **);
int main_of_pmu_top(int, char **);
int main_of_pmu_flame(int, char **);
int main_of_pmu_annotate(int, char **);
int main_of_pmu_data(int, char **);

static const struct {
	const char *name;
	int (*main)(int, char **);
} tools[] = {
	{ "pmu-stream", main_of_pmu_stream }, { "pmu-symbolize", main_of_pmu_symbolize },
	{ "pmu-topprof", main_of_pmu_topprof }, { "pmu-top", main_of_pmu_top },
	{ "perf_to_profile", main_of_pmu_topprof }, { "pmu-flame", main_of_pmu_flame },
	{ "pmu-annotate", main_of_pmu_annotate }, { "pmu-data", main_of_pmu_data },
};

/* What clang's -fsanitize-coverage=inline-8bit-counters counts with. */
static uint8_t *counters, *covered, *seen;
static size_t counter_count, seen_count;

void __sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop);
void __sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop)
{
	if (counters || start == stop)
		return;
	counters = start;
	counter_count = (size_t)(stop - start);
	covered = mmap(NULL, counter_count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	seen = calloc(counter_count, 1);
}

static void copy_counters(void)
{
	for (size_t i = 0; i < counter_count; i++)
		covered[i] = counters[i] > covered[i] ? counters[i] : covered[i];
}

/* Counts in steps of 1, 2, 3, 4-7, 8-15, ...: a bit each. */
static uint8_t bit_of(uint8_t count)
{
	static const uint8_t least[] = { 1, 2, 3, 4, 8, 16, 32, 128 };
	int i = 7;

	while (count < least[i])
		i--;
	return (uint8_t)(1 << i);
}

bool coverage_grew(void)
{
	bool grew = false;

	for (size_t i = 0; i < counter_count; i++) {
		if (!covered[i])
			continue;
		uint8_t bit = bit_of(covered[i]);
		covered[i] = 0;
		if (seen[i] & bit)
			continue;
		seen_count += !seen[i];
		seen[i] |= bit;
		grew = true;
	}
	return grew;
}

size_t coverage_seen(void)
{
	return seen_count;
}

/* Leaks are looked for now and then, for that takes longer than all else. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "exitcode=99:detect_leaks=1:leak_check_at_exit=0:allocator_may_return_null=1:"
	       "handle_abort=1:detect_stack_use_after_return=0";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "exitcode=99:print_stacktrace=1";
}

extern void __lsan_do_leak_check(void) __attribute__((weak));

static void limit(int what, rlim_t most)
{
	setrlimit(what, &(struct rlimit){ most, most });
}

static void redirect(const char *path, int flags, int to)
{
	int fd = open(path, flags, 0600);

	if (fd < 0 || dup2(fd, to) < 0)
		_exit(98);
	close(fd);
}

static void fill_pipe(const char *path)
{
	static uint8_t bytes[1 << 20];
	int ends[2], fd = open(path, O_RDONLY);

	ssize_t size = read(fd, bytes, sizeof(bytes));
	if (size < 0 || pipe(ends) < 0 || fcntl(ends[1], F_SETPIPE_SZ, sizeof(bytes)) < 0 ||
	    write(ends[1], bytes, (size_t)size) != size || dup2(ends[0], STDIN_FILENO) < 0)
		_exit(98);
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

static void __attribute__((noreturn)) become(char **argv, const char *input, bool pipe)
{
	static bool check_leaks;
	int argc = 0;

	limit(RLIMIT_CPU, SANITIZED ? 120 : 20);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 256 << 20);
	if (!SANITIZED)
		limit(RLIMIT_AS, 2ULL << 30);
	alarm(600);
	if (pipe)
		fill_pipe(input);
	else
		redirect(input ? input : "/dev/null", O_RDONLY, STDIN_FILENO);
	redirect("out", O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
	redirect("err", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
	while (argv[argc])
		argc++;
	optind = 0;
	if (counters) {
		memset(counters, 0, counter_count);
		atexit(copy_counters);
	}
	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++) {
		if (strcmp(tools[i].name, argv[0]))
			continue;
		int status = tools[i].main(argc, argv);
		check_leaks = __lsan_do_leak_check && getpid() % 32 == 0;
		if (check_leaks)
			__lsan_do_leak_check();
		exit(status);
	}
	_exit(97);
}

static struct span read_all(const char *path)
{
	struct stat st;
	struct span s = { NULL, 0 };
	int fd = open(path, O_RDONLY);

	if (fd >= 0 && fstat(fd, &st) == 0) {
		s.at = mem_resize(NULL, (size_t)st.st_size + 1);
		ssize_t n = read(fd, s.at, (size_t)st.st_size);
		s.size = n > 0 ? (size_t)n : 0;
		s.at[s.size] = 0;
	}
	if (fd >= 0)
		close(fd);
	return s.at ? s : (struct span){ mem_zeroed(1, 1), 0 };
}

void run_tool(char **argv, const char *input, bool pipe, struct outcome *o)
{
	struct rusage used, own;
	int status = 0;

	fflush(NULL);
	getrusage(RUSAGE_SELF, &own);	/* what a child has, too */
	pid_t child = fork();
	if (child == 0)
		become(argv, input, pipe);
	while (child > 0 && wait4(child, &status, 0, &used) < 0 && errno == EINTR)
		;
	if (child < 0) {
		perror("fuzz-tools: fork");
		exit(3);
	}
	*o = (struct outcome){
		.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
		.cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6,
		.peak = used.ru_maxrss - own.ru_maxrss, .out = read_all("out"),
		.err = read_all("err"),
	};
}

void outcome_release(struct outcome *o)
{
	free(o->out.at);
	free(o->err.at);
	*o = (struct outcome){ 0 };
}

void remove_below(const char *directory)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}
