/* SPDX-License-Identifier: Apache-2.0 */
/* The order of turns, and the words of command lines. */
#include "compose/turns.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>

enum { COMMANDS = 3, RUNS = 7, ALL = COMMANDS * RUNS };

struct made {
	size_t command[ALL], run[ALL], count;
	size_t most;	/* stop after so many */
	bool good;	/* DONE was right each time */
};

static bool once(void *context, size_t command, size_t run, size_t done)
{
	struct made *made = context;

	made->good &= done == made->count;
	made->command[made->count] = command;
	made->run[made->count++] = run;
	return made->count < made->most;
}

static bool make(struct made *made, uint64_t seed, size_t most)
{
	const struct turns turns = { .commands = COMMANDS, .count = RUNS, .seed = seed };

	*made = (struct made){ .most = most, .good = true };
	return turns_run(&turns, once, made);
}

static void test_order(void)
{
	bool each = true, reverse = true;
	size_t first[COMMANDS] = { 0 };
	struct made made, again;

	for (uint64_t seed = 0; seed < 3000; seed++) {
		make(&made, seed * 0x9e3779b97f4a7c15, ALL + 1);
		each &= made.good && made.count == ALL;
		for (size_t turn = 0; turn < RUNS; turn++) {
			const size_t *command = made.command + turn * COMMANDS;
			unsigned seen = 0;
			for (size_t i = 0; i < COMMANDS; i++) {
				seen |= 1u << command[i];
				each &= made.run[turn * COMMANDS + i] == turn;
				reverse &= turn % 2 == 0 || *(command - 1 - i) == command[i];
			}
			each &= seen == (1u << COMMANDS) - 1;
		}
		first[made.command[ALL - COMMANDS]]++;
	}
	tap(each, "each command runs once in each turn");
	tap(reverse, "every second turn has the reverse order of the turn before it");
	for (size_t i = 0; i < COMMANDS; i++)
		tap(first[i] > 900 && first[i] < 1100, "each command is as often the first");
	make(&made, 5, ALL + 1);
	make(&again, 5, ALL + 1);
	tap(!memcmp(made.command, again.command, sizeof(made.command)), "a seed has one order");
}

static void test_end(void)
{
	struct made made;

	tap(make(&made, 1, ALL + 1) && made.count == ALL, "all runs are made");
	tap(!make(&made, 1, 4) && made.count == 4, "no run is made after one that says so");
}

/* Return whether the words of LINE are WANT, separated by "|". */
static bool has_words(const char *line, const char *want)
{
	char **words = turns_words(line), got[200] = "";

	for (size_t i = 0; words[i]; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", i ? "|" : "",
			 words[i]);
	free(words);
	if (strcmp(got, want))
		printf("# '%s': %s\n", line, got);
	return !strcmp(got, want);
}

static void test_words(void)
{
	tap(has_words("a", "a") && has_words("a b c", "a|b|c") &&
	    has_words("  ./a\t--x=1  -b ", "./a|--x=1|-b"), "words are split at blanks");
	tap(has_words("a 'b c'", "sh|-c|a 'b c'") && has_words("a > b", "sh|-c|a > b") &&
	    has_words("a *.c", "sh|-c|a *.c") && has_words("a $x", "sh|-c|a $x") &&
	    has_words("a\nb", "sh|-c|a\nb") && has_words("~/a", "sh|-c|~/a") &&
	    has_words("a; b", "sh|-c|a; b"), "a shell runs what only a shell understands");
	tap(has_words("X=1 a", "sh|-c|X=1 a") && has_words(" exec a", "sh|-c| exec a") &&
	    has_words("executor a", "executor|a"), "and its own commands");
	tap(has_words("", "sh|-c|") && has_words(" ", "sh|-c| "), "and an empty line");
}

int main(void)
{
	test_order();
	test_end();
	test_words();
	return tap_done();
}
