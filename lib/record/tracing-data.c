/* SPDX-License-Identifier: Apache-2.0 */
#include "record/tracing-data.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	LINE_MAX_ = 512,	/* bytes; a field's line is far shorter */
	FIELDS_MAX = 1 << 17,	/* fields that are kept; Linux 6.1 has 12,000 */
};

static uint64_t hash_of(uint64_t id, const char *name)
{
	return hash_more(hash_u64(id), hash_bytes(name, strlen(name)));
}

/* Return the number after NAME in a field's line: "...\toffset:8;\tsize:16;\tsigned:0;" */
static unsigned number_in(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	return at ? (unsigned)strtoul(at + strlen(name), NULL, 10) : 0;
}

/* "field:char prev_comm[16];" or "field:__data_loc char[] name;" */
static void add_field(struct tracepoints *t, uint64_t id, const char *line)
{
	const char *declared = strstr(line, "field:");
	const char *end = declared ? strchr(declared, ';') : NULL;
	struct tracepoint_field f = { .id = id };

	if (!end)
		return;
	const char *name_end = end, *bracket = memchr(declared, '[', (size_t)(end - declared));
	f.is_elsewhere = strstr(line, "__data_loc") != NULL;
	if (bracket && !f.is_elsewhere)
		name_end = bracket;
	const char *name = name_end;
	while (name > declared && name[-1] != ' ' && name[-1] != '*')
		name--;
	const char *chars = strstr(declared, "char");
	f.is_text = bracket && chars && chars < end;
	char copy[LINE_MAX_];
	snprintf(copy, sizeof(copy), "%.*s", (int)(name_end - name), name);
	if (t->fields == FIELDS_MAX || tracepoints_find(t, id, copy))
		return;		/* a long stream may describe its events again and again */
	f.name = arena_text(&t->arena, copy, strlen(copy));
	f.offset = (uint16_t)number_in(end, "offset:");
	f.size = (uint16_t)number_in(end, "size:");
	f.is_signed = number_in(end, "signed:");
	t->field = array_grow(t->field, t->fields, sizeof(*t->field));
	table_add(&t->table, hash_of(id, f.name), t->fields);
	t->field[t->fields++] = f;
}

/* One event's description: "ID: 316", then lines of fields. */
static void add_format(struct tracepoints *t, const char *text, size_t size)
{
	char line[LINE_MAX_];
	uint64_t id = 0;

	while (size > 0) {
		const char *newline = memchr(text, '\n', size);
		size_t length = newline ? (size_t)(newline - text) : size;
		snprintf(line, sizeof(line), "%.*s",
			 (int)(length < sizeof(line) ? length : sizeof(line) - 1), text);
		if (!strncmp(line, "ID: ", 4))
			id = strtoull(line + 4, NULL, 10);
		else if (strstr(line, "field:"))
			add_field(t, id, line);
		length += newline != NULL;
		text += length;
		size -= length;
	}
}

/* Skip a u64 size and that many bytes. */
static void skip_file(struct cursor *c)
{
	cursor_bytes(c, cursor_u64(c));
}

/* u32 systems, each: a name, u32 events, each: u64 size, description */
static void add_systems(struct tracepoints *t, struct cursor *c)
{
	uint32_t systems = cursor_u32(c);

	for (; systems > 0 && !c->failed; systems--) {
		cursor_string(c);
		uint32_t events = cursor_u32(c);
		for (; events > 0 && !c->failed; events--) {
			uint64_t size = cursor_u64(c);
			const char *text = cursor_bytes(c, size);
			if (text)
				add_format(t, text, size);
		}
	}
}

bool tracepoints_add(struct tracepoints *t, struct cursor c)
{
	static const uint8_t magic[] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	const uint8_t *begin = cursor_bytes(&c, sizeof(magic));

	if (!begin || memcmp(begin, magic, sizeof(magic)))
		return false;
	cursor_string(&c);		/* version */
	const uint8_t *order = cursor_bytes(&c, 2);	/* 1: big endian; size of a long */
	if (!order)
		return false;
	c.swap = t->swap = (order[0] != 0) != (__BYTE_ORDER == __BIG_ENDIAN);
	cursor_u32(&c);			/* page size */
	for (int i = 0; i < 2; i++) {
		cursor_string(&c);	/* "header_page", "header_event" */
		skip_file(&c);
	}
	uint32_t ftrace = cursor_u32(&c);
	for (; ftrace > 0 && !c.failed; ftrace--)
		skip_file(&c);
	add_systems(t, &c);
	return !c.failed;
}

const struct tracepoint_field *tracepoints_find(const struct tracepoints *t, uint64_t id,
						const char *name)
{
	uint32_t at = TABLE_FIND(&t->table, hash_of(id, name), i,
				 t->field[i].id == id && !strcmp(t->field[i].name, name));

	return at == TABLE_NONE ? NULL : &t->field[at];
}

bool tracepoint_number(const struct tracepoints *t, const struct tracepoint_field *f,
		       struct bytes raw, int64_t *value)
{
	struct cursor c = { .at = raw.at, .end = raw.at + raw.size, .swap = t->swap };

	cursor_bytes(&c, f->offset);
	switch (f->size) {
	case 1: {
		const uint8_t *byte = cursor_bytes(&c, 1);
		*value = !byte ? 0 : f->is_signed ? (int8_t)*byte : *byte;
		break;
	}
	case 2:
		*value = cursor_u16(&c);
		*value = f->is_signed ? (int16_t)*value : *value;
		break;
	case 4:
		*value = cursor_u32(&c);
		*value = f->is_signed ? (int32_t)*value : *value;
		break;
	case 8:
		*value = (int64_t)cursor_u64(&c);
		break;
	default:
		return false;
	}
	return !c.failed;
}

bool tracepoint_text(const struct tracepoints *t, const struct tracepoint_field *f,
		     struct bytes raw, char *text, size_t size)
{
	struct cursor c = { .at = raw.at, .end = raw.at + raw.size, .swap = t->swap };
	size_t offset = f->offset, length = f->size;

	if (f->is_elsewhere) {
		cursor_bytes(&c, offset);
		uint32_t place = cursor_u32(&c);
		if (c.failed)
			return false;
		offset = place & 0xffff;
		length = place >> 16;
		c.at = raw.at;
	}
	cursor_bytes(&c, offset);
	const char *at = cursor_bytes(&c, length);
	if (!at)
		return false;
	snprintf(text, size, "%.*s", (int)length, at);
	return true;
}

void tracepoints_release(struct tracepoints *t)
{
	free(t->field);
	table_release(&t->table);
	arena_release(&t->arena);
	*t = (struct tracepoints){ 0 };
}
