/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/choice.h"
#include "base/arena.h"
#include "base/intern.h"
#include "base/units.h"

#include <stdlib.h>

struct choice_names {
	struct name {
		pid_t tid;
		uint32_t comm;	/* in COMMS */
	} *name;
	size_t count;
	struct table table;	/* by tid */
	struct intern comms;	/* of any length: Android's are packages */
};

static struct name *find(const struct choice_names *names, pid_t tid)
{
	struct table_probe probe = table_probe(&names->table, hash_u64((uint32_t)tid));
	uint32_t i;

	while ((i = table_next(&names->table, &probe)) != TABLE_NONE)
		if (names->name[i].tid == tid)
			return &names->name[i];
	return NULL;
}

static void set_name(struct choice_names *names, pid_t tid, uint32_t comm)
{
	struct name *name = find(names, tid);

	if (!name) {
		names->name = array_grow(names->name, names->count, sizeof(*names->name));
		name = &names->name[names->count];
		name->tid = tid;
		table_add(&names->table, hash_u64((uint32_t)tid), (uint32_t)names->count++);
	}
	name->comm = comm;
}

static bool is_guest(const struct record *rec)
{
	uint16_t mode = rec->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
}

/* A new thread has the name of the one that creates it.  As in lib/process/space.c. */
static void follow_names(struct choice_names *names, const struct record *rec)
{
	struct comm_record comm;
	struct task_record task;

	if (is_guest(rec))
		return;
	if (rec->type == PERF_RECORD_COMM && record_comm(rec, &comm)) {
		set_name(names, comm.tid, intern_text(&names->comms, comm.name));
	} else if (rec->type == PERF_RECORD_FORK && record_task(rec, &task)) {
		const struct name *parent = find(names, task.parent_tid);
		if (parent && parent->comm)
			set_name(names, task.tid, parent->comm);
	}
}

bool choice_parse_time(struct choice *c, const char *text)
{
	const char *comma = strchr(text, ',');
	size_t length = comma ? (size_t)(comma - text) : 0;
	char from[32];

	if (!comma || length >= sizeof(from))
		return false;
	snprintf(from, sizeof(from), "%.*s", (int)length, text);
	return (!*from || units_parse_duration(from, &c->from)) &&
	       (!comma[1] || units_parse_duration(comma + 1, &c->to));
}

static bool is_called(const char *wanted, const char *name)
{
	return !wanted || (name && !strcmp(name, wanted));
}

bool choice_wants(const struct choice *c, const struct choice_facts *s)
{
	return (c->pid < 0 || s->pid == c->pid) && (c->tid < 0 || s->tid == c->tid) &&
	       (c->cpu < 0 || s->cpu == (uint32_t)c->cpu) && s->time >= c->from &&
	       (!c->to || s->time < c->to) && is_called(c->event, s->event) &&
	       is_called(c->comm, s->comm);
}

bool choice_takes(struct choice *c, struct stream_reader *in, const struct record *rec)
{
	struct sample s;

	if (c->comm && !c->names)
		c->names = mem_zeroed(1, sizeof(*c->names));
	if (c->comm)
		follow_names(c->names, rec);
	if (rec->type != PERF_RECORD_SAMPLE)
		return true;
	if (!stream_sample(in, rec, &s))
		return false;
	const struct name *name = c->comm ? find(c->names, s.tid) : NULL;
	return choice_wants(c, &(struct choice_facts){
		s.pid, s.tid, s.cpu, s.time, stream_events(in)->event[s.event].name,
		name ? c->names->comms.text[name->comm] : "" });
}

void choice_release(struct choice *c)
{
	if (c->names) {
		free(c->names->name);
		table_release(&c->names->table);
		intern_release(&c->names->comms);
		free(c->names);
	}
	c->names = NULL;
}
