/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jitdump format: a header, then records of "u32 id, total_size; u64
 * timestamp" and a body.  A function's lines come right before it.
 */
#include "symbol/jitmap-internal.h"
#include "base/arena.h"
#include "base/cursor.h"

enum {
	CODE_LOAD = 0,
	CODE_MOVE = 1,
	DEBUG_INFO = 2,
	RECORD_HEADER = 16,	/* bytes */
};

#define MAGIC		0x4A695444u	/* "JiTD" */
#define MAGIC_SWAPPED	0x4454694Au

/* u32 magic, version, total_size, elf_mach, pad, pid; u64 timestamp, flags.  0: bad. */
static size_t add_header(struct jitmap *j, const uint8_t *bytes, size_t size)
{
	struct cursor c = { .at = bytes, .end = bytes + size };
	uint32_t magic = cursor_u32(&c);

	j->swap = c.swap = magic == MAGIC_SWAPPED;
	cursor_u32(&c);		/* version */
	uint32_t total = cursor_u32(&c);
	if (c.failed || (magic != MAGIC && magic != MAGIC_SWAPPED) || total < 40 || total > size)
		return 0;
	j->header_read = true;
	return total;
}

/* The first function told under INDEX, or NULL. */
static struct jit_function *find_index(struct jitmap *j, uint64_t index)
{
	struct table_probe probe = table_probe(&j->by_index, hash_u64(index));
	uint32_t id;

	while ((id = table_next(&j->by_index, &probe)) != TABLE_NONE)
		if (j->function[id].index == index)
			return &j->function[id];
	return NULL;
}

/* Some writers give every function the same index: the table holds each but once. */
static void number(struct jitmap *j, uint32_t id, uint64_t index)
{
	struct jit_function *first = find_index(j, index);

	j->function[id].index = index;
	if (first)
		first->latest = id;
	else
		table_add(&j->by_index, hash_u64(index), j->function[id].latest = id);
}

/* u32 pid, tid; u64 vma, code_addr, code_size, code_index; char name[]; the code */
static void add_load(struct jitmap *j, struct cursor c)
{
	cursor_u32(&c);
	cursor_u32(&c);
	cursor_u64(&c);
	uint64_t start = cursor_u64(&c), size = cursor_u64(&c), index = cursor_u64(&c);
	const char *name = cursor_string(&c);

	struct jit_function *f = c.failed ? NULL : jitmap_add(j, start, size, name, strlen(name));
	if (f) {
		if (j->pending_start == start) {
			f->first_line = j->pending;
			f->lines = j->pendings;
		}
		number(j, j->functions - 1, index);
	}
	j->pendings = 0;
}

/* u32 pid, tid; u64 vma, old_code_addr, new_code_addr, code_size, code_index */
static void add_move(struct jitmap *j, struct cursor c)
{
	cursor_u32(&c);
	cursor_u32(&c);
	cursor_u64(&c);
	cursor_u64(&c);
	uint64_t start = cursor_u64(&c), size = cursor_u64(&c), index = cursor_u64(&c);
	const struct jit_function *first = c.failed ? NULL : find_index(j, index);

	if (!first)
		return;
	struct jit_function old = j->function[first->latest];
	const char *name = j->strings.text[old.name];
	struct jit_function *f = jitmap_add(j, start, size, name, strlen(name));
	if (f) {
		f->first_line = old.first_line;
		f->lines = old.lines;
		f->moved = old.moved + start - old.start;
	}
}

/* Is it UTF-8, without control characters?  Some writers (V8 of Node 20) write freed memory. */
static bool is_text(const char *text)
{
	for (const uint8_t *at = (const uint8_t *)text; *at; at++) {
		int more = *at < 0x80 ? 0 : *at >= 0xf0 && *at < 0xf8 ? 3 : *at >= 0xe0 ? 2 : 1;
		if (*at < 0x20 || *at == 0x7f || (*at >= 0x80 && *at < 0xc2) || *at >= 0xf8)
			return false;
		for (; more; more--)
			if ((*++at & 0xc0) != 0x80)
				return false;
	}
	return *text;
}

/* u64 code_addr, entries; of each: u64 address; u32 line, discriminator; char file[] */
static void add_lines(struct jitmap *j, struct cursor c)
{
	static const char same[] = "\xff";	/* the file of the entry before */
	uint32_t file = 0;

	j->pending = j->lines;
	j->pendings = 0;
	j->pending_start = cursor_u64(&c);
	uint64_t count = cursor_u64(&c);
	for (uint64_t i = 0; i < count && j->lines < JIT_LINES_MAX; i++) {
		struct jit_line line = { .address = cursor_u64(&c) };
		line.line = cursor_u32(&c);
		cursor_u32(&c);
		const char *name = cursor_string(&c);
		bool is_same = !strcmp(name, same);
		if (c.failed || !(is_same || is_text(name)))
			break;
		if (!is_same)
			file = intern_bytes(&j->strings, name, strnlen(name, JIT_NAME_MAX));
		line.file = file;
		j->line = array_grow(j->line, j->lines, sizeof(line));
		j->line[j->lines++] = line;
		j->pendings++;
	}
}

size_t jitmap_add_dump(struct jitmap *j, const void *bytes, size_t size)
{
	size_t used = 0;

	if (!j->header_read && (used = add_header(j, bytes, size)) == 0)
		return 0;
	while (size - used >= RECORD_HEADER) {
		const uint8_t *at = (const uint8_t *)bytes + used;
		struct cursor c = { .at = at, .end = at + RECORD_HEADER, .swap = j->swap };
		uint32_t type = cursor_u32(&c), total = cursor_u32(&c);
		if (total < RECORD_HEADER || total > size - used)
			break;
		c.at = at + RECORD_HEADER;
		c.end = at + total;
		if (type == CODE_LOAD)
			add_load(j, c);
		else if (type == CODE_MOVE)
			add_move(j, c);
		else if (type == DEBUG_INFO)
			add_lines(j, c);
		used += total;
	}
	return used;
}
