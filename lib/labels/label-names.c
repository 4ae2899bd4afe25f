/* SPDX-License-Identifier: Apache-2.0 */
#include "labels/label-names.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "linux/maps.h"
#include "linux/proc.h"
#include "record/label-payload.h"

#include <stdlib.h>

enum {
	PAYLOAD_MAX = 1 << 16,		/* bytes of a process context that are read */
	PROCESSES_MAX = 4096,		/* known processes; beyond that, all are forgotten */
	AGAIN_NS = 1000000,		/* from the first reading of a context to the second */
	AGAIN_MOST_NS = 100000000,	/* least time between two readings, after some */
};

/* Protocol Buffers: a field is a number * 8 + kind, then the value. */
enum { KIND_VARINT, KIND_64, KIND_BYTES, KIND_32 = 5 };

/*
 * Store the next field in *NUMBER and, if it has bytes, in *BYTES.  False: there are no more
 * fields.
 */
static bool next_field(struct cursor *c, uint64_t *number, struct cursor *bytes)
{
	uint64_t tag = cursor_left(c) ? cursor_uleb(c) : 0, size = 0;

	*number = tag >> 3;
	*bytes = (struct cursor){ .failed = true };
	switch (tag & 7) {
	case KIND_VARINT:
		cursor_uleb(c);
		break;
	case KIND_64:
		cursor_u64(c);
		break;
	case KIND_32:
		cursor_u32(c);
		break;
	case KIND_BYTES:
		size = cursor_uleb(c);
		const uint8_t *at = size <= cursor_left(c) ? cursor_bytes(c, size) : NULL;
		if (!at)
			return false;
		*bytes = (struct cursor){ .at = at, .end = at + size };
		break;
	default:
		return false;
	}
	return tag && !c->failed;
}

/* Return the bytes of the first field NUMBER of MESSAGE; failed if it has none. */
static struct cursor field(struct cursor message, uint64_t number)
{
	struct cursor bytes;
	uint64_t found;

	while (next_field(&message, &found, &bytes))
		if (found == number && !bytes.failed)
			return bytes;
	return (struct cursor){ .failed = true };
}

static bool is_text(struct cursor c, const char *text)
{
	return !c.failed && cursor_left(&c) == strlen(text) && !memcmp(c.at, text, strlen(text));
}

/* Take the names from LIST, an ArrayValue: its field 1 is a value, whose field 1 is a string. */
static void take_names(struct process_names *p, struct cursor list)
{
	struct cursor value;
	uint64_t number;

	while (p->names < LABEL_NAMES_MAX && next_field(&list, &number, &value)) {
		if (number != 1 || value.failed)
			continue;
		struct cursor text = field(value, 1);
		size_t size = text.failed ? 0 : cursor_left(&text);
		if (size > LABEL_KEY_BYTES)
			size = LABEL_KEY_BYTES;
		p->name[p->names] = mem_zeroed(1, size + 1);
		if (size)
			memcpy(p->name[p->names], text.at, size);
		p->names++;
	}
}

/*
 * ProcessContext: field 2 is an attribute next to the resource.  KeyValue: 1 is the key, 2 the
 * value.  AnyValue: 5 is an ArrayValue.
 */
static void parse(struct process_names *p, struct cursor message)
{
	struct cursor pair;
	uint64_t number;

	while (next_field(&message, &number, &pair))
		if (number == 2 && !pair.failed &&
		    is_text(field(pair, 1), "threadlocal.attribute_key_map")) {
			struct cursor value = field(pair, 2);
			take_names(p, value.failed ? value : field(value, 5));
			return;
		}
}

static void forget(struct process_names *p)
{
	for (uint32_t i = 0; i < p->names; i++)
		free(p->name[i]);
	p->names = 0;
}

/* Read the context of P, unless it is being changed. */
static void read_context(struct process_names *p)
{
	struct {
		char signature[8];
		uint32_t version, size;
		uint64_t published;	/* 0: the process is changing it */
		uint64_t payload;
	} head, after;

	p->read_at = monotonic_ns();
	if (!p->at || proc_read_memory(p->pid, p->at, &head, sizeof(head)) != sizeof(head) ||
	    memcmp(head.signature, "OTEL_CTX", 8) || head.version != 2 || !head.published ||
	    head.size > PAYLOAD_MAX)
		return;
	uint8_t *payload = mem_zeroed(1, head.size + 1);
	bool good = proc_read_memory(p->pid, head.payload, payload, head.size) == head.size &&
		    proc_read_memory(p->pid, p->at, &after, sizeof(after)) == sizeof(after) &&
		    !memcmp(&head, &after, sizeof(head));
	if (good) {
		forget(p);
		parse(p, (struct cursor){ .at = payload, .end = payload + head.size });
	}
	free(payload);
}

/* Return the address of the context that PID maps, or 0. */
static uint64_t find_context(pid_t pid)
{
	static const char *const name[] = {
		"/memfd:OTEL_CTX", "[anon_shmem:OTEL_CTX]", "[anon:OTEL_CTX]",
	};
	struct proc_maps maps = proc_maps_open(pid);
	struct proc_mapping m;
	uint64_t at = 0;

	while (!at && proc_maps_next(&maps, &m))
		for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
			if (!strncmp(m.path, name[i], strlen(name[i])))
				at = m.start;
	proc_maps_close(&maps);
	return at;
}

static struct process_names *find(const struct label_names *n, pid_t pid)
{
	uint32_t id = TABLE_FIND(&n->table, hash_u64((uint32_t)pid), i, n->process[i]->pid == pid);

	return id == TABLE_NONE ? NULL : n->process[id];
}

void label_names_read(struct label_names *n, pid_t pid)
{
	struct process_names *p = find(n, pid);

	if (!p) {
		if (n->processes == PROCESSES_MAX)
			label_names_release(n);
		n->process = array_grow(n->process, n->processes, sizeof(struct process_names *));
		p = n->process[n->processes] = mem_zeroed(1, sizeof(*p));
		p->pid = pid;
		table_add(&n->table, hash_u64((uint32_t)pid), (uint32_t)n->processes++);
	}
	forget(p);
	p->pause = AGAIN_NS;	/* a new program soon maps its context */
	p->at = find_context(pid);
	read_context(p);
}

const char *label_names_find(struct label_names *n, pid_t pid, uint8_t number)
{
	struct process_names *p = find(n, pid);

	if (!p)
		return NULL;
	if (number >= p->names && monotonic_ns() - p->read_at > p->pause) {
		p->pause = p->pause < AGAIN_MOST_NS / 2 ? 2 * p->pause : AGAIN_MOST_NS;
		if (!p->at)
			p->at = find_context(pid);
		read_context(p);
	}
	return number < p->names && *p->name[number] ? p->name[number] : NULL;
}

void label_names_release(struct label_names *n)
{
	for (size_t i = 0; i < n->processes; i++) {
		forget(n->process[i]);
		free(n->process[i]);
	}
	free(n->process);
	table_release(&n->table);
	*n = (struct label_names){ 0 };
}
