/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/bench-exec.h"
#include "base/sibling.h"
#include "base/signals.h"
#include "counting/bench-command.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Return EVENTS as -e takes them.  The caller frees. */
static char *text_of(const struct event_list *events)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	for (size_t i = 0; i < events->count; i++) {
		const struct event *e = &events->event[i];
		bool opens = e->group && (i == 0 || e[-1].group != e->group);
		bool closes = e->group && (i + 1 == events->count || e[1].group != e->group);
		fprintf(out, "%s%s%s%s%s", i ? "," : "", opens ? "{" : "", e->name,
			closes ? "}" : "", closes && e->weak ? ":W" : "");
	}
	if (fclose(out) != 0)
		abort();
	return text;
}

/*
 * Add -e for EVENTS to WORDS.  Their canonical names leave nothing to be chosen or to be said again
 * by each test binary's tool; but a name of the user's own says nothing: then NAMES are added.
 */
static void add_events(struct bench_words *words, const struct event_list *events,
		       const struct word_list *names)
{
	bool are_canonical = true;

	for (size_t i = 0; i < events->count; i++)
		are_canonical &= !events->event[i].named;
	for (size_t i = 0; i < names->count && !are_canonical; i++) {
		bench_words_add(words, "-e");
		bench_words_add(words, names->item[i]);
	}
	if (!are_canonical)
		return;
	char *text = text_of(events);
	bench_words_add(words, "-e");
	bench_words_add(words, text);
	free(text);
}

void bench_exec(char *const *command, const struct event_list *events,
		const struct word_list *names, struct report *report)
{
	struct bench_words prefix = { 0 }, words = { 0 };
	char path[PATH_MAX];
	const char *self[2];
	size_t count = sibling_words("pmu-stat", path, self);

	for (size_t i = 0; i < count; i++)
		bench_words_add(&prefix, self[i]);
	bench_words_add(&prefix, "--bench");
	add_events(&prefix, events, names);
	bench_words_add(&prefix, "--");
	const char *wrong = bench_command_exec(&words, command, &prefix);
	if (wrong) {
		report_error(report, "'%s' cannot run this tool: -exec takes words with one kind "
			     "of quotes, and this one has both: %s", command[0], wrong);
	} else {
		signals_restore(0);
		execvp(words.word[0], words.word);
		report_failure(report, "cannot run '%s'", words.word[0]);
	}
	bench_words_release(&prefix);
	bench_words_release(&words);
}
