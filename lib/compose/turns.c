/* SPDX-License-Identifier: Apache-2.0 */
#include "compose/turns.h"
#include "base/arena.h"
#include "base/random.h"

#include <stdlib.h>
#include <string.h>

/* Put the COUNT numbers in ORDER into a random order (Fisher and Yates). */
static void shuffle(size_t *order, size_t count, uint64_t *seed)
{
	for (size_t left = count; left > 1; left--) {
		size_t chosen = random_number(seed) % left, last = order[left - 1];
		order[left - 1] = order[chosen];
		order[chosen] = last;
	}
}

bool turns_run(const struct turns *t, turns_once *once, void *context)
{
	size_t *order = mem_zeroed(t->commands, sizeof(*order)), done = 0;
	uint64_t seed = t->seed;
	bool good = true;

	for (size_t i = 0; i < t->commands; i++)
		order[i] = i;
	for (size_t run = 0; run < t->count && good; run++) {
		bool reverse = run % 2;
		if (!reverse)
			shuffle(order, t->commands, &seed);
		for (size_t i = 0; i < t->commands && good; i++, done++)
			good = once(context, order[reverse ? t->commands - 1 - i : i], run, done);
	}
	free(order);
	return good;
}

/* --- the words of a command line --- */

static const char blanks[] = " \t";

/* Return whether the WORD of LENGTH characters is a command of the shell itself, not a program. */
static bool is_of_shell(const char *word, size_t length)
{
	static const char *const names[] = { ".", ":", "cd", "command", "eval", "exec", "exit",
					     "export", "set", "trap", "ulimit", "umask",
					     "unset", "wait" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == length && !memcmp(names[i], word, length))
			return true;
	return memchr(word, '=', length) != NULL;	/* NAME=VALUE COMMAND */
}

/* Return whether a shell would do more with LINE than split it at blanks. */
static bool needs_shell(const char *line)
{
	const char *first = line + strspn(line, blanks);

	return strpbrk(line, "|&;<>()$`\\\"'*?[]#~{}!\n") || *first == '\0' ||
	       is_of_shell(first, strcspn(first, blanks));
}

char **turns_words(const char *line)
{
	size_t size = strlen(line) + 1, most = size / 2 + 4, count = 0;
	char **words = mem_zeroed(1, most * sizeof(*words) + size);
	char *text = memcpy(words + most, line, size), *rest;

	if (needs_shell(line)) {
		words[0] = (char *)(uintptr_t)"sh";
		words[1] = (char *)(uintptr_t)"-c";
		words[2] = text;
		return words;
	}
	for (char *w = strtok_r(text, blanks, &rest); w; w = strtok_r(NULL, blanks, &rest))
		words[count++] = w;
	return words;
}
