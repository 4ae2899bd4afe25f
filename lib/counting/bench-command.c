/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/bench-command.h"
#include "base/arena.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bench_words_add(struct bench_words *words, const char *word)
{
	words->word = mem_resize(words->word, (words->count + 2) * sizeof(*words->word));
	words->word[words->count++] = mem_text(word);
	words->word[words->count] = NULL;
}

void bench_words_release(struct bench_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->word[i]);
	free(words->word);
	*words = (struct bench_words){ .count = 0 };
}

/* Return the end of -NAME or --NAME in WORD, where a "=" or the NUL is; or NULL. */
static const char *end_of_flag(const char *word, const char *name)
{
	size_t length = strlen(name);

	if (*word != '-')
		return NULL;
	word += 1 + (word[1] == '-');
	if (strncmp(word, name, length) || (word[length] != '=' && word[length]))
		return NULL;
	return word + length;
}

/* The same of -test.NAME. */
static const char *end_of_test_flag(const char *word, const char *name)
{
	char full[64];

	snprintf(full, sizeof(full), "test.%s", name);
	return end_of_flag(word, full);
}

size_t bench_command_go_test(char *const *command)
{
	const char *slash = strrchr(command[0], '/');
	const char *name = slash ? slash + 1 : command[0];
	size_t before = 1;

	if (strcmp(name, "go") && strncmp(name, "go1.", 4) && strcmp(name, "gotip"))
		return 0;
	for (int twice = 0; twice < 2; twice++) {	/* go -C DIR test, go test -C DIR */
		const char *value = command[before] ? end_of_flag(command[before], "C") : NULL;
		if (value && !*value && !command[before + 1])
			return 0;
		if (value)
			before += *value ? 1 : 2;
		if (!twice && (!command[before] || strcmp(command[before++], "test")))
			return 0;
	}
	return before;
}

bool bench_command_has(char *const *command, const char *name)
{
	for (size_t i = bench_command_go_test(command); command[i]; i++) {
		if (end_of_flag(command[i], "args"))
			return false;
		if (end_of_flag(command[i], name) || end_of_test_flag(command[i], name))
			return true;
	}
	return false;
}

bool bench_command_starts_go_test(char *const *command)
{
	if (bench_command_go_test(command))
		return false;
	for (command++; *command; command++) {
		const char *script = strstr(*command, "go test ");
		if ((script && strstr(script, "-bench")) ||
		    (bench_command_go_test(command) && bench_command_has(command, "bench")))
			return true;
	}
	return false;
}

/* Append WORD to *LINE as go splits it: in quotes, which nothing in them can end.  False: it has
   both kinds. */
static bool add_quoted(char **line, const char *word)
{
	char *before = *line;
	char quote = strchr(word, '\'') ? '"' : '\'';

	if (quote == '"' && strchr(word, '"'))
		return false;
	if (asprintf(line, "%s%s%c%s%c", before ? before : "-exec=", before ? " " : "", quote, word,
		     quote) < 0)
		abort();
	free(before);
	return true;
}

/* Append the rest of COMMAND to WORDS, but for -exec, whose argument is appended to LINE. */
static void add_rest(struct bench_words *words, char *const *rest, char **line)
{
	bool is_ours = true;	/* not yet arguments of the test binary */

	for (; *rest; rest++) {
		const char *value = is_ours ? end_of_flag(*rest, "exec") : NULL;
		if (is_ours && end_of_flag(*rest, "args"))
			is_ours = false;
		if (!value) {
			bench_words_add(words, *rest);
			continue;
		}
		if (!*value && rest[1])
			value = *++rest;
		else
			value += *value == '=';
		char *before = *line;
		if (asprintf(line, "%s %s", before, value) < 0)
			abort();
		free(before);
	}
}

const char *bench_command_exec(struct bench_words *words, char *const *command,
			       const struct bench_words *prefix)
{
	size_t before = bench_command_go_test(command);
	struct bench_words rest = { 0 };
	char *line = NULL;

	for (size_t i = 0; i < prefix->count; i++)
		if (!add_quoted(&line, prefix->word[i])) {
			free(line);
			return prefix->word[i];
		}
	for (size_t i = 0; i < before; i++)
		bench_words_add(words, command[i]);
	add_rest(&rest, command + before, &line);
	bench_words_add(words, line);
	bench_words_add(words, "-p=1");
	bench_words_add(words, "-timeout=0");
	for (size_t i = 0; i < rest.count; i++)
		bench_words_add(words, rest.word[i]);
	bench_words_release(&rest);
	free(line);
	return NULL;
}

/* Flags of test binaries without an argument. */
static const char *const plain[] = { "benchmem", "failfast", "fullpath", "paniconexit0", "short",
				     "v", NULL };

/* Flags that bench_command_alone() leaves out: its own, profiles, and what only tests need. */
static const char *const not_alone[] = {
	"bench", "benchtime", "blockprofile", "count", "coverprofile", "cpuprofile", "fuzz",
	"gocoverdir", "list", "memprofile", "mutexprofile", "run", "testlogfile", "trace", "v", NULL
};

static bool is_one(const char *word, const char *const *names)
{
	while (*names && !end_of_test_flag(word, *names))
		names++;
	return *names;
}

static bool is_test_flag(const char *word)
{
	return !strncmp(word, "-test.", 6) || !strncmp(word, "--test.", 7);
}

/* Return the index of the first flag of package testing in COMMAND, or of its NULL. */
static size_t first_test_flag(char *const *command)
{
	size_t i = 0;

	while (command[i] && !is_test_flag(command[i]))
		i++;
	return i;
}

bool bench_command_is_binary(char *const *command)
{
	return bench_command_argument(command, "bench");
}

const char *bench_command_argument(char *const *command, const char *name)
{
	const char *argument = NULL;

	for (size_t i = 1; command[0] && command[i]; i++) {
		const char *end = end_of_test_flag(command[i], name);
		if (end)
			argument = *end ? end + 1 : command[i + 1];
	}
	return argument;
}

/* Append to WORDS what of COMMAND comes after its word number I, but for the flags LEFT_OUT and, if
   CPUS is not NULL, -test.cpu, which is set to CPUS. */
static void add_others(struct bench_words *words, char *const *command, size_t i,
		       const char *const *left_out, const char *cpus)
{
	char *cpu = NULL;

	if (cpus && asprintf(&cpu, "-test.cpu=%s", cpus) < 0)
		abort();
	if (cpus)
		bench_words_add(words, cpu);
	free(cpu);
	for (; command[i]; i++) {
		bool has_next = is_test_flag(command[i]) && !strchr(command[i], '=') &&
				!is_one(command[i], plain) && command[i + 1];
		bool is_left_out = is_one(command[i], left_out) ||
				   (cpus && end_of_test_flag(command[i], "cpu"));
		if (!is_left_out)
			bench_words_add(words, command[i]);
		if (has_next && !is_left_out)
			bench_words_add(words, command[i + 1]);
		i += has_next;
	}
}

void bench_command_once(struct bench_words *words, char *const *command, const char *cpus)
{
	static const char *const left_out[] = { "count", NULL };
	size_t first = first_test_flag(command);

	for (size_t i = 0; i < first; i++)
		bench_words_add(words, command[i]);
	bench_words_add(words, "-test.count=1");
	add_others(words, command, first, left_out, cpus);
}

/* Return -test.bench= with a regular expression for each part of NAME.  The caller frees. */
static char *pattern_of(const char *name)
{
	static const char start[] = "-test.bench=^";
	char *pattern = mem_resize(NULL, sizeof(start) + 3 * strlen(name) + 2);
	char *to = mempcpy(pattern, start, sizeof(start) - 1);

	for (; *name; name++) {
		if (*name == '/') {
			to = mempcpy(to, "$/^", 3);
			continue;
		}
		if (strchr("\\.+*?()|[]{}^$", *name))
			*to++ = '\\';
		*to++ = *name;
	}
	memcpy(to, "$", 2);
	return pattern;
}

void bench_command_alone(struct bench_words *words, char *const *command, const char *name,
			 uint64_t iterations, const char *cpus)
{
	size_t first = first_test_flag(command);
	char *pattern = pattern_of(name), *times;

	if (asprintf(&times, "-test.benchtime=%" PRIu64 "x", iterations) < 0)
		abort();
	for (size_t i = 0; i < first; i++)
		bench_words_add(words, command[i]);
	bench_words_add(words, "-test.run=^$");
	bench_words_add(words, pattern);
	bench_words_add(words, times);
	bench_words_add(words, "-test.count=1");
	add_others(words, command, first, not_alone, cpus);
	free(times);
	free(pattern);
}
