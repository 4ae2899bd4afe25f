/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/go-flags.h"
#include "base/arena.h"
#include "base/sibling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum flag { FLAG_FILE, FLAG_PERF_FILE, FLAG_EVENT, FLAG_PERIOD, FLAG_CONFIG, FLAG_NONE };

static const char *const names[] = {
	[FLAG_FILE] = "cpuprofile", [FLAG_PERF_FILE] = "perfprofile",
	[FLAG_EVENT] = "cpuprofileevent", [FLAG_PERIOD] = "cpuprofileperiod",
	[FLAG_CONFIG] = "perfprofileconfig",
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

/* Return "--NAME=VALUE" with the SIZE bytes at VALUE. */
static char *option(const char *name, const char *value, size_t size)
{
	size_t room = strlen(name) + size + 4;
	char *word = mem_resize(NULL, room);

	snprintf(word, room, "--%s=%.*s", name, (int)size, value);
	return word;
}

/* In Go's proposals the rate of the event "timer" is a frequency; other rates are periods. */
static bool is_timer(const char *event, size_t size)
{
	return size == strlen("timer") && !memcmp(event, "timer", size);
}

/* Return whether the SIZE digits at TEXT are 0, which chooses the preset period of the event. */
static bool is_preset(const char *text, size_t size)
{
	return size > 0 && strspn(text, "0") >= size;
}

/*
 * Write the options for "{event=E rate=N}" to WORD.  Return how many there are, at most 2, or -1
 * if CONFIG is malformed.
 */
static int translate_config(const char *config, char **word)
{
	static const char separators[] = " ,\t{}";
	const char *event = NULL, *rate = NULL;
	int words = 0;

	if (*config != '{' || config[strlen(config) - 1] != '}')
		return -1;
	for (const char *at = config; *(at += strspn(at, separators));
	     at += strcspn(at, separators)) {
		if (!strncmp(at, "event=", strlen("event=")))
			event = at + strlen("event=");
		else if (!strncmp(at, "rate=", strlen("rate=")))
			rate = at + strlen("rate=");
		else
			return -1;
	}
	if (!event && !rate)
		return -1;
	size_t size = event ? strcspn(event, separators) : 0;
	size_t digits = rate ? strcspn(rate, separators) : 0;
	bool has_frequency = event && is_timer(event, size);
	if (event)
		word[words++] = option("event", event, size);
	if (rate && !is_preset(rate, digits))
		word[words++] = option(has_frequency ? "frequency" : "period", rate, digits);
	return words;
}

/*
 * Write the options for FLAG with VALUE to WORD, at most 2.  Return how many, or -1: malformed.
 * FILE_FLAG: the flag that set flags->file.
 */
static int translate(enum flag flag, const char *value, char **word, struct go_flags *flags,
		     enum flag *file_flag)
{
	if (!value || !*value)
		return -1;
	switch (flag) {
	case FLAG_FILE:
	case FLAG_PERF_FILE:
		if (flags->file && *file_flag != flag)
			flags->other = flags->file;
		flags->file = value;
		*file_flag = flag;
		return 0;
	case FLAG_EVENT:
		*word = option("event", value, strlen(value));
		return 1;
	case FLAG_PERIOD:
		if (is_preset(value, strlen(value)))
			return 0;
		*word = option("period", value, strlen(value));
		return 1;
	default:
		return translate_config(value, word);
	}
}

char **go_flags_translate(const struct command *cmd, int *argc, char **argv, struct go_flags *flags,
		     const char **wrong)
{
	char **word = mem_zeroed((size_t)*argc * 2 + 1, sizeof(*word));
	enum flag file_flag = FLAG_NONE;
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
		int more = translate(flag, value, word + words, flags, &file_flag);
		if (more < 0 && !*wrong)
			*wrong = name;
		words += more > 0 ? more : 0;
	}
	while (i < *argc)
		word[words++] = argv[i++];
	*argc = words;
	return word;
}

/* Return whether COMMAND is a "go test" that runs tests, and has no -exec yet. */
static bool is_go_test(char *const *command)
{
	if (!command || !command[1] || strcmp(command[1], "test"))
		return false;
	const char *slash = strrchr(command[0], '/');
	if (strcmp(slash ? slash + 1 : command[0], "go"))
		return false;
	for (char *const *word = command + 2; *word && strcmp(*word, "-args"); word++) {
		const char *name = *word + (**word == '-') + !strncmp(*word, "--", 2);
		if (name > *word && (!strcmp(name, "exec") || !strncmp(name, "exec=", 5) ||
				     !strcmp(name, "c") || !strcmp(name, "h")))
			return false;
	}
	return true;
}

/* Return whether COMMAND names packages by a pattern: there may be several test programs. */
static bool has_pattern(char *const *command)
{
	for (char *const *word = command; *word && strcmp(*word, "-args"); word++)
		if (**word != '-' && strstr(*word, "..."))
			return true;
	return false;
}

/* Return PATH as an absolute path, because tests run in the directories of their packages. */
static char *from_root(const char *path)
{
	char here[PATH_MAX];

	if (*path == '/' || !getcwd(here, sizeof(here)))
		return mem_text(path);
	size_t room = strlen(here) + strlen(path) + 2;
	char *whole = mem_resize(NULL, room);
	snprintf(whole, room, "%s/%s", here, path);
	return whole;
}

/* Return pmu-prof with OPTIONS and FILE (NULL: none), for go's -exec. */
static char *exec_words(char **options, int count, const char *file)
{
	const char **word = mem_zeroed((size_t)count + 5, sizeof(*word));
	char found[PATH_MAX], *path = file ? from_root(file) : NULL;
	size_t words = sibling_words("pmu-prof", found, word);
	char *name = strchr(word[0], '/') ? from_root(word[0]) : NULL;

	if (name)
		word[0] = name;
	for (int i = 0; i < count; i++)
		if (strcmp(options[i], "--dry-run"))
			word[words++] = options[i];
	if (path) {
		word[words++] = "-cpuprofile";
		word[words++] = path;
	}
	word[words++] = "--";
	char *line = words_quoted(words, word);
	free(word);
	free(name);
	free(path);
	return line;
}

char *go_flags_exec_line(char **options, int count, const struct go_flags *flags,
			 char *const *command)
{
	char exec[] = "-exec", *line;
	int all = 0;

	if (!is_go_test(command))
		return NULL;
	while (command[all])
		all++;
	char **word = mem_zeroed((size_t)all + 2, sizeof(*word));
	memcpy(word, command, 2 * sizeof(*word));
	word[2] = exec;
	word[3] = exec_words(options, count, has_pattern(command) ? NULL : flags->file);
	memcpy(word + 4, command + 2, (size_t)(all - 2) * sizeof(*word));
	line = words_quoted((size_t)all + 2, (const char *const *)word);
	free(word[3]);
	free(word);
	return line;
}
