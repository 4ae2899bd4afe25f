/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maker-json - reads the JSON in which makers publish their events, or perf keeps them.
 *
 *	{ "Header": {...}, "Events": [ { "EventName": "X", "EventCode": "0xd1", ... } ] }  Intel
 *	[ { "EventName": "X", "EventCode": "0xd1", ... }, { "ArchStdEvent": "Y" } ]        perf
 *	{ "cpu": "...", "events": [ { "name": "X", "code": 17, ... } ] }                   Arm
 */
#pragma once
#include "base/arena.h"
#include "base/report.h"
#include "event/tables.h"

/* A kind of core that a file has events for. */
enum { JSON_ANY_CORE, JSON_CORE, JSON_ATOM, JSON_LOWPOWER, JSON_ROLES };

struct maker_json {
	struct table_event *event;
	unsigned char *role;	/* of each event: JSON_ANY_CORE to JSON_LOWPOWER */
	size_t count;
	size_t elsewhere;	/* events left out: they are of a PMU that is not a core's */
	size_t unclear;		/* events left out: their code is missing or out of range */
	bool arm;		/* the codes are Arm's */
	struct arena arena;
};

/* Return the name of a role, as in tables_is_for(). */
const char *maker_json_role(unsigned int role);

/*
 * Add the events in TEXT, SIZE bytes, to JSON; FILE is its name in messages.  False (reported): it
 * is not such JSON.
 */
bool maker_json_read(struct maker_json *json, const char *file, const char *text, size_t size,
		     struct report *report);

/* Complete the events once all files are read: fixed counters, order, names that occur twice. */
void maker_json_finish(struct maker_json *json);

void maker_json_release(struct maker_json *json);
