/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/allow.h"
#include "record/words.h"
#include "serve/internal.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* RAW: events of this CPU model only.  UNCORE: events of a package or device, not of a process. */
enum event_kind { HARDWARE, CACHE, SOFTWARE, TRACEPOINTS, BREAKPOINTS, RAW, UNCORE, ALL, KINDS };

static const char *const names[KINDS] = {
	[HARDWARE] = "hardware", [CACHE] = "cache", [SOFTWARE] = "software",
	[TRACEPOINTS] = "tracepoints", [BREAKPOINTS] = "breakpoints", [RAW] = "raw",
	[UNCORE] = "uncore", [ALL] = "all",
};

/* An event, as pmu-events describes it. */
struct event_facts {
	char base[256];		/* the name of the event, whatever name= a request gives it */
	long type;		/* perf_event_attr.type */
	bool per_cpu;
	uint64_t frequency;	/* Hz; 0: the event has a period */
	uint64_t period;
	bool is_clock;		/* PERIOD is in ns */
};

const char *allow_check(const char *list)
{
	return *list && !strchr(list, ' ') && *list != ',' ? NULL : list;
}

static enum event_kind kind_of(const struct event_facts *e)
{
	switch (e->type) {
	case PERF_TYPE_HARDWARE:
		return HARDWARE;
	case PERF_TYPE_HW_CACHE:
		return CACHE;
	case PERF_TYPE_SOFTWARE:
		return SOFTWARE;
	case PERF_TYPE_TRACEPOINT:
		return TRACEPOINTS;
	case PERF_TYPE_BREAKPOINT:
		return BREAKPOINTS;
	default:
		return e->per_cpu ? UNCORE : RAW;
	}
}

/* Copy the JSON string that starts at AT, after its quote, to TEXT.  Return the text after it. */
static const char *take_string(const char *at, char *text, size_t size)
{
	size_t used = 0;

	for (; *at && *at != '"'; at++) {
		at += *at == '\\' && at[1];
		if (used < size - 1)
			text[used++] = *at;
	}
	text[used] = '\0';
	return *at ? at + 1 : at;
}

/* Parse NAME": VALUE at AT, after the opening quote, into E.  Return the text after it. */
static const char *take_member(const char *at, struct event_facts *e)
{
	char name[32], value[256] = "";

	at = take_string(at, name, sizeof(name));
	at += strspn(at, ": ");
	if (*at == '"')
		at = take_string(at + 1, value, sizeof(value));
	else
		snprintf(value, sizeof(value), "%.*s", (int)strcspn(at, ",} \n"), at);
	if (!strcmp(name, "base"))
		memcpy(e->base, value, sizeof(e->base));
	else if (!strcmp(name, "type"))
		e->type = strtol(value, NULL, 10);
	else if (!strcmp(name, "per_cpu"))
		e->per_cpu = strcmp(value, "false") != 0;
	else if (!strcmp(name, "sample_freq"))
		e->frequency = strtoull(value, NULL, 10);
	else if (!strcmp(name, "sample_period"))
		e->period = strtoull(value, NULL, 10);
	else if (!strcmp(name, "unit"))
		e->is_clock = !strcmp(value, UNIT_TIME);
	return at;
}

/* Parse the next JSON object at *AT into E, and move *AT after it.  Return false at the end. */
static bool next_event(const char **at, struct event_facts *e)
{
	*at = strchr(*at, '{');
	if (!*at)
		return false;
	*e = (struct event_facts){ .type = -1 };
	for (const char *c = *at + 1; *c; ) {
		if (*c == '}') {
			*at = c + 1;
			return e->type >= 0;
		}
		c = *c == '"' ? take_member(c + 1, e) : c + 1;
	}
	return false;
}

static bool is_in(const char *list, const struct event_facts *e)
{
	const char *kind = names[kind_of(e)];
	size_t size;

	for (; *list; list += size + (list[size] == ',')) {
		size = strcspn(list, ",");
		const char *const right[] = { names[ALL], kind, e->base };
		for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++)
			if (strlen(right[i]) == size && !memcmp(right[i], list, size))
				return true;
	}
	return false;
}

/* Return the samples per second of E, or 0 if they depend on the program. */
static uint64_t frequency_of(const struct event_facts *e)
{
	bool is_timer = e->type == PERF_TYPE_SOFTWARE && e->is_clock && e->period;

	return is_timer ? UINT64_C(1000000000) / e->period : e->frequency;
}

bool allow_all(const char *list, const char *json, char *why, size_t size)
{
	struct event_facts e;
	size_t events = 0;

	for (; next_event(&json, &e); events++) {
		if (frequency_of(&e) > QUERY_FREQUENCY) {
			snprintf(why, size, "event: at most %d samples per second, not %llu",
				 QUERY_FREQUENCY, (unsigned long long)frequency_of(&e));
			return false;
		}
		if (is_in(list, &e))
			continue;
		snprintf(why, size, "event: '%.100s' is one of %s, which this server does not "
			 "allow; it allows %.100s (pmu-serve --allow)", e.base, names[kind_of(&e)],
			 list);
		return false;
	}
	snprintf(why, size, "event: the name is empty");
	return events > 0;
}

bool allow_has_tracepoint(const char *json)
{
	struct event_facts e;

	while (next_event(&json, &e))
		if (kind_of(&e) == TRACEPOINTS)
			return true;
	return false;
}
