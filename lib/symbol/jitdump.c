/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jitdump format: a header, then records. A record is "u32 id, total_size; u64 timestamp"
 * and a body. The record with a function's lines comes right before the function's record. The
 * code of a function, which follows its name, is not used: only the first bytes of such a record
 * are read, and the rest is skipped.
 */
#include "symbol/jitmap-internal.h"
#include "base/arena.h"
#include "base/cursor.h"

#include <stdlib.h>

enum {
	CODE_LOAD = 0,
	CODE_MOVE = 1,
	DEBUG_INFO = 2,
	HEADER = 40, HEADER_MAX = 4096,		/* bytes; today's header, and room for later ones */
	RECORD_HEADER = 16,
	LOAD_HEADER = RECORD_HEADER + 40,	/* bytes of CODE_LOAD before the name */
	MOVE_SIZE = RECORD_HEADER + 48,
	ARCH_TIMESTAMP = 1,	/* flag: times are values of a CPU counter */
};

#define MAGIC		0x4A695444u	/* "JiTD" */
#define MAGIC_SWAPPED	0x4454694Au

/*
 * u32 magic, version, total_size, elf_mach, pad, pid; u64 timestamp, flags.
 * Returns the size of the header. Returns 0 if it is bad or not there yet: some writers make a
 * file of its final size first, and fill it later.
 */
static size_t add_header(struct jitmap *j, const uint8_t *bytes, size_t size)
{
	struct cursor c = { .at = bytes, .end = bytes + size };
	uint32_t magic = cursor_u32(&c);

	j->swap = c.swap = magic == MAGIC_SWAPPED;
	cursor_u32(&c);		/* version */
	uint32_t total = cursor_u32(&c);
	cursor_bytes(&c, 3 * 4 + 8);	/* V8's timestamp here has another clock than its records */
	j->has_times = !(cursor_u64(&c) & ARCH_TIMESTAMP);
	if (c.failed || !magic)
		return 0;
	if ((magic != MAGIC && magic != MAGIC_SWAPPED) || total < HEADER || total > HEADER_MAX) {
		jit_file_ends(&j->dump, 0, "no jitdump header; not read");
		return 0;
	}
	if (total > size)
		return 0;
	j->header_read = true;
	return total;
}

/* Return the first function with INDEX, or NULL. */
static struct jit_function *find_index(struct jitmap *j, uint64_t index)
{
	uint32_t id = TABLE_FIND(&j->by_index, hash_u64(index), i,
				 j->function[i].index == index);

	return id == TABLE_NONE ? NULL : &j->function[id];
}

/*
 * Give function ID its INDEX. Some writers give all functions the same index, so the table holds
 * only the first function of each.
 */
static void number(struct jitmap *j, uint32_t id, uint64_t index)
{
	struct jit_function *first = find_index(j, index);

	j->function[id].index = index;
	if (first)
		first->latest = id;
	else
		table_add(&j->by_index, hash_u64(index), j->function[id].latest = id);
}

/*
 * Add a CODE_LOAD record: u32 pid, tid; u64 vma, code_addr, code_size, code_index; char name[];
 * the code. Returns false if the record is damaged.
 */
static bool add_load(struct jitmap *j, struct cursor c, uint64_t time)
{
	cursor_bytes(&c, 4 + 4 + 8);
	uint64_t start = cursor_u64(&c), size = cursor_u64(&c), index = cursor_u64(&c);
	size_t left = cursor_left(&c), length = strnlen((const char *)c.at, left);

	if (c.failed || (length == left && length < JIT_NAME_MAX))
		return false;
	struct jit_function *f = jitmap_add(j, start, size, time, (const char *)c.at, length);
	if (f) {
		if (j->pending_start == start) {
			f->first_line = j->pending;
			f->lines = j->pendings;
		}
		number(j, j->functions - 1, index);
	}
	j->pendings = 0;
	return true;
}

/*
 * Add a CODE_MOVE record: u32 pid, tid; u64 vma, old_code_addr, new_code_addr, code_size,
 * code_index. Returns false if the record is damaged.
 */
static bool add_move(struct jitmap *j, struct cursor c, uint64_t time)
{
	cursor_bytes(&c, 4 + 4 + 8 + 8);
	uint64_t start = cursor_u64(&c), size = cursor_u64(&c), index = cursor_u64(&c);
	const struct jit_function *first = c.failed ? NULL : find_index(j, index);

	if (!first)
		return !c.failed;
	struct jit_function old = j->function[first->latest];
	const char *name = j->strings.text[old.name];
	struct jit_function *f = jitmap_add(j, start, size, time, name, strlen(name));
	if (f) {
		f->first_line = old.first_line;
		f->lines = old.lines;
		f->moved = old.moved + start - old.start;
		number(j, j->functions - 1, index);
	}
	return true;
}

/*
 * Return whether TEXT is UTF-8, not empty and without control characters. Some writers (V8 of Node
 * 20) write freed memory.
 */
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

struct numbered {
	struct jit_line line;
	uint32_t number;
};

static int by_address(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	if (x->line.address != y->line.address)
		return x->line.address < y->line.address ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Sort lines by address. Lines of one address keep their order. */
static void sort_lines(struct jit_line *line, uint32_t count)
{
	bool is_sorted = true;

	for (uint32_t i = 1; i < count; i++)
		is_sorted = is_sorted && line[i - 1].address <= line[i].address;
	if (is_sorted)
		return;
	struct numbered *n = mem_resize(NULL, count * sizeof(*n));
	for (uint32_t i = 0; i < count; i++)
		n[i] = (struct numbered){ line[i], i };
	qsort(n, count, sizeof(*n), by_address);
	for (uint32_t i = 0; i < count; i++)
		line[i] = n[i].line;
	free(n);
}

/*
 * Add a DEBUG_INFO record: u64 code_addr, entries; per entry: u64 address; u32 line,
 * discriminator; char file[]. A damaged entry ends the list without a message, because V8's
 * lists are always damaged.
 */
static void add_lines(struct jitmap *j, struct cursor c)
{
	static const char same[] = "\xff";	/* stands for the file of the previous entry */
	uint32_t file = 0;

	j->pending = j->lines;
	j->pendings = 0;
	j->pending_start = cursor_u64(&c);
	uint64_t count = cursor_u64(&c);
	for (uint64_t i = 0; i < count && j->budget->lines < JIT_LINES_MAX; i++) {
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
		j->budget->lines++;
		j->pendings++;
	}
	if (j->pendings > 0)
		sort_lines(j->line + j->pending, j->pendings);
}

/* Return how many bytes of a record of TYPE are needed to parse it: the first bytes, or all. */
static size_t needed_of(uint32_t type, uint32_t total)
{
	size_t needed = RECORD_HEADER;

	if (type == CODE_LOAD)
		needed = LOAD_HEADER + JIT_NAME_MAX;
	else if (type == CODE_MOVE)
		needed = MOVE_SIZE;
	else if (type == DEBUG_INFO && total <= JIT_LINES_RECORD_MAX)
		needed = total;
	return needed < total ? needed : total;
}

/*
 * Parse the record at BYTES. Returns the number of bytes parsed; 0 if more bytes are needed or
 * the record is damaged. Sets the dump to skip the rest of the record's body.
 */
static size_t add_record(struct jitmap *j, const uint8_t *bytes, size_t size, size_t ahead)
{
	struct cursor c = { .at = bytes, .end = bytes + size, .swap = j->swap };
	uint32_t type = cursor_u32(&c), total = cursor_u32(&c);
	uint64_t time = cursor_u64(&c);
	bool good = true;

	j->dump.wants = 0;
	if (c.failed || (type == 0 && total == 0))	/* not written yet */
		return 0;
	if (total < RECORD_HEADER) {
		jit_file_ends(&j->dump, ahead,
			      "a record shorter than its header; not read further");
		return 0;
	}
	j->dump.wants = needed_of(type, total);
	if (size < j->dump.wants)
		return 0;
	if (size > total)
		c.end = bytes + total;
	time = j->has_times ? time : 0;
	if (type == CODE_LOAD)
		good = add_load(j, c, time);
	else if (type == CODE_MOVE)
		good = add_move(j, c, time);
	else if (type == DEBUG_INFO && total <= JIT_LINES_RECORD_MAX)
		add_lines(j, c);
	if (!good)
		jit_file_damaged(&j->dump, ahead, "a record whose fields do not fit it; skipped");
	size_t taken = (size_t)(c.end - bytes);
	j->dump.skip = total - taken;
	return taken;
}

size_t jitmap_add_dump(struct jitmap *j, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	size_t used = j->dump.skip < size ? (size_t)j->dump.skip : size, more;

	j->dump.skip -= used;
	if (!j->header_read && !j->dump.is_bad)
		used += add_header(j, at + used, size - used);
	while (j->header_read && !j->dump.is_bad &&
	       (more = add_record(j, at + used, size - used, used)))
		used += more;
	jitmap_end_if_full(j, &j->dump, used);
	return used;
}
