/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/internal.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"
#include "base/version.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Show LINE, and keep it for the file of the user. */
static void show(struct facts *all, const char *line)
{
	if (!all->options->json) {
		fputs(line, stdout);
		fflush(stdout);
	}
	if (all->copy)
		output_write(all->copy, line, strlen(line));
}

static void show_head(struct facts *all)
{
	show(all, "pmukit ");
	show(all, version_text);
	show(all, ": what the counters of a machine can do (format 1)\n"
	     "This report has no names of hosts, users, files or processes.  "
	     "It was not sent anywhere.\n");
}

static void show_fact(struct facts *all, const struct survey_fact *before,
		      const struct survey_fact *f)
{
	char line[sizeof(f->name) + sizeof(f->text) + 64];

	if (!before || strcmp(before->section, f->section) != 0) {
		snprintf(line, sizeof(line), "\n%s\n", f->section);
		show(all, line);
	}
	snprintf(line, sizeof(line), "  %-26s %s\n", f->name, f->text);
	show(all, line);
}

__attribute__((format(printf, 4, 0)))
static struct survey_fact *add(struct facts *all, const char *section, const char *name,
			const char *format, va_list args)
{
	all->fact = array_grow(all->fact, all->count, sizeof(*all->fact));
	struct survey_fact *f = &all->fact[all->count++];

	*f = (struct survey_fact){ .section = section };
	snprintf(f->name, sizeof(f->name), "%s", name);
	vsnprintf(f->text, sizeof(f->text), format, args);
	text_make_safe(f->name);
	text_make_safe(f->text);
	if (all->count == 1)
		show_head(all);
	show_fact(all, all->count > 1 ? f - 1 : NULL, f);
	return f;
}

void facts_add(struct facts *all, const char *section, const char *name, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(all, section, name, format, args);
	va_end(args);
}

void facts_measure(struct facts *all, const char *section, const char *name, double number,
		   const char *unit, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	struct survey_fact *f = add(all, section, name, format, args);
	va_end(args);
	f->number = number;
	f->unit = unit;
}

void facts_print_json(const struct facts *all)
{
	printf("{");
	json_key("format", true);
	printf("1");
	json_text("version", version_text);
	json_key("facts", false);
	printf("[");
	for (size_t i = 0; i < all->count; i++) {
		const struct survey_fact *f = &all->fact[i];
		printf("%s\n  {", i ? "," : "");
		json_key("section", true);
		json_string(f->section);
		json_text("name", f->name);
		json_text("text", f->text);
		if (f->unit) {
			json_key("number", false);
			printf("%.6g", f->number);
			json_text("unit", f->unit);
		}
		printf("}");
	}
	printf("\n]}\n");
}
