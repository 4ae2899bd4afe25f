/* SPDX-License-Identifier: Apache-2.0 */
#include "compose/counted-commands.h"
#include "base/arena.h"
#include "base/random.h"
#include "base/word-list.h"
#include "compose/turns.h"

#include <stdlib.h>
#include <string.h>

static struct counted_command *add(struct counted_commands *c)
{
	c->command = array_grow(c->command, c->count, sizeof(*c->command));
	struct counted_command *added = &c->command[c->count++];
	*added = (struct counted_command){ .run = mem_zeroed(c->runs, sizeof(*added->run)) };
	return added;
}

void counted_commands_add_line(struct counted_commands *c, const char *line)
{
	struct counted_command *added = add(c);

	added->text = mem_text(line);
	added->words = turns_words(line);
	/* else the words are parts of the line */
	added->has_shell = added->words[0] && added->words[1] && added->words[2] &&
			   !strcmp(added->words[2], line);
}

void counted_commands_add_words(struct counted_commands *c, char *const *words, size_t count)
{
	struct counted_command *added = add(c);

	added->text = words_quoted(count, (const char *const *)words);
	added->words = mem_zeroed(count + 1, sizeof(*added->words));
	memcpy(added->words, words, count * sizeof(*added->words));
}

/* Make one run of command OF, which counts. */
static bool count_once(void *commands, size_t of, size_t number, size_t done)
{
	struct counted_commands *c = commands;
	struct counted_command *command = &c->command[of];
	struct counting_run *run = &command->run[number];

	(void)done;
	bool good = counting_run_command(c->counting, command->words, run, c->report) &&
		    !c->counting->is_stopped;
	if (good) {
		command->runs++;
		command->failed += run->status != 0;
	} else {
		counting_run_release(run);
	}
	return good;
}

/* Make one run of command OF, which does not count. */
static bool warm_up_once(void *commands, size_t of, size_t number, size_t done)
{
	struct counted_commands *c = commands;
	struct counting_run run = { 0 };

	(void)number;
	(void)done;
	bool good = counting_run_command(c->counting, c->command[of].words, &run, c->report);
	counting_run_release(&run);
	return good && !c->counting->is_stopped;
}

bool counted_commands_run(struct counted_commands *c, struct report *report)
{
	struct turns turns = { .commands = c->count, .count = c->warmup, .seed = random_seed() };

	c->report = report;
	bool good = turns_run(&turns, warm_up_once, c);
	turns.count = c->runs;
	good = good && turns_run(&turns, count_once, c);
	for (size_t i = 0; i < c->count; i++)
		c->make_rows(&c->command[i].rows, c->command[i].run, c->command[i].runs);
	return good || c->counting->is_stopped;
}

void counted_commands_release(struct counted_commands *c)
{
	for (size_t i = 0; i < c->count; i++) {
		struct counted_command *command = &c->command[i];
		for (size_t run = 0; run < command->runs; run++)
			counting_run_release(&command->run[run]);
		counting_rows_release(&command->rows);
		free(command->run);
		free(command->words);
		free(command->text);
	}
	free(c->command);
	*c = (struct counted_commands){ .command = NULL };
}
