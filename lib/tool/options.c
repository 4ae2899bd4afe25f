/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/options.h"
#include "base/arena.h"
#include "base/units.h"
#include "base/version.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	MAX_OPTIONS = 96, MAX_SPELLINGS = 128,
	FIRST_LONG = 256,		/* getopt_long's val of the first option */
	FIRST_SPELLING = 1024,		/* and of the first spelling */
};

static bool help, version, quiet;
static int verbose;
static struct word_list files;

static const struct command_option input_options[] = {
	{ 'i', "input", "FILE", "read FILE, as if it were an operand", SETS_LIST(files),
	  .group = GROUP_FILES },
	{ 0 }
};

static const struct command_option common_options[] = {
	{ 'q', "quiet", NULL, "print no messages; only the exit status shows errors",
	  SETS_FLAG(quiet), .group = GROUP_TOOLS },
	{ 'v', "verbose", NULL, "print a summary of counts and costs at the end",
	  SETS_TIMES(verbose), .group = GROUP_TOOLS },
	{ 'h', "help", NULL, "print this help", SETS_FLAG(help), .group = GROUP_TOOLS },
	{ 'V', "version", NULL, "print the version; with -v, what it is built from",
	  SETS_FLAG(version), .group = GROUP_TOOLS },
	{ 0 }
};

/* All options of the command that runs, in the order of --help. */
static const struct command_option *all[MAX_OPTIONS];
static bool given[MAX_OPTIONS];
static char letter_of[MAX_OPTIONS];	/* by which it was given last; 0: by its name */
static int options;
static int first_passed;	/* index in ALL from which options are another tool's */
static struct word_list passed;	/* words of these options, as they were given */

/* Return the index of the option NAME in ALL, or -1. */
static int find_exact(const char *name)
{
	for (int i = 0; i < options; i++)
		if (!strcmp(all[i]->name, name))
			return i;
	return -1;
}

static bool is_listed(const char *name)
{
	return find_exact(name) >= 0;
}

/* Return spelling number I, or NULL. */
static const struct command_spelling *spelling(const struct command *cmd, int i)
{
	const struct command_spelling *s = cmd->spellings;

	return s && i < MAX_SPELLINGS && (s[i].name || s[i].letter) ? &s[i] : NULL;
}

static void list_options(const struct command *cmd)
{
	const struct command_option *const table[] = {
		cmd->options, cmd->reads_files ? input_options : NULL, common_options,
		cmd->passed,	/* the last */
	};

	options = 0;
	for (size_t t = 0; t < sizeof(table) / sizeof(*table); t++) {
		first_passed = options;
		for (const struct command_option *o = table[t]; o && o->name; o++)
			if (options < MAX_OPTIONS && !is_listed(o->name))
				all[options++] = o;
	}
}

void command_misused(const struct command *cmd, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", cmd->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	options_print_usage(cmd, stderr);
	exit(2);
}

static void add_to_list(struct word_list *list, const char *text)
{
	list->item = mem_resize(list->item, (list->count + 1) * sizeof(*list->item));
	if (list->beside) {
		list->beside_count = mem_resize(list->beside_count, (list->count + 1) *
						sizeof(*list->beside_count));
		list->beside_count[list->count] = list->beside->count;
	}
	list->item[list->count++] = text;
}

static bool parse_choice(const struct command_option *o, const char *text)
{
	for (int k = 0; o->choices[k]; k++)
		if (!strcmp(o->choices[k], text)) {
			*(int *)o->value = k;
			return true;
		}
	return false;
}

/* Parse TEXT, a list of choices.  Return NULL, or the wrong part of TEXT. */
static const char *parse_some(const struct command_option *o, const char *text)
{
	for (const char *at = text; ; at++) {
		size_t size = strcspn(at, ","), k = 0;
		while (o->choices[k] && (strlen(o->choices[k]) != size ||
					 memcmp(o->choices[k], at, size)))
			k++;
		if (!o->choices[k])
			return at;
		*(unsigned *)o->value |= 1U << k;
		at += size;
		if (!*at)
			return NULL;
	}
}

/* Parse TEXT, a number or a time in the range of O, into *VALUE. */
static bool parse_number(const struct command_option *o, const char *text, uint64_t *value)
{
	bool is_time = o->kind == OPTION_TIME;
	uint64_t number;

	if (!(is_time ? units_parse_duration : units_parse_count)(text, &number) ||
	    !options_are_in_range(o, number))
		return false;
	*value = number;
	return true;
}

/* TEXT is NULL if an optional argument is left out. */
static bool parse_integer(const struct command_option *o, const char *text)
{
	uint64_t number = (uint64_t)o->implied;

	if (text && !parse_number(o, text, &number))
		return false;
	*(int *)o->value = (int)number;
	return true;
}

static bool parse_yes_no(const char *text, bool *value)
{
	*value = !text || !strcmp(text, "yes");
	return *value || !strcmp(text, "no");
}

/* Set the value of O from TEXT, its argument, or NULL.  Return NULL, or what is wrong with it. */
static const char *set_value(const struct command_option *o, const char *text)
{
	bool good = true;

	switch (o->kind) {
	case OPTION_FLAG:	*(bool *)o->value = true; break;
	case OPTION_TIMES:	++*(int *)o->value; break;
	case OPTION_TEXT:	*(const char **)o->value = text; break;
	case OPTION_LIST:	add_to_list(o->value, text); break;
	case OPTION_INTEGER:	good = parse_integer(o, text); break;
	case OPTION_SHARE:	good = units_parse_share(text, o->value); break;
	case OPTION_CHOICE:	good = parse_choice(o, text); break;
	case OPTION_SOME:	return parse_some(o, text);
	case OPTION_YES_NO:	good = parse_yes_no(text, o->value); break;
	case OPTION_PARSED:	return o->parse(text ? text : "", o->value);
	case OPTION_COUNT:
	case OPTION_SIZE:
	case OPTION_TIME:	good = parse_number(o, text, o->value); break;
	}
	return good ? NULL : text;
}

/* Set the value of O from TEXT.  Misuse: TEXT is wrong. */
static void use_value(const struct command *cmd, const struct command_option *o, const char *text)
{
	const char *wrong = set_value(o, text), *hint = NULL;
	char takes[512];

	if (!wrong)
		return;
	options_describe(o, takes, sizeof(takes));
	for (int i = 0; o->letter && spelling(cmd, i); i++)
		if (cmd->spellings[i].letter == o->letter)
			hint = cmd->spellings[i].instead;
	command_misused(cmd, "--%s takes %s, not '%s'%s%s", o->name, takes, wrong,
			hint ? "; " : "", hint ? hint : "");
}

/* An option on the command line. */
struct given_option {
	int option;		/* index in ALL */
	char letter;		/* 0: it was given by its name */
	const char *argument;
};

/* Append to SHORTS the letter of an option that takes ARGUMENT, as in struct option. */
static char *add_short(char *shorts, char letter, int argument)
{
	*shorts++ = letter;
	for (int k = 0; k < argument; k++)
		*shorts++ = ':';	/* one: an argument; two: an optional one */
	return shorts;
}

static int argument_of(const struct command_option *o)
{
	return options_is_optional(o) ? optional_argument
	     : o->argument ? required_argument : no_argument;
}

/* Return the index of the option with LETTER in ALL, or -1. */
static int find_letter(char letter)
{
	for (int i = 0; i < options; i++)
		if (all[i]->letter == letter)
			return i;
	return -1;
}

static const struct command_spelling *spelling_of_letter(const struct command *cmd, char letter)
{
	const struct command_spelling *s = NULL;

	for (int i = 0; (s = spelling(cmd, i)) != NULL && s->letter != letter; i++)
		;
	return s;
}

/* Return whether S takes an argument, as in struct option. */
static int argument_of_spelling(const struct command_spelling *s)
{
	return s->means && !s->as ? argument_of(all[find_exact(s->means)])
	     : s->argument ? required_argument : no_argument;
}

/* Translate the spellings: those of an option alone are the same as it to getopt_long(). */
static char *translate_spellings(const struct command *cmd, char *shorts, struct option *longs)
{
	const struct command_spelling *s;

	for (int i = 0; (s = spelling(cmd, i)) != NULL; i++) {
		int argument = argument_of_spelling(s);
		int val = s->means && !s->as ? FIRST_LONG + find_exact(s->means)
					     : FIRST_SPELLING + i;
		if (s->name)
			*longs++ = (struct option){ .name = s->name, .val = val,
						    .has_arg = argument };
		if (s->letter && find_letter(s->letter) < 0)
			shorts = add_short(shorts, s->letter, argument);
	}
	return shorts;
}

/* Translate the options for getopt_long(): to SHORTS and LONGS. */
static void translate(const struct command *cmd, char *shorts, struct option *longs)
{
	if (cmd->runs_command)
		*shorts++ = '+';	/* the command's options are not ours */
	for (int i = 0; i < options; i++) {
		longs[i] = (struct option){ .name = all[i]->name, .val = FIRST_LONG + i,
					    .has_arg = argument_of(all[i]) };
		if (all[i]->letter)
			shorts = add_short(shorts, all[i]->letter, longs[i].has_arg);
	}
	shorts = translate_spellings(cmd, shorts, longs + options);
	*shorts = '\0';
}

/* Note the word of another tool's option O: --NAME or --NAME=TEXT. */
static void pass(const struct command_option *o, const char *text)
{
	size_t size = strlen(o->name) + (text ? strlen(text) : 0) + 4;
	char *word = mem_resize(NULL, size);

	snprintf(word, size, "--%s%s%s", o->name, text ? "=" : "", text ? text : "");
	add_to_list(&passed, word);
}

/* Misuse: S is a spelling of what we do in another way. */
static void refuse_spelling(const struct command *cmd, const struct command_spelling *s)
{
	char letter[3] = { '-', s->letter };

	if (s->instead)
		command_misused(cmd, "there is no option '%s%s%s%s': %s", s->letter ? letter : "",
				s->letter && s->name ? ", " : "", s->name ? "--" : "",
				s->name ? s->name : "", s->instead);
}

/* Return the argument of our option for S with TEXT, as a list inside a list: "NAME=A+B". */
static const char *argument_as(const struct command_spelling *s, const char *text)
{
	static struct arena arguments;	/* live as long as the program */
	size_t used = strlen(s->as), size = used + (text ? strlen(text) : 0) + 1;
	char *argument = arena_alloc(&arguments, size);

	snprintf(argument, size, "%s%s", s->as, text ? text : "");
	for (char *at = argument + used; *at; at++)
		if (*at == ',')
			*at = '+';
	return argument;
}

/* Set *USE to the next option of ARGV.  False: there are no more. */
static bool next_option(const struct command *cmd, int argc, char **argv, struct given_option *use)
{
	static struct option longs[MAX_OPTIONS + MAX_SPELLINGS + 1];
	static char shorts[3 * (MAX_OPTIONS + MAX_SPELLINGS) + 2];
	const struct command_spelling *s = NULL;

	if (!longs[0].name)
		translate(cmd, shorts, longs);
	int val = getopt_long(argc, argv, shorts, longs, NULL);
	if (val == -1)
		return false;
	use->argument = optarg;
	use->letter = val < FIRST_LONG ? (char)val : '\0';
	use->option = val < FIRST_LONG ? find_letter((char)val) : val - FIRST_LONG;
	if (val >= FIRST_SPELLING)
		s = spelling(cmd, val - FIRST_SPELLING);
	else if (use->option < 0)
		s = spelling_of_letter(cmd, (char)val);
	if (!s && use->option < 0) {	/* getopt_long() has reported it */
		options_print_usage(cmd, stderr);
		exit(2);
	}
	if (!s)
		return true;
	if (!s->means) {
		refuse_spelling(cmd, s);
		return next_option(cmd, argc, argv, use);	/* it has no effect */
	}
	use->option = find_exact(s->means);
	if (s->as)
		use->argument = argument_as(s, optarg);
	return true;
}

/* Copy the next word of *LIST, a list with spaces, to WORD, and set *LIST to the rest. */
static bool next_word(const char **list, char word[64])
{
	size_t size;

	if (!*list)
		return false;
	*list += strspn(*list, " ");
	size = strcspn(*list, " ");
	snprintf(word, 64, "%.*s", (int)size, *list);
	*list += size;
	return size > 0;
}

/* Write the names in LIST to TEXT: "--a, --b".  Return how many of them were given. */
static size_t name_options(const char *list, char *text, size_t size)
{
	size_t count = 0, used = 0;
	char name[64];

	while (next_word(&list, name) && used < size) {
		count += command_given(name);
		used += (size_t)snprintf(text + used, size - used, "%s--%s", used ? ", " : "",
					 name);
	}
	return count;
}

/* Write to TEXT how the option NAME was given: "--pid", or "-p". */
static void spell(const char *name, char *text, size_t size)
{
	char letter = letter_of[find_exact(name)];

	if (letter)
		snprintf(text, size, "-%c", letter);
	else
		snprintf(text, size, "--%s", name);
}

/* Misuse: O was given with an option that it excludes. */
static void check_excluded(const struct command *cmd, const struct command_option *o)
{
	const char *list = o->excludes;
	char name[64], one[64], other[64];

	while (next_word(&list, name)) {
		if (!strcmp(name, o->name) || !command_given(name))
			continue;
		spell(o->name, one, sizeof(one));
		spell(name, other, sizeof(other));
		command_misused(cmd, "%s does not go with %s", one, other);
	}
}

/* Misuse: O was given, without an option that it needs, or with one that it excludes. */
static void check_others(const struct command *cmd, const struct command_option *o)
{
	char needed[512] = "";

	if (!command_given(o->name))
		return;
	if (o->needs && name_options(o->needs, needed, sizeof(needed)) == 0)
		command_misused(cmd, "--%s needs %s%s", o->name,
				strchr(o->needs, ' ') ? "one of " : "", needed);
	check_excluded(cmd, o);
}

/* Misuse: the inputs are not one stream, for which O is. */
static void refuse_for_profiles(const struct command *cmd, const struct command_option *o)
{
	for (size_t i = 0; i < files.count; i++) {
		const char *file = files.item[i];
		if (!strcmp(file, "-") || access(file, F_OK) == 0)
			continue;
		if (options_is_optional(o))
			command_misused(cmd, "cannot open '%s': %s; an argument of --%s comes "
					"after '=': --%s=%s", file, strerror(errno), o->name,
					o->name, file);
		command_misused(cmd, "cannot open '%s': %s", file, strerror(errno));
	}
	if (files.count > 1)
		command_misused(cmd, "--%s works on one stream, not on %zu files; pmu-stream --cat "
				"joins streams", o->name, files.count);
	command_misused(cmd, "--%s works on a stream, but the input is a profile: give the stream "
			"that it was made of", o->name);
}

void command_refuse(const struct command *cmd, enum option_input input)
{
	for (int i = 0; i < options; i++) {
		if (!given[i] || all[i]->only == FOR_ALL || all[i]->only == input)
			continue;
		if (input == FOR_PROFILES)
			refuse_for_profiles(cmd, all[i]);
		command_misused(cmd, "--%s works on profiles, and this is a stream", all[i]->name);
	}
}

struct options_common options_parse(const struct command *cmd, int argc, char **argv)
{
	struct given_option one, *use = NULL;
	size_t uses = 0;
	bool printed;

	list_options(cmd);
	argv[0] = (char *)cmd->name;	/* getopt's messages start with it */
	while (next_option(cmd, argc, argv, &one)) {
		use = array_grow(use, uses, sizeof(*use));
		use[uses++] = one;
		given[one.option] = true;
		letter_of[one.option] = one.letter;
	}
	printed = command_given("version") || command_given("help");
	if (command_given("version"))
		printf("%s %s\n%s", cmd->name, version_text,
		       command_given("verbose") ? version_details : "");
	else if (printed)
		/* with the defaults: no option has changed a value yet */
		options_print_help(cmd, all, first_passed, options);
	for (size_t i = 0; i < uses && !printed; i++) {
		use_value(cmd, all[use[i].option], use[i].argument);
		if (use[i].option >= first_passed)
			pass(all[use[i].option], use[i].argument);
	}
	free(use);
	for (int i = 0; i < options && !printed; i++)
		check_others(cmd, all[i]);
	for (int i = optind; cmd->reads_files && i < argc; i++)
		add_to_list(&files, argv[i]);
	return (struct options_common){ .quiet = quiet, .verbose = verbose, .printed = printed };
}

const struct word_list *options_files(void)
{
	return &files;
}

const struct word_list *command_passed(void)
{
	return &passed;
}

/* Return whether the option that getopt_long() finds by NAME has an argument, as there. */
static int argument_of_name(const struct command *cmd, const char *name)
{
	const struct command_option *found = NULL;
	const struct command_spelling *s;
	size_t size = strlen(name);

	if (is_listed(name))
		return argument_of(all[find_exact(name)]);
	for (int i = 0; (s = spelling(cmd, i)) != NULL; i++)
		if (s->name && !strcmp(s->name, name))
			return argument_of_spelling(s);
	for (int i = 0; i < options; i++)
		if (!strncmp(all[i]->name, name, size))
			found = all[i];
	return found ? argument_of(found) : no_argument;
}

static int argument_of_letter(const struct command *cmd, char letter)
{
	const struct command_spelling *s = spelling_of_letter(cmd, letter);
	int option = find_letter(letter);

	return option >= 0 ? argument_of(all[option]) : s ? argument_of_spelling(s) : no_argument;
}

bool command_takes_next(const struct command *cmd, const char *word)
{
	int argument = no_argument;

	list_options(cmd);
	if (!strncmp(word, "--", 2))
		return !strchr(word, '=') &&
		       argument_of_name(cmd, word + 2) == required_argument;
	if (*word != '-')
		return false;
	for (word++; *word && argument == no_argument; word++)
		argument = argument_of_letter(cmd, *word);
	return argument == required_argument && !*word;
}

bool command_given(const char *name)
{
	for (int i = 0; i < options; i++)
		if (!strcmp(all[i]->name, name))
			return given[i];
	return false;
}
