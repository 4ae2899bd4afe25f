/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-command - the command lines of benchmarks in Go: "go test -bench .", and the test binary
 * that it builds and runs.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words of a command line, with a NULL at the end.  Zero-initialised: none. */
struct bench_words {
	char **word;		/* each is ours */
	size_t count;
};

void bench_words_add(struct bench_words *words, const char *word);

void bench_words_release(struct bench_words *words);

/*
 * Return how many words of COMMAND come before the flags of "go test" ("go", "go1.22" and "gotip",
 * with -C DIR or without).  Return 0 if COMMAND is another command.
 */
size_t bench_command_go_test(char *const *command);

/*
 * Return whether COMMAND is another command that seems to start "go test" with -bench: "nice go
 * test -bench .", "sh -c 'go test -bench .'".
 */
bool bench_command_starts_go_test(char *const *command);

/* Return whether COMMAND, which is "go test", has the flag NAME ("bench") before "-args". */
bool bench_command_has(char *const *command, const char *name);

/*
 * Set WORDS to COMMAND, which is "go test", so that it runs each test binary by the PREFIX words,
 * one at a time, and without a limit of time unless COMMAND sets one.  A program of COMMAND's own
 * -exec comes after PREFIX.  Return NULL, or the word of PREFIX that -exec cannot contain, because
 * it has both kinds of quotes.
 */
const char *bench_command_exec(struct bench_words *words, char *const *command,
			       const struct bench_words *prefix);

/* Return whether COMMAND runs a Go test binary with benchmarks: it has -test.bench. */
bool bench_command_is_binary(char *const *command);

/* Return the argument of the flag -test.NAME of COMMAND, or NULL. */
const char *bench_command_argument(char *const *command, const char *name);

/*
 * Set WORDS to COMMAND, a test binary, so that each benchmark runs once.  CPUS: the argument of
 * -test.cpu; NULL: COMMAND's own.
 */
void bench_command_once(struct bench_words *words, char *const *command, const char *cpus);

/*
 * Set WORDS to COMMAND, a test binary, so that only the benchmark NAME runs, with so many
 * ITERATIONS, and no test.  NAME is without the number of threads; CPUS as above.  It writes no
 * profile: that would be counted.
 */
void bench_command_alone(struct bench_words *words, char *const *command, const char *name,
			 uint64_t iterations, const char *cpus);
