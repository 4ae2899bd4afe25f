/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/allow.h"
#include "base/json-reader.h"
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

/* Read the next member of an event into E. */
static void read_member(struct json_reader *r, struct event_facts *e)
{
	char name[32], value[sizeof(e->base)];

	if (!json_read_key(r, name, sizeof(name)) || !json_read_text(r, value, sizeof(value)))
		return;
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
}

/* Start to read JSON, a list of events. */
static struct json_reader read_events(const char *json)
{
	struct json_reader r = { .at = json, .end = json + strlen(json) };

	json_enter(&r, '[');
	return r;
}

/* Read the next event into E.  Return false at the end, and if it is not an event. */
static bool next_event(struct json_reader *r, struct event_facts *e)
{
	*e = (struct event_facts){ .type = -1 };
	if (!json_next(r, ']') || !json_enter(r, '{'))
		return false;
	while (json_next(r, '}'))
		read_member(r, e);
	return !r->why && e->type >= 0;
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
	struct json_reader r = read_events(json);
	struct event_facts e;
	size_t events = 0;

	for (; next_event(&r, &e); events++) {
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
	return events > 0 && json_ended(&r);
}

bool allow_has_tracepoint(const char *json)
{
	struct json_reader r = read_events(json);
	struct event_facts e;

	while (next_event(&r, &e))
		if (kind_of(&e) == TRACEPOINTS)
			return true;
	return false;
}
