/* SPDX-License-Identifier: Apache-2.0 */
#include "show/catalog-print.h"
#include "base/json.h"
#include "base/slice.h"
#include "event/models.h"

#include <fnmatch.h>

enum { NAME_COLUMNS = 30, WHY = 300 };

/* Return whether GLOB matches one of the names in LIST, which are joined by ", ". */
static bool matches_any(const char *glob, const char *list)
{
	struct slice left = { list, strlen(list) };
	char name[64];

	while (left.size > 0) {
		struct slice other = slice_cut(&left, ",");
		if (left.size > 0) {
			left.at++;	/* the space after the comma */
			left.size--;
		}
		snprintf(name, sizeof(name), "%.*s", (int)other.size, other.at);
		if (!fnmatch(glob, name, FNM_CASEFOLD))
			return true;
	}
	return false;
}

/* Return whether the patterns select ENTRY. */
static bool is_selected(const struct catalog_style *style, const struct catalog_entry *entry)
{
	const char *short_name = strstr(entry->name, "::");

	for (size_t i = 0; i < style->globs; i++)
		if (!fnmatch(style->glob[i], entry->name, FNM_CASEFOLD) ||
		    !fnmatch(style->glob[i], entry->group, FNM_CASEFOLD) ||
		    (short_name && !fnmatch(style->glob[i], short_name + 2, FNM_CASEFOLD)) ||
		    matches_any(style->glob[i], entry->others))
			return true;
	return style->globs == 0;
}

/* Return whether an event can be opened. */
enum usable { UNTRIED, USABLE, UNUSABLE };

static enum usable try_entry(const struct catalog_entry *e, const struct catalog_style *style,
			     const struct event_options *options, char why[WHY])
{
	struct report silent = { .quiet = true };
	struct event_list list = { 0 };
	enum usable answer = UNTRIED;

	*why = '\0';
	if (!style->check || (strcmp(e->kind, "generic") && strcmp(e->kind, "pmu")))
		return UNTRIED;
	if (event_parse(&list, options, e->name, &silent) && list.count > 0)
		answer = event_check(&list.event[0], why, WHY) ? USABLE : UNUSABLE;
	event_list_release(&list);
	return answer;
}

/* Print TEXT in lines of at most WIDTH columns.  INDENT all lines except the first. */
static void print_wrapped(const char *text, int indent, int width)
{
	while ((int)strlen(text) > width) {
		int cut = width;
		while (cut > 0 && text[cut] != ' ')
			cut--;
		if (cut == 0)
			cut = width;
		printf("%.*s\n%*s", cut, text, indent, "");
		text += cut + (text[cut] == ' ');
	}
	printf("%s\n", text);
}

/* Print at most WIDTH columns of TEXT, and end the line. */
static void print_cut(const char *text, int width)
{
	if ((int)strlen(text) > width)
		printf("%.*s...\n", width - 3, text);
	else
		printf("%s\n", text);
}

static void print_attributes(const struct catalog_entry *e, int width)
{
	struct model_attribute a;

	for (int i = 0; e->index >= 0 && models_attribute(e->index, i, &a); i++) {
		char name[128];
		snprintf(name, sizeof(name), "%s%s", a.name, a.number ? "=N" : "");
		printf("      :%s%s\n", name, a.is_default ? " (default)" : "");
		if (*a.text) {
			printf("%*s", 10, "");
			print_wrapped(a.text, 10, width + NAME_COLUMNS - 8);
		}
	}
}

/* Print an event: its name and description on one line, or all details. */
static void print_entry(const struct catalog_entry *e, const struct catalog_style *style,
			bool unusable)
{
	int width = (int)style->columns - NAME_COLUMNS - 3;

	printf("%c %-*s", unusable ? '-' : ' ', *e->text ? NAME_COLUMNS : 0, e->name);
	if (!*e->text) {
		printf("\n");
	} else {
		if (strlen(e->name) > NAME_COLUMNS)
			printf("\n%*s", NAME_COLUMNS + 2, "");
		putchar(' ');
		if (style->details)
			print_wrapped(e->text, NAME_COLUMNS + 3, width);
		else
			print_cut(e->text, width);
	}
	if (!style->details)
		return;
	if (*e->others)
		printf("%*salso %s\n", NAME_COLUMNS + 3, "", e->others);
	print_attributes(e, width);
}

/* Return the number of entries, from index FIRST on, of the same group. */
static size_t group_size(const struct catalog *catalog, size_t first)
{
	const struct catalog_entry *e = &catalog->entry[first];
	size_t n = 0;

	while (first + n < catalog->count && !strcmp(e[n].group, e->group))
		n++;
	return n;
}

static void print_heading(const struct catalog_entry *e)
{
	if (!strcmp(e->kind, "generic"))
		printf("%s events, defined by the kernel\n", e->group);
	else if (!strcmp(e->kind, "tracepoint"))
		printf("%s tracepoints\n", e->group);
	else if (!strcmp(e->kind, "model")) {
		printf("%s, %s\n", e->group, *models_text(e->group) ? models_text(e->group)
		       : "a model that you added");
	} else
		printf("%s, a PMU of this machine\n", e->group);
}

/* Print why the following events cannot be opened. */
static void print_reason(const char *why, unsigned int columns)
{
	printf("- ");
	print_wrapped(why, 2, (int)columns - 3);
}

/* Print the selected entries of a group of COUNT entries.  Returns their number. */
static size_t print_group(const struct catalog_entry *e, size_t count,
			  const struct catalog_style *style, const struct event_options *options)
{
	size_t printed = 0;
	char why[WHY], last[WHY] = "";

	for (size_t i = 0; i < count; i++) {
		if (!is_selected(style, &e[i]))
			continue;
		if (printed++ == 0)
			print_heading(e);
		enum usable usable = try_entry(&e[i], style, options, why);
		if (usable == UNUSABLE && strcmp(why, last)) {
			print_reason(why, style->columns);
			memcpy(last, why, sizeof(last));
		}
		print_entry(&e[i], style, usable == UNUSABLE);
	}
	if (printed)
		printf("\n");
	return printed;
}

/* Print only the number of tracepoints per system: there are thousands. */
static size_t print_systems(const struct catalog *catalog, size_t from)
{
	size_t systems = 0;

	if (from < catalog->count)
		printf("tracepoints by system; to list one system: "
		       "pmu-events --list 'sched:*'\n");
	for (size_t n; from < catalog->count; from += n, systems++) {
		n = group_size(catalog, from);
		printf("  %s:*%*s %zu\n", catalog->entry[from].group,
		       (int)(NAME_COLUMNS - 2 > strlen(catalog->entry[from].group)
			     ? NAME_COLUMNS - 2 - strlen(catalog->entry[from].group) : 0), "", n);
	}
	return systems;
}

bool catalog_print(const struct catalog *catalog, const struct catalog_style *style,
		   const struct event_options *options)
{
	size_t printed = 0;

	for (size_t i = 0, n; i < catalog->count; i += n) {
		const struct catalog_entry *e = &catalog->entry[i];
		n = group_size(catalog, i);
		if (style->globs == 0 && !style->details && !strcmp(e->kind, "tracepoint"))
			return print_systems(catalog, i) + printed > 0;
		printed += print_group(e, n, style, options);
	}
	return printed > 0;
}

static void print_attributes_json(const struct catalog_entry *e, bool umasks)
{
	struct model_attribute a;
	bool first = true;

	json_key(umasks ? "umasks" : "modifiers", false);
	putchar('[');
	for (int i = 0; e->index >= 0 && models_attribute(e->index, i, &a); i++) {
		if (a.umask != umasks)
			continue;
		printf("%s{", first ? "" : ", ");
		json_key("name", true);
		json_string(a.name);
		json_text("text", a.text);
		json_key(umasks ? "default" : "number", false);
		printf("%s}", (umasks ? a.is_default : a.number) ? "true" : "false");
		first = false;
	}
	putchar(']');
}

static void print_entry_json(const struct catalog_entry *e, const struct catalog_style *style,
			     const struct event_options *options)
{
	char why[WHY];
	enum usable usable = try_entry(e, style, options, why);

	json_key("name", true);
	json_string(e->name);
	json_text("group", e->group);
	json_text("kind", e->kind);
	json_text("text", e->text);
	json_text("others", e->others);
	json_key("usable", false);
	fputs(usable == UNTRIED ? "null" : usable == USABLE ? "true" : "false", stdout);
	json_text("why", usable == UNUSABLE ? why : NULL);
	if (style->details) {
		print_attributes_json(e, true);
		print_attributes_json(e, false);
	}
}

bool catalog_print_json(const struct catalog *catalog, const struct catalog_style *style,
			const struct event_options *options)
{
	size_t printed = 0;

	printf("[");
	for (size_t i = 0; i < catalog->count; i++) {
		const struct catalog_entry *e = &catalog->entry[i];
		if (!is_selected(style, e) || !strcmp(e->kind, "terms"))
			continue;
		printf("%s\n  {", printed++ ? "," : "");
		print_entry_json(e, style, options);
		printf("}");
	}
	printf("\n]\n");
	return printed > 0;
}
