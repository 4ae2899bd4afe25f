/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/options.h"
#include "base/arena.h"
#include "base/units.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef PMU_VERSION
#define PMU_VERSION "0.0"
#endif

enum {
	MAX_OPTIONS = 96, MAX_SPELLINGS = 96,
	FIRST_LONG = 256,		/* getopt_long's val of the first option */
	FIRST_SPELLING = 1024,		/* and of the first spelling */
};

static bool help, version, quiet;
static int verbose;
static struct word_list files;

static const struct command_option input_options[] = {
	{ 'i', "input", "FILE", "read FILE, as if it were an operand", .list = &files },
	{ 0 }
};

static const struct command_option common_options[] = {
	{ 'q', "quiet", NULL, "print no messages; only the exit status shows errors",
	  .flag = &quiet },
	{ 'v', "verbose", NULL, "print a summary of counts and costs at the end",
	  .times = &verbose },
	{ 'h', "help", NULL, "print this help", .flag = &help },
	{ 'V', "version", NULL, "print the version", .flag = &version },
	{ 0 }
};

/* All options of the command that runs, in the order of --help. */
static const struct command_option *all[MAX_OPTIONS];
static bool given[MAX_OPTIONS];
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

/* Return another program's spelling number I, or NULL. */
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

static bool is_optional(const struct command_option *o)
{
	return o->argument && o->argument[0] == '[';
}

static void print_usage(const struct command *cmd, FILE *out)
{
	fprintf(out, "usage: %s [OPTION]... %s\n", cmd->name, cmd->operands);
}

void command_misused(const struct command *cmd, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", cmd->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	print_usage(cmd, stderr);
	exit(2);
}

/* Return the highest value of O, a number. */
static uint64_t most(const struct command_option *o)
{
	return o->most ? o->most : o->integer ? INT_MAX : UINT64_MAX;
}

static bool is_in_range(const struct command_option *o, uint64_t value)
{
	return value >= o->least && value <= most(o);
}

/* Print " (DEFAULT)" to standard output, if O has a default that O could set, too. */
static void print_default(const struct command_option *o)
{
	char text[UNITS_SIZE] = "";

	if (o->count && is_in_range(o, *o->count))
		snprintf(text, sizeof(text), "%" PRIu64, *o->count);
	else if (o->size && is_in_range(o, *o->size))
		units_format_size(text, *o->size);
	else if (o->time && is_in_range(o, *o->time))
		units_format_duration(text, *o->time);
	else if (o->integer && *o->integer >= 0 && is_in_range(o, (uint64_t)*o->integer))
		snprintf(text, sizeof(text), "%d", *o->integer);
	else if (o->share && *o->share > 0)
		snprintf(text, sizeof(text), "%g%%", 100 * *o->share);
	else if (o->choice && *o->choice >= 0)
		snprintf(text, sizeof(text), "%s", o->choices[*o->choice]);
	else if (o->yes_no)
		snprintf(text, sizeof(text), "%s", *o->yes_no ? "yes" : "no");
	if (*text)
		printf(" (%s)", text);
}

/* Print only the names of the other tool's options: that tool's --help explains them. */
static void print_passed(const struct command *cmd)
{
	enum { COLUMNS = 80 };
	int column = COLUMNS;

	printf("\nand these options of %s, which its --help explains:", cmd->passed_to);
	for (int i = first_passed; i < options; i++) {
		const struct command_option *o = all[i];
		char form[64];
		int size = snprintf(form, sizeof(form), "%s%c%s%s%s", o->letter ? "-" : "--",
				    o->letter ? o->letter : *o->name, o->letter ? "" : o->name + 1,
				    o->argument && !is_optional(o) ? " " : "",
				    o->argument ? o->argument : "");
		if (column + 2 + size > COLUMNS) {
			fputs("\n ", stdout);
			column = 1;
		}
		column += printf(" %s%s", form, i + 1 < options ? "," : "");
	}
	putchar('\n');
}

static void print_help(const struct command *cmd)
{
	print_usage(cmd, stdout);
	printf("%s: %s\n\n", cmd->name, cmd->purpose);
	for (int i = 0; i < first_passed; i++) {
		const struct command_option *o = all[i];
		bool optional = is_optional(o);
		char form[64];

		snprintf(form, sizeof(form), "%c%c%c --%s%s%s", o->letter ? '-' : ' ',
			 o->letter ? o->letter : ' ', o->letter ? ',' : ' ', o->name,
			 optional ? "[=" : o->argument ? "=" : "",
			 o->argument ? o->argument + optional : "");
		printf("  %-26s %s", form, o->help);
		for (size_t k = 0; o->choices && o->choices[k]; k++)
			printf("%s%s", k ? ", " : ": ", o->choices[k]);
		print_default(o);
		putchar('\n');
	}
	if (cmd->passed)
		print_passed(cmd);
	printf("\nSee %s(1).\n", cmd->name);
}

/* Write to TEXT the range of O, a number: "from 1 to 1Gi". */
static void describe_range(const struct command_option *o, char *text, size_t size)
{
	char least[UNITS_SIZE], limit[UNITS_SIZE];

	units_format_size(least, o->least);
	units_format_size(limit, most(o));
	if (most(o) >= UINT64_MAX - 1)
		snprintf(text, size, "from %" PRIu64 " on", o->least);
	else if (o->size)
		snprintf(text, size, "from %s to %s", least, limit);
	else
		snprintf(text, size, "from %" PRIu64 " to %" PRIu64, o->least, most(o));
}

/* Write to TEXT what O takes. */
static void describe(const struct command_option *o, char *text, size_t size)
{
	const char *plain = o->time ? "a time such as 10s"
			  : o->share ? "a share such as 0.5% or 0.005"
			  : o->yes_no ? "one of yes, no" : o->parse ? o->takes : "";
	char range[2 * UNITS_SIZE + 16];
	size_t used = (size_t)snprintf(text, size, "%s", plain);

	describe_range(o, range, sizeof(range));
	if (o->count || o->integer)
		snprintf(text, size, "a number %s", range);
	if (o->size)
		snprintf(text, size, "a number of bytes %s, such as 64Mi", range);
	for (size_t k = 0; o->choices && o->choices[k] && used < size; k++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", k ? ", " : "one of ",
					 o->choices[k]);
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
			*o->choice = k;
			return true;
		}
	return false;
}

/* Parse TEXT, a number or a time in the range of O, into *VALUE. */
static bool parse_number(const struct command_option *o, const char *text, uint64_t *value)
{
	uint64_t number;

	if (!(o->time ? units_parse_duration : units_parse_count)(text, &number) ||
	    !is_in_range(o, number))
		return false;
	*value = number;
	return true;
}

static bool parse_integer(const struct command_option *o, const char *text)
{
	uint64_t number;

	if (!text)
		*o->integer = o->implied;
	else if (parse_number(o, text, &number))
		*o->integer = (int)number;
	else
		return false;
	return true;
}

static bool parse_yes_no(const char *text, bool *value)
{
	*value = !strcmp(text, "yes");
	return *value || !strcmp(text, "no");
}

/* Set the value of O from TEXT, its argument, or NULL if O takes no argument. */
static void set_value(const struct command *cmd, const struct command_option *o, const char *text)
{
	const char *wrong = NULL;
	char takes[512];
	bool good = true;

	if (o->flag)
		*o->flag = true;
	else if (o->times)
		++*o->times;
	else if (o->text)
		*o->text = text;
	else if (o->list)
		add_to_list(o->list, text);
	else if (o->integer)
		good = parse_integer(o, text);
	else if (o->share)
		good = units_parse_share(text, o->share);
	else if (o->choice)
		good = parse_choice(o, text);
	else if (o->yes_no)
		good = parse_yes_no(text ? text : "yes", o->yes_no);
	else if (o->parse)
		wrong = o->parse(text ? text : "", o->value);
	else
		good = parse_number(o, text, o->count ? o->count : o->size ? o->size : o->time);
	if (good && !wrong)
		return;
	describe(o, takes, sizeof(takes));
	const char *hint = NULL;
	for (int i = 0; o->letter && spelling(cmd, i); i++)
		if (cmd->spellings[i].letter == o->letter)
			hint = cmd->spellings[i].instead;
	command_misused(cmd, "--%s takes %s, not '%s'%s%s", o->name, takes, wrong ? wrong : text,
			hint ? "; " : "", hint ? hint : "");
}

/* An option on the command line. */
struct given_option {
	int option;		/* index in ALL */
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
	return is_optional(o) ? optional_argument : o->argument ? required_argument : no_argument;
}

static const struct command_option *find_letter(char letter);

/* Translate the spellings: those that mean an option are the same to getopt_long(). */
static char *translate_spellings(const struct command *cmd, char *shorts, struct option *longs)
{
	const struct command_spelling *s;

	for (int i = 0; (s = spelling(cmd, i)) != NULL; i++) {
		int option = s->means ? find_exact(s->means) : -1;
		int argument = option >= 0 ? argument_of(all[option])
			     : s->argument ? required_argument : no_argument;
		int val = option >= 0 ? FIRST_LONG + option : FIRST_SPELLING + i;
		if (s->name)
			*longs++ = (struct option){ .name = s->name, .val = val,
						    .has_arg = argument };
		if (s->letter && !find_letter(s->letter))
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

enum { NO_EFFECT = -1 };

/* Say what to use instead of spelling number I, if that has an effect that we lack. */
static void use_spelling(const struct command *cmd, int i)
{
	const struct command_spelling *s = spelling(cmd, i);
	char letter[3] = { '-', s->letter };

	if (s->instead)
		command_misused(cmd, "there is no option '%s%s%s%s': %s", s->letter ? letter : "",
				s->letter && s->name ? ", " : "", s->name ? "--" : "",
				s->name ? s->name : "", s->instead);
}

/* Return the index of the option with LETTER, or the number of options if none has it. */
static int letter_index(const struct command *cmd, char letter)
{
	const struct command_spelling *s;

	for (int i = 0; i < options; i++)
		if (all[i]->letter == letter)
			return i;
	for (int i = 0; (s = spelling(cmd, i)) != NULL; i++)
		if (s->letter == letter && s->means && is_listed(s->means))
			return find_exact(s->means);
	return options;
}

/* Like letter_index(), or NO_EFFECT: LETTER is a spelling of what is done anyway. */
static int option_of_letter(const struct command *cmd, char letter)
{
	const struct command_spelling *s;
	int index = letter_index(cmd, letter);

	for (int i = 0; index == options && (s = spelling(cmd, i)) != NULL; i++)
		if (s->letter == letter) {
			use_spelling(cmd, i);
			return NO_EFFECT;
		}
	return index;
}

/* Set *USE to the next option of ARGV.  False: there are no more. */
static bool next_option(const struct command *cmd, int argc, char **argv, struct given_option *use)
{
	static struct option longs[MAX_OPTIONS + MAX_SPELLINGS + 1];
	static char shorts[3 * (MAX_OPTIONS + MAX_SPELLINGS) + 2];

	if (!longs[0].name)
		translate(cmd, shorts, longs);
	int val = getopt_long(argc, argv, shorts, longs, NULL);
	if (val == -1)
		return false;
	use->argument = optarg;
	use->option = val - FIRST_LONG;
	if (val < FIRST_LONG)
		use->option = option_of_letter(cmd, (char)val);
	if (val >= FIRST_SPELLING) {
		use_spelling(cmd, val - FIRST_SPELLING);
		return next_option(cmd, argc, argv, use);
	}
	if (use->option == NO_EFFECT)
		return next_option(cmd, argc, argv, use);
	if (use->option == options) {	/* getopt_long() has reported it */
		print_usage(cmd, stderr);
		exit(2);
	}
	return true;
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
	}
	printed = command_given("version") || command_given("help");
	if (command_given("version"))
		printf("%s %s\n", cmd->name, PMU_VERSION);
	else if (printed)
		print_help(cmd);	/* with the defaults: no option has changed a value yet */
	for (size_t i = 0; i < uses && !printed; i++) {
		set_value(cmd, all[use[i].option], use[i].argument);
		if (use[i].option >= first_passed)
			pass(all[use[i].option], use[i].argument);
	}
	free(use);
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

/* Return the option that getopt_long() finds by the first SIZE bytes of NAME, or NULL. */
static const struct command_option *find_long(const struct command *cmd, const char *name,
					      size_t size)
{
	const struct command_option *found = NULL;
	const struct command_spelling *s;

	for (int i = 0; i < options; i++) {
		if (strncmp(all[i]->name, name, size))
			continue;
		if (!all[i]->name[size])
			return all[i];
		found = all[i];
	}
	for (int i = 0; (s = spelling(cmd, i)) != NULL; i++)
		if (s->means && s->name && !strncmp(s->name, name, size) && !s->name[size] &&
		    is_listed(s->means))
			return all[find_exact(s->means)];
	return found;
}

static const struct command_option *find_letter(char letter)
{
	for (int i = 0; i < options; i++)
		if (all[i]->letter == letter)
			return all[i];
	return NULL;
}

static bool needs_argument(const struct command_option *o)
{
	return o && o->argument && !is_optional(o);
}

bool command_takes_next(const struct command *cmd, const char *word)
{
	list_options(cmd);
	if (!strncmp(word, "--", 2))
		return !strchr(word, '=') &&
		       needs_argument(find_long(cmd, word + 2, strlen(word + 2)));
	if (*word != '-')
		return false;
	for (word++; *word; word++) {
		int option = letter_index(cmd, *word);
		const struct command_option *o = option < options ? all[option] : NULL;
		if (o && o->argument)
			return needs_argument(o) && !word[1];
	}
	return false;
}

bool command_given(const char *name)
{
	for (int i = 0; i < options; i++)
		if (!strcmp(all[i]->name, name))
			return given[i];
	return false;
}

void command_needs(const struct command *cmd, const char *name, const char *needed)
{
	if (command_given(name) && !command_given(needed))
		command_misused(cmd, "--%s needs --%s", name, needed);
}

size_t command_one_of(const struct command *cmd, ...)
{
	char names[512] = "";
	size_t count = 0, used = 0;
	const char *name;
	va_list args;

	va_start(args, cmd);
	while ((name = va_arg(args, const char *))) {
		count += command_given(name);
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s--%s",
						 used ? ", " : "", name);
	}
	va_end(args);
	if (count > 1)
		command_misused(cmd, "give only one of %s", names);
	return count;
}
