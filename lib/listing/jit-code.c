/* SPDX-License-Identifier: Apache-2.0 */
/* The format of a jitdump file: see lib/symbol/jitdump.c. */
#include "listing/jit-code.h"
#include "base/arena.h"
#include "base/cursor.h"
#include "base/descriptor.h"
#include "base/regular.h"
#include "base/table.h"
#include "base/text.h"
#include "elf/mapped.h"
#include "names/demangle.h"

#include <endian.h>
#include <stdlib.h>
#include <unistd.h>

enum { CODE_LOAD = 0, CODE_MOVE = 1, HEADER = 40, RECORD_HEADER = 16, CODES_MAX = 1 << 22 };

#define STEPS_MAX	(1ULL << 30)	/* some seconds */
#define MAGIC		0x4A695444u
#define MAGIC_SWAPPED	0x4454694Au

struct jit_body {
	uint64_t start, index;
	const char *name;	/* in the file */
	struct elf_bytes bytes;
};

struct jit_code {
	struct mapped file;
	uint16_t machine;
	bool swap;
	struct jit_body *code;	/* in the order of the file */
	uint32_t codes;
	struct table by_index;	/* the last code of each index */
	uint32_t *last;		/* by number in BY_INDEX: index in CODE */
	uint32_t indices;
	uint64_t steps;		/* pieces of code that all searches may still compare */
};

/* Remember that the last code is the latest with its index. */
static void number(struct jit_code *j, uint64_t index)
{
	uint64_t hash = hash_u64(index);
	uint32_t id = TABLE_FIND(&j->by_index, hash, i, j->code[j->last[i]].index == index);

	if (id == TABLE_NONE) {
		j->last = array_grow(j->last, j->indices, sizeof(*j->last));
		id = j->indices++;
		j->last[id] = j->codes - 1;
		table_add(&j->by_index, hash, id);
	}
	j->last[id] = j->codes - 1;
}

static void add(struct jit_code *j, struct jit_body code)
{
	if (j->codes == CODES_MAX)
		return;
	j->code = array_grow(j->code, j->codes, sizeof(*j->code));
	j->code[j->codes++] = code;
	number(j, code.index);
}

/* u32 pid, tid; u64 vma, code_addr, code_size, code_index; char name[]; the code */
static void add_load(struct jit_code *j, struct cursor c)
{
	struct jit_body code = { 0 };

	cursor_bytes(&c, 4 + 4 + 8);
	code.start = cursor_u64(&c);
	code.bytes.size = cursor_u64(&c);
	code.index = cursor_u64(&c);
	code.name = cursor_string(&c);
	code.bytes.at = cursor_bytes(&c, code.bytes.size);
	if (!c.failed)
		add(j, code);
}

/* u32 pid, tid; u64 vma, old_code_addr, new_code_addr, code_size, code_index */
static void add_move(struct jit_code *j, struct cursor c)
{
	cursor_bytes(&c, 4 + 4 + 8 + 8);
	uint64_t start = cursor_u64(&c);
	cursor_u64(&c);		/* the size of the code does not change */
	uint64_t index = cursor_u64(&c);
	uint32_t id = c.failed ? TABLE_NONE : TABLE_FIND(&j->by_index, hash_u64(index), i,
						j->code[j->last[i]].index == index);
	if (id == TABLE_NONE)
		return;
	struct jit_body code = j->code[j->last[id]];
	code.start = start;
	add(j, code);
}

static bool read_header(struct jit_code *j, struct cursor *c)
{
	uint32_t magic = cursor_u32(c);

	j->swap = c->swap = magic == MAGIC_SWAPPED;
	cursor_u32(c);		/* version */
	uint32_t size = cursor_u32(c);
	j->machine = (uint16_t)cursor_u32(c);
	cursor_bytes(c, HEADER - 4 * 4);
	if (size >= HEADER)
		cursor_bytes(c, size - HEADER);
	return !c->failed && (magic == MAGIC || j->swap) && size >= HEADER;
}

/* Read all records, up to the first that is damaged or that was not written completely. */
static void read_records(struct jit_code *j, struct cursor c)
{
	while (cursor_left(&c) >= RECORD_HEADER) {
		uint32_t kind = cursor_u32(&c), size = cursor_u32(&c);
		cursor_u64(&c);		/* time */
		if (size < RECORD_HEADER || size - RECORD_HEADER > cursor_left(&c))
			break;
		struct cursor body = c;
		body.end = c.at + (size - RECORD_HEADER);
		c.at = body.end;
		if (kind == CODE_LOAD)
			add_load(j, body);
		else if (kind == CODE_MOVE)
			add_move(j, body);
	}
}

struct jit_code *jit_code_open(const char *path, struct report *report)
{
	struct jit_code *j = mem_zeroed(1, sizeof(*j));

	j->steps = STEPS_MAX;
	int fd = regular_open(path, false);

	if (fd < 0 || !mapped_open(&j->file, fd)) {
		report_failure(report, "cannot read '%s'", path);
	} else {
		struct cursor c = { .at = j->file.at, .end = j->file.at + j->file.size };
		if (read_header(j, &c))
			read_records(j, c);
		else
			report_error(report, "'%s' is not a jitdump file", path);
	}
	descriptor_close(fd);
	if (j->codes > 0)
		return j;
	if (report->status == 0)
		report_error(report, "'%s' has no code", path);
	jit_code_close(j);
	return NULL;
}

static bool is_name(const char *in_file, const char *name)
{
	struct arena scratch = { 0 };
	const char *readable = demangle(&scratch, in_file, DEMANGLE_TEMPLATES);
	char *safe = mem_text(readable);

	text_make_safe(safe);
	bool is_same = !strcmp(safe, name) || !strcmp(in_file, name);
	free(safe);
	arena_release(&scratch);
	return is_same;
}

bool jit_code_find(struct jit_code *j, uint64_t address, const char *name,
		   struct jit_piece *out)
{
	*out = (struct jit_piece){ 0 };
	for (uint32_t i = j->codes; i-- > 0 && j->steps > 0; j->steps--) {
		const struct jit_body *c = &j->code[i];
		if (address - c->start >= c->bytes.size || !is_name(c->name, name))
			continue;
		if (out->same++ == 0) {
			out->start = c->start;
			out->bytes = c->bytes;
		}
	}
	return out->same > 0 && !j->file.is_cut;
}

uint16_t jit_code_machine(const struct jit_code *j, bool *is_big_endian)
{
	*is_big_endian = (__BYTE_ORDER == __BIG_ENDIAN) != j->swap;
	return j->machine;
}

void jit_code_close(struct jit_code *j)
{
	if (!j)
		return;
	mapped_close(&j->file);
	table_release(&j->by_index);
	free(j->last);
	free(j->code);
	free(j);
}
