/* SPDX-License-Identifier: Apache-2.0 */
#include "event/tables.h"
#include "base/bisect.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

const char *tables_register(enum table_register extra)
{
	static const char *const names[] = {
		[TABLE_LDLAT] = "ldlat", [TABLE_OFFCORE_RSP] = "offcore_rsp",
		[TABLE_FRONTEND] = "frontend", [TABLE_OMR] = "omr",
	};

	return extra > 0 && extra < sizeof(names) / sizeof(names[0]) ? names[extra] : "";
}

bool tables_next(int *at, struct table_model *model)
{
	if (*at < 0 || (unsigned int)*at >= tables_count)
		return false;
	const struct table_row *row = &tables_rows[*at];
	*model = (struct table_model){
		.number = (*at)++, .name = tables_text + row->name, .text = tables_text + row->text,
		.version = tables_text + row->version, .events = row->count,
		.arm = !strncmp(tables_text + row->name, "arm", 3) };
	return true;
}

/* Return C in the form in which names of models are compared. */
static int model_letter(char c)
{
	return c == '-' ? '_' : tolower((unsigned char)c);
}

static bool same_model(struct slice name, const char *other, size_t size)
{
	if (name.size != size)
		return false;
	for (size_t i = 0; i < size; i++)
		if (model_letter(name.at[i]) != model_letter(other[i]))
			return false;
	return true;
}

bool tables_is_called(int number, struct slice name)
{
	const struct table_row *row = &tables_rows[number];
	const char *also = tables_text + row->also, *own = tables_text + row->name;
	size_t size;

	if (same_model(name, own, strlen(own)))
		return true;
	for (; *also; also += size + (also[size] == ' ')) {
		size = strcspn(also, " ");
		if (same_model(name, also, size))
			return true;
	}
	return false;
}

bool tables_is_for(int number, const char *id, const char *role)
{
	const char *cpus = tables_text + tables_rows[number].cpus;
	char pattern[64];
	size_t size;

	for (; *cpus; cpus += size + (cpus[size] == ' ')) {
		size = strcspn(cpus, " ");
		size_t bare = strcspn(cpus, " /");
		const char *kind = cpus + bare + (cpus[bare] == '/');
		size_t length = size > bare ? size - bare - 1 : 0;
		if (strlen(role) != length || strncmp(role, kind, length))
			continue;
		if (!id)
			return true;
		snprintf(pattern, sizeof(pattern), "%.*s", (int)bare, cpus);
		if (!fnmatch(pattern, id, 0))
			return true;
		snprintf(pattern, sizeof(pattern), "%.*s-*", (int)bare, cpus);
		if (!fnmatch(pattern, id, 0))
			return true;	/* the pattern is for all steppings */
	}
	return false;
}

/* Return C in the form in which names of events are compared. */
static int event_letter(char c)
{
	return c == ':' ? '.' : toupper((unsigned char)c);
}

int tables_compare(struct slice name, const char *other)
{
	for (size_t i = 0; i < name.size; i++) {
		int a = event_letter(name.at[i]), b = event_letter(other[i]);
		if (a != b)
			return a < b ? -1 : 1;	/* OTHER's end, 0, is less than any letter */
	}
	return other[name.size] ? -1 : 0;
}

static const char *entry_name(const struct table_entry *entry)
{
	return tables_text + tables_names[entry->name];
}

static void fill(const struct table_entry *entry, struct table_event *event)
{
	const struct table_code *code = &tables_codes[entry->code];

	*event = (struct table_event){
		.name = entry_name(entry), .config = code->config, .config1 = code->config1,
		.extra = (enum table_register)(code->flags & 15), .precise = code->flags & 48,
		.only_precise = code->flags & 32, .deprecated = code->flags & 64 };
}

bool tables_find(int number, struct slice name, struct table_event *event)
{
	const struct table_row *row = &tables_rows[number];
	const struct table_entry *entry = &tables_entries[row->first];
	size_t i = BISECT(0, row->count, at, tables_compare(name, entry_name(&entry[at])) <= 0);

	if (i == row->count || tables_compare(name, entry_name(&entry[i])))
		return false;
	fill(&entry[i], event);
	return true;
}

bool tables_event(int number, size_t i, struct table_event *event)
{
	const struct table_row *row = &tables_rows[number];

	if (i >= row->count)
		return false;
	fill(&tables_entries[row->first + i], event);
	return true;
}
