/* SPDX-License-Identifier: Apache-2.0 */
#include "event/maker-json.h"
#include "base/heap.h"
#include "base/json-reader.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_NAME = 120, LONGEST_VALUE = 160, MOST_EVENTS = 65536 };

static const char *const roles[JSON_ROLES] = { "", "core", "atom", "lowpower" };

const char *maker_json_role(unsigned int role)
{
	return roles[role < JSON_ROLES ? role : 0];
}

/* The members of an event that count. */
enum member {
	NAME, CODE, UMASK, UMASK_EXT, COUNTER_MASK, INVERT, EDGE, ANY_THREAD, MSR, MSR_VALUE,
	PRECISE, DEPRECATED, UNIT, STANDARD, CONFIG, MEMBERS
};
static const struct {
	const char *key;
	enum member member;
} keys[] = {
	{ "EventName", NAME }, { "name", NAME }, { "EventCode", CODE }, { "code", CODE },
	{ "UMask", UMASK }, { "UMaskExt", UMASK_EXT }, { "CounterMask", COUNTER_MASK },
	{ "Invert", INVERT }, { "EdgeDetect", EDGE }, { "AnyThread", ANY_THREAD },
	{ "MSRIndex", MSR }, { "MSRValue", MSR_VALUE }, { "PEBS", PRECISE },
	{ "Precise", PRECISE }, { "Deprecated", DEPRECATED }, { "Unit", UNIT },
	{ "ArchStdEvent", STANDARD }, { "ConfigCode", CONFIG },
};

struct json_event {
	char value[MEMBERS][LONGEST_VALUE];
	bool failed;		/* a value is not a number that fits */
};

/*
 * Return part number PART of the value of MEMBER, such as "0xB7,0xBB"; if there is only one part,
 * return that.
 */
static uint64_t number(struct json_event *e, enum member member, unsigned int part, uint64_t most)
{
	const char *text = e->value[member];
	uint64_t value = 0;

	for (; part > 0 && strchr(text, ','); part--)
		text = strchr(text, ',') + 1;
	text += strspn(text, " ");
	size_t size = strcspn(text, ", ");
	if (size == 0 || !strcmp(text, "null"))
		return 0;
	/* Intel's decimal numbers may start with 0, and hexadecimal ones with 0X */
	bool hex = size > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
	char digits[32];
	if (size >= sizeof(digits)) {
		e->failed = true;
		return 0;
	}
	memcpy(digits, text, size);
	digits[size] = '\0';
	if (hex)
		digits[1] = 'x';
	else
		while (digits[0] == '0' && digits[1])
			memmove(digits, digits + 1, strlen(digits));
	if (!slice_number((struct slice){ digits, strlen(digits) }, &value) || value > most)
		e->failed = true;
	return e->failed ? 0 : value;
}

/* Return the extra register of an MSR. */
static enum table_register register_of(uint64_t msr)
{
	switch (msr) {
	case 0x3f6: return TABLE_LDLAT;
	case 0x1a6: case 0x1a7: return TABLE_OFFCORE_RSP;
	case 0x3f7: return TABLE_FRONTEND;
	case 0x3e0: return TABLE_OMR;
	default: return TABLE_NO_REGISTER;
	}
}

/* Encode E for x86's PMUs.  AMD's codes have 12 bits. */
static void encode_x86(struct json_event *e, struct table_event *event)
{
	/* 0x1a7 alone is the second of two registers for off-core responses */
	uint64_t msr = number(e, MSR, 0, 0xffff);
	unsigned int part = msr == 0x1a7 && !strchr(e->value[MSR], ',');
	uint64_t code = number(e, CODE, part, 0xfff);

	event->config = (code & 0xff) | (code >> 8) << 32 | number(e, UMASK, part, 0xff) << 8 |
			number(e, EDGE, 0, 1) << 18 | number(e, ANY_THREAD, 0, 1) << 21 |
			number(e, INVERT, 0, 1) << 23 | number(e, COUNTER_MASK, 0, 0xff) << 24 |
			number(e, UMASK_EXT, 0, 0xff) << 40;
	if (*e->value[CONFIG])
		event->config = number(e, CONFIG, 0, UINT64_MAX);
	if (msr == 0)
		return;
	event->extra = register_of(msr);
	event->config1 = number(e, MSR_VALUE, 0, UINT64_MAX);
	if (!event->extra)
		e->failed = true;
}

/* Find the code of Arm's architectural event NAME. */
static bool find_standard(const char *name, struct table_event *event)
{
	static const char *const architectures[] = { "armv9", "armv8" };
	struct table_model model;

	for (size_t i = 0; i < 2; i++)
		for (int at = 0; tables_next(&at, &model);)
			if (!strcmp(model.name, architectures[i]) &&
			    tables_find(model.number, (struct slice){ name, strlen(name) }, event))
				return true;
	return false;
}

/* Return the role of the PMU called UNIT, or -1: it is not a core's. */
static int role_of(const char *unit)
{
	if (!*unit || !strcasecmp(unit, "cpu") || !strcasecmp(unit, "core"))
		return JSON_ANY_CORE;
	for (int role = JSON_CORE; role < JSON_ROLES; role++)
		if (!strncasecmp(unit, "cpu_", 4) && !strcasecmp(unit + 4, roles[role]))
			return role;
	return -1;
}

static bool is_name(const char *name)
{
	size_t size = strlen(name);

	for (size_t i = 0; i < size; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_.:=-", name[i]))
			return false;
	return size > 0 && size <= LONGEST_NAME;
}

/* Add the event E. */
static void add_event(struct maker_json *json, struct json_event *e)
{
	const char *name = *e->value[NAME] ? e->value[NAME] : e->value[STANDARD];
	struct table_event event = { .config = 0 };
	int role = role_of(e->value[UNIT]);

	if (!*name)
		return;		/* a metric, or a description of a file */
	if (role < 0) {
		json->elsewhere++;
		return;
	}
	if (*e->value[STANDARD] && !*e->value[CODE] && !*e->value[CONFIG])
		e->failed = !find_standard(e->value[STANDARD], &event);
	else if (json->arm)
		event.config = number(e, *e->value[CONFIG] ? CONFIG : CODE, 0, 0xffff);
	else
		encode_x86(e, &event);
	event.precise = number(e, PRECISE, 0, 9) > 0;
	event.only_precise = number(e, PRECISE, 0, 9) > 1;
	event.deprecated = number(e, DEPRECATED, 0, 1);
	if (e->failed || !is_name(name) || json->count == MOST_EVENTS) {
		json->unclear++;
		return;
	}
	event.name = arena_text(&json->arena, name, LONGEST_NAME);
	json->event = array_grow(json->event, json->count, sizeof(event));
	json->role = array_grow(json->role, json->count, sizeof(*json->role));
	json->event[json->count] = event;
	json->role[json->count++] = (unsigned char)role;
}

/* Read an object that describes an event. */
static void read_event(struct maker_json *json, struct json_reader *r)
{
	struct json_event *e = mem_zeroed(1, sizeof(*e));
	char key[32];

	for (bool more = json_enter(r, '{'); more && json_next(r, '}');) {
		size_t i = 0, count = sizeof(keys) / sizeof(keys[0]);
		if (!json_read_key(r, key, sizeof(key)))
			break;
		while (i < count && strcmp(keys[i].key, key))
			i++;
		if (i == count) {
			json_skip(r);
			continue;
		}
		char *value = e->value[keys[i].member];
		if (json_read_text(r, value, LONGEST_VALUE) && strlen(value) + 1 == LONGEST_VALUE)
			e->failed = true;	/* it was cut */
		json->arm |= keys[i].member == STANDARD || islower((unsigned char)*key);
	}
	if (!r->why)
		add_event(json, e);
	free(e);
}

/* Read an array of events. */
static bool read_events(struct maker_json *json, struct json_reader *r)
{
	if (!json_enter(r, '['))
		return false;
	while (json_next(r, ']'))
		if (json_peek(r) == '{')
			read_event(json, r);
		else
			json_skip(r);
	return !r->why;
}

bool maker_json_read(struct maker_json *json, const char *file, const char *text, size_t size,
		     struct report *report)
{
	struct json_reader r = { .at = text, .end = text + size };
	bool found = false;
	char key[32];

	if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		r.at += 3;	/* a byte order mark */
	if (json_peek(&r) == '[') {
		found = read_events(json, &r);
	} else if (json_enter(&r, '{')) {
		while (json_next(&r, '}') && json_read_key(&r, key, sizeof(key)))
			if (!strcasecmp(key, "events") && json_peek(&r) == '[')
				found |= read_events(json, &r);
			else
				json_skip(&r);
	}
	if (!json_ended(&r))
		report_damage(report, (struct report_place){ file, (uint64_t)(r.at - text) },
			      "not JSON: %s", r.why ? r.why : "no array or object");
	else if (!found)
		report_error(report, "'%s' has no events of a maker or of perf", file);
	else
		return true;
	return false;
}

/* An event with its role, to sort both. */
struct with_role {
	struct table_event event;
	unsigned char role;
};

static int by_role_and_name(const void *a, const void *b)
{
	const struct with_role *first = a, *second = b;
	const char *name = first->event.name;

	if (first->role != second->role)
		return first->role < second->role ? -1 : 1;
	return tables_compare((struct slice){ name, strlen(name) }, second->event.name);
}

/*
 * If the counter of E, one of the COUNT sorted events ALL, is fixed, encode E as the kernel knows
 * it.
 */
static void encode_fixed(struct with_role *e, const struct with_role *all, size_t count)
{
	static const struct {
		const char *name;
		uint64_t config;
	} known[] = {
		{ "INST_RETIRED.ANY", 0xc0 }, { "CPU_CLK_UNHALTED.THREAD", 0x3c },
		{ "CPU_CLK_UNHALTED.CORE", 0x3c }, { "CPU_CLK_UNHALTED.THREAD_ANY", 0x20003c },
		{ "CPU_CLK_UNHALTED.REF", 0x300 }, { "CPU_CLK_UNHALTED.REF_TSC", 0x300 },
	};
	char name[LONGEST_NAME + 8];
	struct with_role twin = { .event = { .name = name }, .role = e->role };

	for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
		if (!strcasecmp(e->event.name, known[k].name)) {
			e->event.config = known[k].config;
			return;
		}
	/* events of fixed counters from the fourth on have twins: lib/event/tables/README.md */
	snprintf(name, sizeof(name), "%s_P", e->event.name);
	const struct with_role *found = e->event.config >> 8 <= 4 ? NULL
		: bsearch(&twin, all, count, sizeof(twin), by_role_and_name);
	if (found)
		e->event.config = found->event.config;
}

void maker_json_finish(struct maker_json *json)
{
	struct with_role *all = mem_zeroed(json->count + 1, sizeof(*all));
	size_t kept = 0, count = json->count;

	for (size_t i = 0; i < count; i++)
		all[i] = (struct with_role){ json->event[i], json->role[i] };
	qsort(all, count, sizeof(*all), by_role_and_name);
	for (size_t i = 0; i < count; i++) {
		if (!json->arm && (all[i].event.config & 0xf000000ffULL) == 0)
			encode_fixed(&all[i], all, count);
		if (!json->arm && all[i].event.config == 0) {
			json->unclear++;
			continue;
		}
		struct slice name = { all[i].event.name, strlen(all[i].event.name) };
		bool is_repeated = kept > 0 && all[i].role == json->role[kept - 1] &&
			     !tables_compare(name, json->event[kept - 1].name);
		if (is_repeated && all[i].event.config != json->event[kept - 1].config)
			json->unclear++;
		if (is_repeated)
			continue;
		json->event[kept] = all[i].event;
		json->role[kept++] = all[i].role;
	}
	json->count = kept;
	free(all);
}

void maker_json_release(struct maker_json *json)
{
	free(json->event);
	free(json->role);
	arena_release(&json->arena);
	*json = (struct maker_json){ 0 };
}
