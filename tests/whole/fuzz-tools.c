/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz-tools [-s SEED] [-n INPUTS] [-t SECONDS] [-k DIRECTORY] [-R ROOT] [-K KIND] FILE... -
 *	fuzz whole tools.
 * fuzz-tools -r FILE... - do again what a kept file did.
 *
 * FILEs are streams and profiles.  They are mutated and given to the scenarios in turn,
 * until INPUTS of them, or SECONDS, are over; where the build counts coverage
 * (clang's -fsanitize-coverage=inline-8bit-counters), inputs that come where none came before
 * are mutated again.  The same SEED, FILEs and build make the same inputs.
 *
 * KIND is "streams" or "profiles": only scenarios that begin with these.  ROOT has the
 * programs that streams name.
 *
 * A finding is kept as DIRECTORY/NUMBER.SCENARIO, with the second input of the
 * scenario in NUMBER.SCENARIO.2 and the last tool's messages in NUMBER.SCENARIO.err.
 * "pmu-stream IN2" and so on are in scenarios.c.  Exits 1 if anything was found.
 */
#include "whole.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ENTRIES_MAX = 4000, KEPT_SIZE_MAX = 64 * 1024, SAME_MAX = 3, KINDS_OF_FINDING = 200 };

struct entry {
	enum input_kind kind;
	struct span bytes;
	bool is_parsed;
	struct model model;
};

static struct {
	struct arena arena;
	struct entry *entry;
	size_t count, first[KINDS];	/* the first of each kind is the scenarios' IN2 */
	bool has[KINDS];
} corpus;

static struct {
	char what[160];
	unsigned times;
} findings[KINDS_OF_FINDING];

static char scratch[PATH_MAX], keep[PATH_MAX];
static pid_t self;
static bool wanted[KINDS] = { true, true };
static uint64_t inputs, runs, found;

static struct span read_file(const char *path)
{
	struct stat st;
	struct span s = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0) {
		perror(path);
		exit(2);
	}
	if (S_ISREG(st.st_mode)) {
		s.at = arena_alloc(&corpus.arena, (size_t)st.st_size + 1);
		ssize_t n = read(fd, s.at, (size_t)st.st_size);
		s.size = n > 0 ? (size_t)n : 0;
	}
	close(fd);
	return s;
}

static bool write_file(const char *path, struct span s)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	bool good = fd >= 0 && write(fd, s.at, s.size) == (ssize_t)s.size;

	if (fd >= 0)
		close(fd);
	if (!good)
		perror(path);
	return good;
}

static void add_entry(struct span bytes, enum input_kind kind)
{
	struct entry e = { .kind = kind, .bytes = bytes };

	if (corpus.count == ENTRIES_MAX || bytes.size == 0 || bytes.size > INPUT_MAX * 4)
		return;
	if (kind == OF_STREAM)
		e.is_parsed = model_parse(&e.model, bytes, &corpus.arena);
	else
		e.bytes = span_unpack(&corpus.arena, bytes, &e.model.wrapping);
	if (!corpus.has[kind]) {
		corpus.has[kind] = true;
		corpus.first[kind] = corpus.count;
	}
	corpus.entry = array_grow(corpus.entry, corpus.count, sizeof(e));
	corpus.entry[corpus.count++] = e;
}

static enum input_kind kind_of(struct span s)
{
	enum wrapping wrapping;
	struct span plain = span_unpack(&corpus.arena, s, &wrapping);

	return plain.size > 8 && (!memcmp(plain.at, "PERF", 4) || !memcmp(plain.at, "2ELI", 4))
	       ? OF_STREAM : OF_PROFILE;
}

/* What the tools make of a good stream: resolved ones, and profiles. */
static void derive(struct span stream)
{
	static const struct scenario makers = { "", OF_STREAM, {
		"pmu-symbolize --kallsyms kallsyms --sysroot root in", "pmu-topprof -Z none in",
		"pmu-topprof --label pid,tid,cpu,thread_comm -Z none prev",
	} };

	write_file("in", stream);
	for (size_t i = 0; makers.step[i]; i++) {
		char *text = arena_text(&corpus.arena, makers.step[i], strlen(makers.step[i]));
		struct outcome o;
		char *words[16], *save;
		size_t count = 0;
		for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
			words[count++] = w;
		words[count] = NULL;
		run_tool(words, NULL, false, &o);
		if (o.signal == 0 && o.status < 2)
			add_entry(span_copy(&corpus.arena, o.out, o.out.size),
				  i ? OF_PROFILE : OF_STREAM);
		outcome_release(&o);
		if (i == 0)
			rename("out", "prev");
	}
	coverage_grew();
}

/* A large stream is cut down: its head, and some of the rest. */
static void trim(struct model *m, struct dice *d)
{
	enum { HEAD = 80, PART = 120 };
	size_t kept = 0;

	if (m->count <= HEAD + PART)
		return;
	size_t from = HEAD + dice_below(d, m->count - HEAD - PART);
	for (size_t i = 0; i < m->count; i++)
		if (i < HEAD || (i >= from && i < from + PART) || m->item[i].type == 64)
			m->item[kept++] = m->item[i];
	m->count = kept;
}

static struct model copy_model(const struct model *from, struct arena *arena, struct dice *d)
{
	struct model m = *from;

	m.arena = arena;
	m.room = m.count;
	m.item = arena_copy(arena, from->item, from->count * sizeof(*m.item));
	trim(&m, d);
	return m;
}

static const struct entry *some_entry(enum input_kind kind, struct dice *d)
{
	size_t first = dice_below(d, corpus.count);

	for (size_t i = 0; i < corpus.count; i++) {
		const struct entry *e = &corpus.entry[(first + i) % corpus.count];
		if (e->kind == kind)
			return e;
	}
	return NULL;
}

static struct span make_input(enum input_kind kind, struct arena *arena, struct dice *d)
{
	const struct entry *e = some_entry(kind, d), *other = some_entry(kind, d);
	uint64_t times = 1 + dice_below(d, dice_once_in(d, 2) ? 3 : 20);
	struct span s;

	if (kind == OF_PROFILE) {
		s = e->bytes;
		while (times-- > 0)
			s = mutate_message(arena, s, d);
		s.size = s.size < INPUT_MAX ? s.size : INPUT_MAX;
		return dice_once_in(d, 4) ? span_pack(arena, s, WRAP_GZIP) : s;
	}
	if (!e->is_parsed)
		return mutate_bytes(arena, e->bytes, d);
	struct model m = copy_model(&e->model, arena, d);
	while (times-- > 0 && m.count > 0)
		mutate_records(&m, other->is_parsed ? &other->model : NULL, d);
	s = model_write(&m);
	return dice_once_in(d, 30) ? mutate_bytes(arena, s, d) : s;
}

/* Count a finding; false: there were enough like it. */
static bool is_news(const char *scenario, const char *wrong)
{
	char what[160];
	size_t i = 0;

	snprintf(what, sizeof(what), "%s: %s", scenario, wrong);
	while (i < KINDS_OF_FINDING - 1 && findings[i].times && strcmp(findings[i].what, what))
		i++;
	memcpy(findings[i].what, what, sizeof(what));
	return ++findings[i].times <= SAME_MAX;
}

static void keep_finding(const struct scenario *s, struct span input, const char *wrong)
{
	char path[PATH_MAX + 64];

	found++;
	if (!is_news(s->name, wrong))
		return;
	printf("fuzz-tools: input %" PRIu64 ", %s: %s\n", inputs, s->name, wrong);
	if (!*keep)
		return;
	snprintf(path, sizeof(path), "%s/%" PRIu64 ".%s", keep, inputs, s->name);
	write_file(path, input);
	printf("fuzz-tools: again by: fuzz-tools -r %s\n", path);
	size_t end = strlen(path);
	snprintf(path + end, sizeof(path) - end, ".2");
	write_file(path, read_file("in2"));
	snprintf(path + end, sizeof(path) - end, ".err");
	write_file(path, read_file("err"));
}

static void fuzz_once(uint64_t seed)
{
	struct dice d = { seed + inputs * 0x632be59bd9b4e019ULL };
	const struct scenario *s = &scenarios[dice_below(&d, scenario_count)];
	struct arena arena = { 0 };

	if (!corpus.has[s->kind] || !wanted[s->kind])
		return;
	struct span input = make_input(s->kind, &arena, &d);
	struct entry *second = &corpus.entry[corpus.first[s->kind]];
	if (!write_file("in", input) || !write_file("in2", second->bytes))
		exit(3);
	const char *wrong = run_scenario(s, input.size, &arena, &runs);
	if (wrong)
		keep_finding(s, input, wrong);
	if (coverage_grew() && input.size <= KEPT_SIZE_MAX)
		add_entry(span_copy(&corpus.arena, input, input.size), s->kind);
	arena_release(&arena);
}

/* PATH ends in ".SCENARIO". */
static int replay(const char *path)
{
	const char *name = strrchr(path, '.');
	char second[PATH_MAX + 8];
	struct arena arena = { 0 };
	struct stat st;

	for (size_t i = 0; name && i < scenario_count; i++) {
		if (strcmp(scenarios[i].name, name + 1))
			continue;
		struct span input = read_file(path);
		snprintf(second, sizeof(second), "%s.2", path);
		write_file("in", input);
		write_file("in2", stat(second, &st) == 0 ? read_file(second) : input);
		const char *wrong = run_scenario(&scenarios[i], input.size, &arena, &runs);
		struct span messages = read_file("err");
		printf("%s: %s\n%.*s", path, wrong ? wrong : "nothing is wrong",
		       wrong ? (int)messages.size : 0, messages.at);
		arena_release(&arena);
		return wrong != NULL;
	}
	fprintf(stderr, "fuzz-tools: %s: its name does not end in a scenario's\n", path);
	return 2;
}

/* Children exit, too. */
static void leave(void)
{
	if (getpid() == self && chdir("/") == 0 && *scratch) {
		char path[PATH_MAX + 16];
		snprintf(path, sizeof(path), "%s/d", scratch);
		remove_below(path);
		rmdir(path);
		remove_below(scratch);
		rmdir(scratch);
	}
}

/* An empty directory, with the things that scenarios name. */
static void enter(const char *root)
{
	const char *tmp = getenv("TMPDIR");
	static const char kallsyms[] =
		"ffffffff81000000 T _stext\nffffffff81000100 T do_syscall_64\n"
		"ffffffff81001000 t worker\nffffffff82000000 T _etext\n"
		"ffffffffc0000000 t probe\t[ext4]\n";

	snprintf(scratch, sizeof(scratch), "%s/fuzz-tools-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(scratch) || chdir(scratch) < 0 || mkdir("d", 0700) < 0 ||
	    symlink(root, "root") < 0) {
		perror(scratch);
		exit(3);
	}
	write_file("kallsyms", (struct span){ (uint8_t *)(uintptr_t)kallsyms,
					      sizeof(kallsyms) - 1 });
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	stopped = number;
}

static void fuzz(uint64_t seed, uint64_t most, double seconds)
{
	double begin = now(), passed = 0;

	printf("fuzz-tools: seed %" PRIu64 ", %zu files\n", seed, corpus.count);
	for (; !stopped && inputs < most && passed < seconds; inputs++) {
		fuzz_once(seed);
		passed = now() - begin;
	}
	printf("fuzz-tools: %" PRIu64 " inputs, %" PRIu64 " runs of tools, %.0f a second, "
	       "%zu edges, %zu files; %" PRIu64 " findings\n", inputs, runs, (double)runs / passed,
	       coverage_seen(), corpus.count, found);
	for (size_t i = 0; findings[i].times; i++)
		printf("%6u %s\n", findings[i].times, findings[i].what);
}

static char *absolute(char *path)
{
	char text[PATH_MAX];

	return realpath(path, text) ? arena_text(&corpus.arena, text, sizeof(text)) : path;
}

int main(int argc, char **argv)
{
	uint64_t seed = 1, most = UINT64_MAX;
	char root[PATH_MAX] = "/nonexistent";
	double seconds = 1e9;
	bool again = false;
	int option, status = 0;

	while ((option = getopt(argc, argv, "s:n:t:k:K:R:r")) != -1) {
		switch (option) {
		case 's': seed = strtoull(optarg, NULL, 0); break;
		case 'n': most = strtoull(optarg, NULL, 0); break;
		case 't': seconds = strtod(optarg, NULL); break;
		case 'r': again = true; break;
		case 'K':
			wanted[strcmp(optarg, "profiles") ? OF_PROFILE : OF_STREAM] = false;
			break;
		case 'k':
		case 'R':
			if (!realpath(optarg, option == 'k' ? keep : root)) {
				perror(optarg);
				return 2;
			}
			break;
		default: return 2;
		}
	}
	self = getpid();
	for (int i = optind; i < argc; i++)
		argv[i] = absolute(argv[i]);
	enter(root);
	atexit(leave);
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	for (int i = optind; i < argc && again; i++)
		status |= replay(argv[i]);
	if (again)
		return status;
	for (int i = optind; i < argc; i++) {
		struct span bytes = read_file(argv[i]);
		add_entry(bytes, kind_of(bytes));
	}
	for (size_t i = 0, n = corpus.count; i < n; i++)
		if (corpus.entry[i].kind == OF_STREAM && corpus.entry[i].bytes.size < INPUT_MAX)
			derive(corpus.entry[i].bytes);
	fuzz(seed, most, seconds);
	return found > 0;
}
