/* SPDX-License-Identifier: Apache-2.0 */
#include "show/completion.h"
#include "event/catalog.h"
#include "event/models.h"

#include <stdio.h>
#include <string.h>

/* Return the offset in TEXT of the last name: after the last ',' or '{' outside slashes. */
static size_t start_of_name(const char *text)
{
	bool terms = false;
	size_t start = 0;

	for (size_t i = 0; text[i]; i++) {
		if (text[i] == '/')
			terms = !terms;
		else if (!terms && strchr(",{", text[i]))
			start = i + 1;
	}
	return start;
}

/*
 * Print the completions of the last umask or modifier in NAME (MODEL::EVENT:...), after the
 * KEPT bytes BEFORE it in the list.
 */
static void complete_attribute(struct catalog *c, const char *name, const char *before, int kept)
{
	const char *last = strrchr(name, ':');
	struct model_attribute a;

	for (size_t i = 0; i < c->count; i++) {
		const struct catalog_entry *e = &c->entry[i];
		size_t size = strlen(e->name);
		if (strncmp(e->name, name, size) || name[size] != ':')
			continue;
		for (int j = 0; models_attribute(e->index, j, &a); j++)
			if (!strncmp(a.name, last + 1, strlen(last + 1)))
				printf("%.*s%.*s:%s%s\n", kept, before, (int)(last - name), name,
				       a.name, a.number ? "=" : "");
	}
}

void completion_print(const struct event_options *options, const char *text)
{
	int kept = (int)start_of_name(text);
	const char *name = text + kept, *colons = strstr(name, "::");
	struct catalog catalog = { 0 };
	struct catalog_options wanted = { .event = options, .pmu = options->model };
	char model[64];

	if (colons) {
		snprintf(model, sizeof(model), "%.*s", (int)(colons - name), name);
		wanted.pmu = model;
	}
	catalog_read(&catalog, &wanted);
	for (size_t i = 0; i < catalog.count; i++) {
		const struct catalog_entry *e = &catalog.entry[i];
		if (strcmp(e->kind, "terms") && !strncmp(e->name, name, strlen(name)))
			printf("%.*s%s\n", kept, text, e->name);
	}
	if (colons && strchr(colons + 2, ':'))
		complete_attribute(&catalog, name, text, kept);
	catalog_release(&catalog);
}
