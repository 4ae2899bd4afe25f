/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tools, with which options, and what must hold.
 *
 * A step is a command after a list of what is judged:
 *	text, json, folded, profile, page	what is on stdout
 *	dir		profiles in the directory "d"
 *	counts		the samples and lost ones of the summary (-v) are those of the step before
 *			that also had this
 *	keep, same	stdout is to have the same records in both steps; those of late rounds may
 *			come in another order
 *	whole		reads what the step before wrote: as that exited, so this does
 *	refuses		exit status 2 is right, too: profiles do not take all options
 * IN is the input, IN2 another one that is good, PREV what the step before wrote; "<" before
 * one: by a pipe.
 */
#include "whole.h"
#include "record/record.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYMBOLIZE "pmu-symbolize --kallsyms kallsyms --sysroot root "

const struct scenario scenarios[] = {
	{ "stats", OF_STREAM, { "text pmu-stream IN" } },
	{ "stats-pipe", OF_STREAM, { "text pmu-stream -q <IN", "text pmu-stream -qj <IN" } },
	{ "json", OF_STREAM, { "json pmu-stream --json IN" } },
	{ "dump", OF_STREAM, { "text pmu-stream --dump IN" } },
	{ "dump-json", OF_STREAM, { "json pmu-stream --dump --json <IN" } },
	{ "check", OF_STREAM, { "text pmu-stream --check IN" } },
	{ "again", OF_STREAM, { "keep pmu-stream --decompress IN",
				"same pmu-stream --decompress PREV" } },
	{ "again-pipe", OF_STREAM, { "keep pmu-stream --decompress <IN",
				     "same pmu-stream --decompress <PREV" } },
	{ "zstd", OF_STREAM, { "keep pmu-stream --decompress IN", ". pmu-stream -z IN",
			       "same pmu-stream --decompress <PREV" } },
	{ "cat", OF_STREAM, { ". pmu-stream --cat IN IN2", "whole pmu-stream --check PREV",
			      } },
	{ "cat-pipe", OF_STREAM, { ". pmu-stream --cat <IN", "whole pmu-topprof <PREV" } },
	{ "select-pid", OF_STREAM, { ". pmu-stream -p 1000 IN", "text pmu-stream PREV" } },
	{ "select-time", OF_STREAM, { ". pmu-stream --time 0,1000 --comm a -e cycles <IN",
				      "text pmu-stream PREV" } },
	{ "head", OF_STREAM, { ". pmu-stream --head 3 IN", ". pmu-topprof PREV" } },
	{ "symbolize", OF_STREAM, { ". " SYMBOLIZE "IN", "whole pmu-stream --check PREV" } },
	{ "symbolize-pipe", OF_STREAM, { ". " SYMBOLIZE "--demangle full <IN",
					 "profile,whole pmu-topprof <PREV", "text pmu-top PREV" } },
	{ "symbolize-here", OF_STREAM, { ". pmu-symbolize --lines no IN",
					 "folded pmu-topprof --to=folded PREV" } },
	{ "resolved", OF_STREAM, { ". " SYMBOLIZE "IN", "text pmu-stream --dump PREV" } },
	{ "counts", OF_STREAM, { "counts,profile pmu-topprof -v -Z none IN", ". " SYMBOLIZE "IN",
				 "counts,profile pmu-topprof -v <PREV" } },
	{ "topprof", OF_STREAM, { "profile pmu-topprof IN", "text pmu-top PREV" } },
	{ "topprof-zstd", OF_STREAM, { "profile pmu-topprof -Z zstd --types perf --no-scale "
				       "--frames no-lost <IN" } },
	{ "labels", OF_STREAM, { "profile pmu-topprof --frames data --label pid,tid,comm,"
				 "thread_comm,cpu,cgroup,timestamp_ns,execution_mode,data_src,"
				 "snoop_status,weight,addr,phys_addr,data_page_size,"
				 "code_page_size,transaction,field:prev_comm,field:x IN",
				 "profile pmu-topprof --label pid,cpu PREV" } },
	{ "not-sampled", OF_STREAM, { "profile pmu-topprof --frames not-sampled --max-stacks 3 "
				      "IN" } },
	{ "folded", OF_STREAM, { "folded pmu-topprof --to=folded IN" } },
	{ "folded-cpu", OF_STREAM, { "folded pmu-topprof --to=folded -C 0 --label none <IN" } },
	{ "interval", OF_STREAM, { "dir pmu-topprof --split 1s -o d/%F-%H%M%S "
				   "IN" } },
	{ "interval-ms", OF_STREAM, { "dir pmu-topprof --split 1ms -o d/%s "
				      "<IN" } },
	{ "per-process", OF_STREAM, { "dir pmu-topprof --split process -o d IN" } },
	{ "per-thread", OF_STREAM, { "dir pmu-topprof --split thread -o d --max-stacks 2 <IN" } },
	{ "select", OF_STREAM, { "profile pmu-topprof -p 1000 --time 1,2 --comm a IN" } },
	{ "flame", OF_STREAM, { ". " SYMBOLIZE "IN", "page pmu-flame --min 5% PREV" } },
	{ "flame-picture", OF_STREAM, { ". " SYMBOLIZE "IN",
					"text pmu-flame --to svg --by comm <PREV" } },
	{ "data", OF_STREAM, { ". " SYMBOLIZE "IN", "text pmu-data PREV",
			       "json pmu-data --by thread -j <PREV" } },
	{ "data-lines", OF_STREAM, { ". " SYMBOLIZE "IN", "text pmu-data --by line <PREV" } },
	{ "data-sources", OF_STREAM, { ". " SYMBOLIZE "IN",
				       "json pmu-data --by source --latency -j PREV" } },
	{ "drop-in", OF_STREAM, { ". perf_to_profile -f -i IN -o file" } },
	{ "top", OF_PROFILE, { "text pmu-top IN" } },
	{ "page", OF_PROFILE, { "page pmu-flame IN", "page pmu-flame --by pid --invert <IN" } },
	{ "page-change", OF_PROFILE, { "page pmu-flame --diff IN2 --min 1% IN",
				       "text pmu-flame --to svg --diff IN IN2" } },
	{ "picture", OF_PROFILE, { "text pmu-flame --to svg --ratio samples/cpu IN",
				   "text pmu-flame --to svg <IN" } },
	{ "annotate", OF_PROFILE, { "text pmu-annotate . IN",
				    "text pmu-annotate --to html -n 1000 --context 1 . <IN" } },
	{ "top-cum", OF_PROFILE, { "text pmu-top --cum -n 3 <IN" } },
	{ "fold", OF_PROFILE, { "refuses,folded pmu-topprof --to=folded IN" } },
	{ "merge", OF_PROFILE, { "profile pmu-topprof IN IN", "profile,whole pmu-topprof PREV",
				 "text,whole pmu-top PREV" } },
	{ "merge-other", OF_PROFILE, { "profile pmu-topprof -Z none IN2 IN" } },
	{ "merge-pipe", OF_PROFILE, { "refuses,profile pmu-topprof <IN" } },
	{ "diff", OF_PROFILE, { "profile pmu-topprof --diff IN2 IN", "text,whole pmu-top PREV" } },
	{ "diff-base", OF_PROFILE, { "profile pmu-topprof --diff IN IN2",
				     "text,whole pmu-top --cum PREV" } },
	{ "part", OF_PROFILE, { "refuses,profile pmu-topprof --label pid -p 1 -Z zstd IN IN" } },
};
const size_t scenario_count = sizeof(scenarios) / sizeof(*scenarios);

/* A scenario as it runs. */
struct course {
	struct arena *arena;
	size_t size;			/* of the input, bytes */
	int status;			/* of the step before */
	bool has_kept, has_counts, is_resolved;
	uint64_t kept;
	unsigned long long samples, lost;
};

static bool has_word(const char *step, const char *word)
{
	size_t size = strlen(word), all = strcspn(step, " ");

	for (const char *at = step; at < step + all; at += strcspn(at, ", ") + 1)
		if (strcspn(at, ", ") == size && !strncmp(at, word, size))
			return true;
	return false;
}

/* The words of STEP after the first one; where stdin comes from. */
static void parse_step(struct course *k, const char *step, char *argv[16], const char **input,
		       bool *pipe)
{
	char *text = arena_text(k->arena, step, strlen(step)), *save = NULL;
	int argc = 0;

	*input = NULL;
	*pipe = false;
	strtok_r(text, " ", &save);
	for (char *word; argc < 15 && (word = strtok_r(NULL, " ", &save)) != NULL; ) {
		bool by_pipe = *word == '<';
		word += by_pipe;
		if (!strcmp(word, "IN") || !strcmp(word, "IN2") || !strcmp(word, "PREV"))
			for (char *at = word; *at; at++)
				*at = (char)tolower(*at);
		if (by_pipe) {
			*pipe = true;
			*input = word;
		} else {
			argv[argc++] = word;
		}
	}
	argv[argc] = NULL;
}

/* Every profile in "d", which is removed. */
static const char *judge_directory(struct course *k)
{
	DIR *dir = opendir("d");
	const struct dirent *entry;
	const char *wrong = NULL;

	while (dir && !wrong && (entry = readdir(dir)) != NULL) {
		if (*entry->d_name == '.')
			continue;
		int fd = openat(dirfd(dir), entry->d_name, O_RDONLY);
		struct span s = { arena_alloc(k->arena, 4 * INPUT_MAX), 0 };
		ssize_t n = read(fd, s.at, 4 * INPUT_MAX);
		s.size = n > 0 ? (size_t)n : 0;
		wrong = strstr(entry->d_name, ".tmp") ? "a file that is not whole remains"
			: judge_profile(s, true);
		close(fd);
	}
	if (dir)
		closedir(dir);
	remove_below("d");
	return wrong;
}

/* "pmu-topprof: 12 samples, 3 distinct stacks, 4 lost, ..." */
static const char *judge_counts(struct course *k, struct span err)
{
	const char *at = strstr((const char *)err.at, "pmu-topprof: ");
	unsigned long long samples = 0, stacks = 0, lost = 0;

	while (at && sscanf(at, "pmu-topprof: %llu samples, %llu distinct stacks, %llu lost",
			    &samples, &stacks, &lost) != 3)
		at = strstr(at + 1, "pmu-topprof: ");
	if (!at)
		return NULL;
	const char *wrong = k->has_counts && !k->is_resolved &&
			    (samples != k->samples || lost != k->lost)
		? "the counts are not the same" : NULL;
	k->has_counts = true;
	k->samples = samples;
	k->lost = lost;
	return wrong;
}

/* Return the bytes of the record at S + AT, with the tracing data after it, padded to 8. */
static size_t size_of_record(struct span s, size_t at)
{
	size_t left = s.size - at, size = s.at[at + 6] | (size_t)s.at[at + 7] << 8;
	uint32_t type, data;

	memcpy(&type, s.at + at, sizeof(type));
	if (type == RECORD_TRACING_DATA && size >= 12 && size <= left) {
		memcpy(&data, s.at + at + 8, sizeof(data));
		size += ((size_t)data + 7) & ~(size_t)7;
	}
	return size < 8 ? 8 : size > left ? left : size;
}

/* A number that is the same for the same records in any order. */
static uint64_t sum_of_records(struct span s)
{
	uint64_t sum = s.size;

	for (size_t at = 16, size; at + 8 <= s.size; at += size) {
		size = size_of_record(s, at);
		uint64_t hash = 14695981039346656037ULL;	/* FNV-1a */
		for (size_t i = 0; i < size; i++)
			hash = (hash ^ s.at[at + i]) * 1099511628211ULL;
		sum += hash;
	}
	return sum;
}

/* What limits a tool promises to keep: of CPU time and memory. */
static const char *judge_costs(const struct course *k, const struct outcome *o)
{
	double most = 1 + (double)k->size / 1e6;	/* 10 s for 10 MB; 1 s whatever it is */

	if (o->cpu > (SANITIZED ? 20 : 1) * most)
		return "too much CPU time";
	if (!SANITIZED && o->peak > (32 + 64) * 1024)
		return "too much memory";
	return NULL;
}

static const char *judge_exit(const char *step, const struct course *k, const struct outcome *o)
{
	if (o->signal)
		return o->signal == SIGXCPU || o->signal == SIGKILL ? "no end"
		       : o->signal == SIGALRM ? "waits for ever" : "died by a signal";
	bool may_refuse = has_word(step, "refuses") ||	/* or it looks like a profile now */
			  strstr((const char *)o->err.at, "but the input is a profile");
	if (o->status > 2 || (o->status == 2 && !may_refuse))
		return o->status == 99 ? "a sanitizer's report" : "an exit status of no meaning";
	if (o->status == 1 && o->err.size == 0 && !strstr(step, " -q"))
		return "exit status 1, and no message";
	if (has_word(step, "whole") && k->status == 0 && o->status != 0)
		return "its own output is not read as whole";
	return NULL;
}

static const char *judge_output(const char *step, struct course *k, const struct outcome *o)
{
	const char *wrong = judge_text(o->err);

	if (!wrong && has_word(step, "text"))
		wrong = judge_text(o->out);
	if (!wrong && has_word(step, "json"))
		wrong = judge_json(o->out);
	if (!wrong && has_word(step, "folded"))
		wrong = judge_folded(o->out);
	if (!wrong && has_word(step, "page"))
		wrong = judge_page(o->out, o->status == 0);
	if (!wrong && has_word(step, "profile"))
		wrong = judge_profile(o->out, o->status == 0);
	if (!wrong && has_word(step, "dir"))
		wrong = judge_directory(k);
	if (!wrong && has_word(step, "counts"))
		wrong = judge_counts(k, o->err);
	k->is_resolved |= strstr((const char *)o->err.at, "resolved already") != NULL;
	if (has_word(step, "keep")) {
		k->kept = sum_of_records(o->out);
		k->has_kept = true;
	}
	if (!wrong && has_word(step, "same") && k->has_kept && k->kept != sum_of_records(o->out))
		wrong = "not the same, the second time";
	return wrong;
}

const char *run_scenario(const struct scenario *s, size_t size, struct arena *arena,
			 uint64_t *ran)
{
	struct course k = { .arena = arena, .size = size };
	const char *wrong = NULL;

	for (size_t i = 0; i < sizeof(s->step) / sizeof(*s->step) && s->step[i] && !wrong; i++) {
		const char *step = s->step[i], *input;
		struct outcome o;
		char *argv[16];
		bool pipe;

		parse_step(&k, step, argv, &input, &pipe);
		run_tool(argv, input, pipe, &o);
		++*ran;
		wrong = judge_exit(step, &k, &o);
		if (!wrong)
			wrong = judge_costs(&k, &o);
		if (!wrong)
			wrong = judge_output(step, &k, &o);
		k.status = o.status;
		outcome_release(&o);
		if (!wrong && rename("out", "prev") < 0)
			wrong = "no output file";
	}
	return wrong;
}
