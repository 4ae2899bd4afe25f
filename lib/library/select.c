/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select - which samples of a stream are read: conditions, each "NAME=VALUE", with commas between
 * them.  A comma that no NAME and "=" follow is a part of the value, as in the event
 * "cpu/event=0x3c,umask=1/".
 */
#include "base/units.h"
#include "library/stream.h"

#include <limits.h>
#include <string.h>

enum condition { IS_PID, IS_TID, IS_CPU, IS_COMM, IS_EVENT, IS_FROM, IS_TO, CONDITIONS };

static const char *const names[] = {
	[IS_PID] = "pid", [IS_TID] = "tid", [IS_CPU] = "cpu", [IS_COMM] = "comm",
	[IS_EVENT] = "event", [IS_FROM] = "from", [IS_TO] = "to",
};

/* Return which condition starts at TEXT, and set *VALUE to its value; or CONDITIONS. */
static enum condition condition_at(char *text, char **value)
{
	for (int i = 0; i < CONDITIONS; i++) {
		size_t size = strlen(names[i]);

		if (!strncmp(text, names[i], size) && text[size] == '=') {
			*value = text + size + 1;
			return (enum condition)i;
		}
	}
	return CONDITIONS;
}

/* End TEXT, a condition, before the next one, and return that, or NULL. */
static char *cut(char *text)
{
	char *unused;

	for (char *comma = strchr(text, ','); comma; comma = strchr(comma + 1, ','))
		if (condition_at(comma + 1, &unused) != CONDITIONS) {
			*comma = '\0';
			return comma + 1;
		}
	return NULL;
}

static bool parse_number(const char *text, int *number)
{
	uint64_t value;

	if (!units_parse_count(text, &value) || value > INT_MAX)
		return false;
	*number = (int)value;
	return true;
}

static bool set(struct selection *c, enum condition which, const char *value)
{
	switch (which) {
	case IS_PID:
		return parse_number(value, &c->pid);
	case IS_TID:
		return parse_number(value, &c->tid);
	case IS_CPU:
		return parse_number(value, &c->cpu);
	case IS_COMM:
		c->comm = value;
		return true;
	case IS_EVENT:
		c->event = value;
		return *value;
	case IS_FROM:
		return units_parse_duration(value, &c->from);
	case IS_TO:
		return units_parse_duration(value, &c->to) && c->to;
	default:
		return false;
	}
}

bool select_parse(struct selection *c, char *text, struct report *report)
{
	for (char *next; text; text = next) {
		char *value = text;

		next = cut(text);
		enum condition which = condition_at(text, &value);
		if (which == CONDITIONS)
			report_error(report, "pmukit_options.select has '%s', which is not a "
				     "condition: pid=, tid=, cpu=, comm=, event=, from= or to=",
				     text);
		else if (!set(c, which, value))
			report_error(report, "pmukit_options.select has '%s=%s', a wrong value",
				     names[which], value);
		else
			continue;
		return false;
	}
	return true;
}
