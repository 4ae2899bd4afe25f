/* SPDX-License-Identifier: Apache-2.0 */
/* The events that metrics need: which of them are counted, and in which groups. */
#include "counting/user-metrics.h"
#include "record/events.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP_TEXT = 8192 };	/* longer than all names in a line */

/*
 * Parse the name of E into ONE, which is empty.  False: reported, with the place in the file; what
 * is wrong with the name is the parser's message.
 */
static bool parse_one(const struct user_metrics *m, const struct metric_event *e,
		      struct event_list *one, struct report *report)
{
	const struct event_options how = { .counts = true };
	struct report asked = { .tool = report->tool, .quiet = true };
	bool spaces = strpbrk(e->name, "-/");

	if (strpbrk(e->name, "{}") == NULL && event_parse(one, &how, e->name, &asked))
		return true;
	report_error(report, "%s:%zu:%zu: %s%s", m->file, e->line, e->column,
		     *asked.kind[0].first ? asked.kind[0].first : "a group is not an event",
		     spaces ? "; - and / are operators only after a space" : "");
	return false;
}

static size_t find(const struct event_list *list, const char *name)
{
	size_t i = 0;

	while (i < list->count && strcmp(list->event[i].name, name))
		i++;
	return i;
}

/* Return whether LIST has all events of ONE. */
static bool has_all(const struct event_list *list, const struct event_list *one)
{
	for (size_t i = 0; i < one->count; i++)
		if (find(list, one->event[i].name) == list->count)
			return false;
	return true;
}

/* Return whether the events of ONE may be in a group with others of the CPU. */
static bool may_group(const struct event_list *one)
{
	for (size_t i = 0; i < one->count; i++)
		if (one->event[i].per_cpu || !event_needs_counter(&one->event[i].attr))
			return false;
	return true;
}

/* Put NAME into the group TEXT, slots first, as the kernel demands. */
static void add_to_group(char text[GROUP_TEXT], const char *name)
{
	size_t used = strlen(text), size = strlen(name);
	const char *end = strstr(name, "slots");
	bool first = end && (end == name || end[-1] == '/') && !strstr(name, "topdown");

	if (used + size + 2 >= GROUP_TEXT)
		return;
	if (used == 0) {
		memcpy(text, name, size + 1);
	} else if (first) {
		memmove(text + size + 1, text, used + 1);
		memcpy(text, name, size);
		text[size] = ',';
	} else {
		text[used] = ',';
		memcpy(text + used + 1, name, size + 1);
	}
}

/* Add the group TEXT to LIST.  It is dissolved if the CPU has too few counters. */
static bool add_group(struct event_list *list, char text[GROUP_TEXT], struct report *report)
{
	const struct event_options how = { .counts = true };
	size_t first = list->count, length = strlen(text);

	if (length == 0)
		return true;
	if (strchr(text, ',') && length + 3 < GROUP_TEXT) {
		memmove(text + 1, text, length);
		text[0] = '{';
		memcpy(text + length + 1, "}", 2);
	}
	if (!event_parse(list, &how, text, report))
		return false;
	for (size_t i = first; i < list->count; i++)
		list->event[i].weak = list->event[i].group != 0;
	return true;
}

/* Add the events to LIST that metric K uses, that no metric before it uses, and that LIST lacks. */
static bool add_events_of(const struct user_metrics *m, size_t k, struct event_list *list,
			  struct report *report)
{
	const struct event_options how = { .counts = true };
	char text[GROUP_TEXT] = "";
	bool good = true;

	for (size_t i = 0; i < m->events && good; i++) {
		const struct metric_event *e = &m->event[i];
		struct event_list one = { 0 };
		if (e->metric != k)
			continue;
		good = parse_one(m, e, &one, report);
		if (good && !has_all(list, &one) && may_group(&one))
			add_to_group(text, e->name);
		else if (good && !has_all(list, &one))
			good = event_parse(list, &how, e->name, report);
		event_list_release(&one);
	}
	return good && add_group(list, text, report);
}

/* Set which events of LIST are E's. */
static bool set_counted(const struct user_metrics *m, struct metric_event *e,
			const struct event_list *list, struct report *report)
{
	struct event_list one = { 0 };
	bool good = parse_one(m, e, &one, report);

	for (size_t i = 0; i < one.count; i++) {
		e->counted = array_grow(e->counted, e->count, sizeof(*e->counted));
		e->counted[e->count++] = find(list, one.event[i].name);
	}
	event_list_release(&one);
	return good;
}

bool metrics_choose(struct user_metrics *m, struct event_list *list, struct report *report)
{
	bool good = true;

	for (size_t k = 0; k < m->count && good; k++)
		good = add_events_of(m, k, list, report);
	for (size_t i = 0; i < m->events && good; i++)
		good = set_counted(m, &m->event[i], list, report);
	return good;
}
