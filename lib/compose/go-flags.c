/* SPDX-License-Identifier: Apache-2.0 */
#include "compose/go-flags.h"
#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum flag { FLAG_FILE, FLAG_EVENT, FLAG_PERIOD, FLAG_CONFIG, FLAG_NONE };

static const char *const names[] = {
	[FLAG_FILE] = "cpuprofile", [FLAG_EVENT] = "cpuprofileevent",
	[FLAG_PERIOD] = "cpuprofileperiod", [FLAG_CONFIG] = "perfprofileconfig",
};

/* Return which flag WORD is.  Set *VALUE to the text after "=", or to NULL. */
static enum flag find_flag(const char *word, const char **value)
{
	size_t dashes = word[0] != '-' ? 0 : word[1] != '-' ? 1 : 2;
	size_t size = strcspn(word + dashes, "=");
	int i = FLAG_FILE;

	while (i < FLAG_NONE && (dashes == 0 || strlen(names[i]) != size ||
				 memcmp(names[i], word + dashes, size)))
		i++;
	*value = word[dashes + size] ? word + dashes + size + 1 : NULL;
	return (enum flag)i;
}

/* Return --NAME=VALUE, of the SIZE bytes at VALUE. */
static char *option(const char *name, const char *value, size_t size)
{
	size_t room = strlen(name) + size + 4;
	char *word = mem_resize(NULL, room);

	snprintf(word, room, "--%s=%.*s", name, (int)size, value);
	return word;
}

/* Go's proposals call the timer an event.  Its rate is a frequency; other rates are periods. */
static bool is_timer(const char *event, size_t size)
{
	return size == strlen("timer") && !memcmp(event, "timer", size);
}

/*
 * Write the options for "{event=E rate=N}" to WORD.  Return how many there are, at most 2, or 0
 * if CONFIG is malformed.
 */
static int translate_config(const char *config, char **word)
{
	static const char separators[] = " ,\t{}";
	const char *event = NULL, *rate = NULL;
	int words = 0;

	if (*config != '{' || config[strlen(config) - 1] != '}')
		return 0;
	for (const char *at = config; *(at += strspn(at, separators));
	     at += strcspn(at, separators)) {
		if (!strncmp(at, "event=", strlen("event=")))
			event = at + strlen("event=");
		else if (!strncmp(at, "rate=", strlen("rate=")))
			rate = at + strlen("rate=");
		else
			return 0;
	}
	size_t size = event ? strcspn(event, separators) : 0;
	bool by_time = event && is_timer(event, size);
	if (event)
		word[words++] = by_time ? mem_text("--event=cpu-clock")
					: option("event", event, size);
	if (rate)
		word[words++] = option(by_time ? "frequency" : "period", rate,
				       strcspn(rate, separators));
	return words;
}

/* Write the options for FLAG with VALUE to WORD, at most 2.  Return how many, or -1: malformed. */
static int translate(enum flag flag, const char *value, char **word, struct go_flags *flags)
{
	int words;

	if (!value || !*value)
		return -1;
	switch (flag) {
	case FLAG_FILE:
		flags->file = value;
		return 0;
	case FLAG_EVENT:
		*word = is_timer(value, strlen(value)) ? mem_text("--event=cpu-clock")
						       : option("event", value, strlen(value));
		return 1;
	case FLAG_PERIOD:
		*word = option("period", value, strlen(value));
		return 1;
	default:
		words = translate_config(value, word);
		return words ? words : -1;
	}
}

char **go_flags_translate(const struct command *cmd, int *argc, char **argv, struct go_flags *flags,
		     const char **wrong)
{
	char **word = mem_zeroed((size_t)*argc * 2 + 1, sizeof(*word));
	int words = 0, i = 0;

	*flags = (struct go_flags){ .file = NULL };
	*wrong = NULL;
	if (i < *argc)
		word[words++] = argv[i++];
	while (i < *argc && argv[i][0] == '-' && strcmp(argv[i], "--") && strcmp(argv[i], "-")) {
		const char *name = argv[i], *value;
		enum flag flag = find_flag(name, &value);
		if (flag == FLAG_NONE) {
			bool takes_next = command_takes_next(cmd, argv[i]);
			word[words++] = argv[i++];
			if (takes_next && i < *argc)
				word[words++] = argv[i++];
			continue;
		}
		i++;
		if (!value && i < *argc)
			value = argv[i++];
		int more = translate(flag, value, word + words, flags);
		if (more < 0 && !*wrong)
			*wrong = name;
		words += more > 0 ? more : 0;
	}
	while (i < *argc)
		word[words++] = argv[i++];
	*argc = words;
	return word;
}
