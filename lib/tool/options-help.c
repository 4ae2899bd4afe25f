/* SPDX-License-Identifier: Apache-2.0 */
/* options-help - prints --help, and says what the argument of an option is, from the tables. */
#include "tool/options.h"
#include "base/units.h"

#include <inttypes.h>
#include <limits.h>

bool options_is_optional(const struct command_option *o)
{
	return o->argument && o->argument[0] == '[';
}

void options_print_usage(const struct command *cmd, FILE *out)
{
	fprintf(out, "usage: %s [OPTION]... %s\n", cmd->name, cmd->operands);
}

/* Return the highest value of O, a number. */
static uint64_t most(const struct command_option *o)
{
	return o->most ? o->most : o->kind == OPTION_INTEGER ? INT_MAX : UINT64_MAX;
}

bool options_are_in_range(const struct command_option *o, uint64_t value)
{
	return value >= o->least && value <= most(o);
}

/* Write NUMBER, a value of O, to TEXT. */
static void format_number(const struct command_option *o, uint64_t number, char text[UNITS_SIZE])
{
	if (o->kind == OPTION_SIZE)
		units_format_size(text, number);
	else if (o->kind == OPTION_TIME)
		units_format_duration(text, number);
	else
		snprintf(text, UNITS_SIZE, "%" PRIu64, number);
}

/* Print " (DEFAULT)" to standard output, if O has a default that O could set, too. */
static void print_default(const struct command_option *o)
{
	char text[UNITS_SIZE] = "";
	uint64_t number = UINT64_MAX;

	switch (o->kind) {
	case OPTION_INTEGER:
	case OPTION_CHOICE:
		number = *(int *)o->value < 0 ? UINT64_MAX : (uint64_t)*(int *)o->value;
		break;
	case OPTION_COUNT:
	case OPTION_SIZE:
	case OPTION_TIME:
		number = *(uint64_t *)o->value;
		break;
	case OPTION_SHARE:
		if (*(double *)o->value > 0)
			snprintf(text, sizeof(text), "%g%%", 100 * *(double *)o->value);
		break;
	case OPTION_YES_NO:
		snprintf(text, sizeof(text), "%s", *(bool *)o->value ? "yes" : "no");
		break;
	default:
		break;
	}
	if (number != UINT64_MAX && o->kind == OPTION_CHOICE)
		snprintf(text, sizeof(text), "%s", o->choices[number]);
	else if (number != UINT64_MAX && options_are_in_range(o, number))
		format_number(o, number, text);
	if (*text)
		printf(" (%s)", text);
}

/* Return what is between the name of O and its argument. */
static const char *before_argument(const struct command_option *o)
{
	return !o->argument ? "" : options_is_optional(o) ? "[=" : "=";
}

/* Return the argument of O as --help prints it after that. */
static const char *shown_argument(const struct command_option *o)
{
	return o->argument ? o->argument + options_is_optional(o) : "";
}

/* Print the choices of O after COLUMN columns of a line, on more lines if need be. */
static void print_choices(const struct command_option *o, int column)
{
	enum { COLUMNS = 97, INDENT = 29 };

	for (size_t k = 0; o->choices && o->choices[k]; k++) {
		bool is_long = k && column + (int)strlen(o->choices[k]) + 2 > COLUMNS;
		if (is_long)
			column = printf(",\n%*s", INDENT, "") - 2;
		column += printf("%s%s", is_long ? "" : k ? ", " : ": ", o->choices[k]);
	}
}

static void print_option(const struct command_option *o)
{
	char form[64];

	snprintf(form, sizeof(form), "%c%c%c --%s%s%s", o->letter ? '-' : ' ',
		 o->letter ? o->letter : ' ', o->letter ? ',' : ' ', o->name, before_argument(o),
		 shown_argument(o));
	print_choices(o, printf("  %-26s %s", form, o->help));
	print_default(o);
	putchar('\n');
}

static bool are_equal(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Print the options of ALL with this GROUP, after its heading. */
static void print_group(const char *group, const struct command_option *const *all, int count)
{
	printf(group ? "\n%s:\n" : "\n", group);
	for (int i = 0; i < count; i++)
		if (all[i]->help && are_equal(all[i]->group, group))
			print_option(all[i]);
}

/* Return whether an option before ALL[INDEX] has its group. */
static bool is_printed(const struct command_option *const *all, int index)
{
	for (int i = 0; i < index; i++)
		if (are_equal(all[i]->group, all[index]->group))
			return true;
	return false;
}

/* Write to FORM how O is typed: "-e EVENT", "-z[LEVEL]", "--labels[=KINDS]". */
static int form_of(const struct command_option *o, char *form, size_t size)
{
	if (!o->letter)
		return snprintf(form, size, "--%s%s%s", o->name,
				o->argument && !options_is_optional(o) ? " " : before_argument(o),
				shown_argument(o));
	return snprintf(form, size, "-%c%s%s", o->letter,
			o->argument && !options_is_optional(o) ? " " : "",
			o->argument ? o->argument : "");
}

/* Print only the names of another tool's options: that tool's --help explains them. */
static void print_passed(const struct command *cmd, const struct command_option *const *passed,
			 int count)
{
	enum { COLUMNS = 80 };
	int column = COLUMNS;

	printf("\nand these options of %s, which its --help explains:", cmd->passed_to);
	for (int i = 0; i < count; i++) {
		char form[64];
		int size = form_of(passed[i], form, sizeof(form));
		if (!passed[i]->help)
			continue;
		if (column + 2 + size > COLUMNS) {
			fputs("\n ", stdout);
			column = 1;
		}
		column += printf(" %s%s", form, i + 1 < count ? "," : "");
	}
	putchar('\n');
}

void options_print_help(const struct command *cmd, const struct command_option *const *all,
			int own, int count)
{
	options_print_usage(cmd, stdout);
	printf("%s: %s\n", cmd->name, cmd->purpose);
	if (cmd->list_operands)
		cmd->list_operands(stdout);
	for (int i = 0; i < own; i++)
		if (!is_printed(all, i))
			print_group(all[i]->group, all, own);
	if (cmd->passed)
		print_passed(cmd, all + own, count - own);
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
	else if (o->kind == OPTION_SIZE)
		snprintf(text, size, "from %s to %s", least, limit);
	else
		snprintf(text, size, "from %" PRIu64 " to %" PRIu64, o->least, most(o));
}

void options_describe(const struct command_option *o, char *text, size_t size)
{
	char range[2 * UNITS_SIZE + 16], limit[UNITS_SIZE];
	size_t used = 0;

	*text = '\0';
	switch (o->kind) {
	case OPTION_COUNT:
	case OPTION_INTEGER:
		describe_range(o, range, sizeof(range));
		snprintf(text, size, "a number %s", range);
		break;
	case OPTION_SIZE:
		describe_range(o, range, sizeof(range));
		snprintf(text, size, "a number of bytes %s, such as 64Mi", range);
		break;
	case OPTION_TIME:
		units_format_duration(limit, most(o));
		snprintf(text, size, "a time such as 10s%s%s", o->most ? ", up to " : "",
			 o->most ? limit : "");
		break;
	case OPTION_SHARE:
		snprintf(text, size, "a share such as 0.5%% or 0.005");
		break;
	case OPTION_YES_NO:
		snprintf(text, size, "one of yes, no");
		break;
	case OPTION_PARSED:
		snprintf(text, size, "%s", o->takes);
		break;
	default:
		for (size_t k = 0; o->choices && o->choices[k] && used < size; k++)
			used += (size_t)snprintf(text + used, size - used, "%s%s", k ? ", "
						 : o->kind == OPTION_SOME ? "some of " : "one of ",
						 o->choices[k]);
	}
}
