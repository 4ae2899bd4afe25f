/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line tables: programs composed by hand after DWARF 5 §6.2, versions 2 to 5, whose
 * rows are known; cut at each byte, in exact copies.
 */
#include "dwarf/internal.h"
#include "elf/internal.h"
#include "tests/unit/line-table.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

/* What is known of the address: LINE 0: nothing. */
struct truth {
	uint64_t address;
	uint32_t line, column;
	const char *path;
};

/* A reader of a table without the units, sections and ELF file that are around real ones. */
struct opened {
	struct dwarf dwarf;
	struct dwarf_file file;
	struct unit unit;
	uint8_t *bytes;
	struct lines *lines;
};

/* The tables are in memory. */
static struct elf no_file;

static void open_table(struct opened *o, const struct table_bytes *b, size_t size)
{
	*o = (struct opened){ .bytes = memcpy(mem_resize(NULL, size), b->at, size) };
	o->file = (struct dwarf_file){ .dwarf = &o->dwarf, .elf = &no_file, .swap = b->swap,
				       .fuel.left = 1 << 20 };
	o->file.section[S_LINE] = (struct elf_bytes){ o->bytes, size };
	o->unit = (struct unit){ .file = &o->file, .version = (uint16_t)b->version,
				 .address_size = 8, .offset_size = b->is_64 ? 8 : 4,
				 .stmt_list = { .kind = V_OFFSET },
				 .comp_dir = { .number = (uintptr_t)"/build",
					      .kind = V_STRING } };
	o->lines = unit_lines(&o->unit);
}

static void close_table(struct opened *o)
{
	lines_release(&o->file);
	arena_release(&o->dwarf.arena);
	free(o->bytes);
}

static bool agrees(struct opened *o, const struct truth *t)
{
	struct extent same = { 0, UINT64_MAX };
	struct row row;

	if (!lines_find(o->lines, t->address, &row, &same))
		return t->line == 0;
	const char *path = lines_path(o->lines, row.file);
	bool same_path = path && t->path ? !strcmp(path, t->path) : path == t->path;
	return same_path && row.line == t->line && row.column == t->column &&
	       t->address >= same.start && t->address < same.end;
}

/* How many of the truths a table of SIZE bytes of B's gives otherwise. */
static size_t count_wrong(const struct table_bytes *b, size_t size, const struct truth *t,
			  size_t count, bool say)
{
	struct opened o;
	size_t wrong = 0;

	open_table(&o, b, size);
	for (size_t i = 0; i < count; i++)
		if (!agrees(&o, &t[i])) {
			wrong++;
			if (say)
				printf("# 0x%llx: not line %u\n", (unsigned long long)t[i].address,
				       t[i].line);
		}
	close_table(&o);
	return wrong;
}

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

/*
 * Every opcode, with min_length M:
 *	0x1000	main.c:10:3		0x1000 + 1M	main.c:12:3 by a special opcode
 *	   +3M	in.h:100:0		   +3M+17M	in.h:103:0  by const_add_pc
 *	  then 256 bytes by fixed_advance_pc: out.h:103:0, and 5M to the end
 * and a second sequence before it:
 *	0x500	main.c:1:0, 8M long
 */
static struct table_bytes compose(struct shape s)
{
	struct table_bytes b = begin(s);
	int file = s.version < 5 ? 1 : 0;	/* number of the first file */

	put_address(&b, 0x1000);
	put(&b, DW_LNS_advance_line, 1);
	put_sleb(&b, 9);
	put_op(&b, DW_LNS_set_column, 3);
	put_op(&b, DW_LNS_set_file, (uint64_t)file);
	put(&b, DW_LNS_negate_stmt, 1);
	put(&b, DW_LNS_copy, 1);
	put(&b, DW_LNS_set_basic_block, 1);
	put_special(&b, s, 1, 2);
	put_op(&b, DW_LNS_advance_pc, 2);
	put_op(&b, DW_LNS_set_column, 0);
	put_op(&b, DW_LNS_set_file, (uint64_t)file + 1);
	put(&b, DW_LNS_advance_line, 1);
	put(&b, 0xd8, 1);		/* 88 */
	put(&b, 0, 1);
	if (s.version >= 3) {
		put(&b, DW_LNS_set_prologue_end, 1);
		put(&b, DW_LNS_set_epilogue_begin, 1);
		put_op(&b, DW_LNS_set_isa, 300);
	}
	put(&b, 0, 1);			/* an extended opcode that nobody knows */
	put_leb(&b, 4);
	put(&b, 0x80, 1);
	put(&b, 0xffffff, 3);
	put(&b, DW_LNS_copy, 1);
	put(&b, DW_LNS_const_add_pc, 1);
	put_special(&b, s, 0, 3);
	put(&b, DW_LNS_fixed_advance_pc, 1);
	put(&b, 256, 2);
	put_op(&b, DW_LNS_set_file, (uint64_t)file + 2);
	put(&b, DW_LNS_copy, 1);
	put_op(&b, DW_LNS_advance_pc, 5);
	put_end(&b);

	put_address(&b, 0x500);
	put_op(&b, DW_LNS_set_file, (uint64_t)file);
	put(&b, DW_LNS_copy, 1);
	put_op(&b, DW_LNS_advance_pc, 8);
	put_end(&b);
	end(&b);
	return b;
}

/* What compose() says, of the version's file numbers. */
enum { TRUTHS = 14 };

static void tell(struct shape s, struct truth t[TRUTHS])
{
	const uint64_t m = s.min_length, last = 0x1000 + 20 * m + 256;
	const char *first = "/build/main.c", *second = "/build/inc/in.h", *third = "/abs/out.h";
	const struct truth all[TRUTHS] = {
		{ 0x1000, 10, 3, first }, { 0x1000 + m - 1, 10, 3, first },
		{ 0x1000 + m, 12, 3, first }, { 0x1000 + 3 * m - 1, 12, 3, first },
		{ 0x1000 + 3 * m, 100, 0, second }, { 0x1000 + 20 * m - 1, 100, 0, second },
		{ 0x1000 + 20 * m, 103, 0, second }, { last - 1, 103, 0, second },
		{ last, 103, 0, third }, { last + 5 * m - 1, 103, 0, third },
		{ last + 5 * m, 0, 0, NULL },
		{ 0x500, 1, 0, first }, { 0x500 + 8 * m - 1, 1, 0, first }, { 0x4ff, 0, 0, NULL },
	};

	memcpy(t, all, sizeof(all));
}

static struct shape shape_of(unsigned version, bool is_64, bool swap, uint8_t min_length)
{
	struct shape s = usual;

	s.version = version;
	s.is_64 = is_64;
	s.swap = swap;
	s.min_length = min_length;
	if (version == 2)
		s.opcode_base = 10;	/* those of version 3 are special ones here */
	return s;
}

static void test_versions(void)
{
	struct truth truth[TRUTHS];
	char text[100];

	for (unsigned version = 2; version <= 5; version++)
		for (unsigned kind = 0; kind < 4; kind++) {
			struct shape s = shape_of(version, kind & 1, kind & 2, 1 + 3 * (kind & 1));
			struct table_bytes b = compose(s);
			tell(s, truth);
			snprintf(text, sizeof(text),
				 "version %u, offsets of %d bits%s, instructions of %u", version,
				 s.is_64 ? 64 : 32, s.swap ? ", swapped" : "", s.min_length);
			tap(!count_wrong(&b, b.size, truth, TRUTHS, true), text);
		}
}

/* All of the addresses that the truths are about are unknown. */
static bool finds_nothing(const struct table_bytes *b, size_t size)
{
	struct truth truth[TRUTHS];

	tell(usual, truth);
	for (size_t i = 0; i < TRUTHS; i++)
		truth[i].line = 0;
	return !count_wrong(b, size, truth, TRUTHS, false);
}

/* What is known of a damaged table is right, if less: return how much, SIZE_MAX: some is wrong. */
static size_t count_right(const struct table_bytes *b, const struct truth *t, bool with_paths)
{
	struct opened o;
	size_t right = 0;

	open_table(&o, b, b->size);
	for (size_t i = 0; i < TRUTHS && right != SIZE_MAX; i++) {
		struct extent same = { 0, UINT64_MAX };
		struct row row;
		if (!lines_find(o.lines, t[i].address, &row, &same))
			continue;
		const char *path = lines_path(o.lines, row.file);
		bool good = row.line == t[i].line && row.column == t[i].column &&
			    (path ? t[i].path && !strcmp(path, t[i].path) : !with_paths);
		right = good ? right + 1 : SIZE_MAX;
	}
	close_table(&o);
	return right;
}

static void test_cuts(unsigned version)
{
	struct shape s = shape_of(version, false, false, 1);
	struct table_bytes whole = compose(s), b;
	struct truth truth[TRUTHS];
	size_t wrong = 0, before = 0, found = 0;
	char text[100];

	tell(s, truth);
	for (size_t size = 0; size < whole.size; size++)
		wrong += !finds_nothing(&whole, size);
	snprintf(text, sizeof(text), "version %u: a table longer than its section is refused",
		 version);
	tap(wrong == 0, text);

	for (size_t size = whole.program; size <= whole.size; size++) {
		b = whole;
		b.size = size;
		end(&b);
		found = count_right(&b, truth, true);
		wrong += found == SIZE_MAX || found < before;
		before = found;
	}
	snprintf(text, sizeof(text), "version %u: of a program cut at each byte the rows are right",
		 version);
	tap(wrong == 0 && found == TRUTHS - 2, text);

	for (size_t size = whole.header + 4; size < whole.program; size++) {
		b = whole;
		memmove(b.at + size, b.at + whole.program, whole.size - whole.program);
		b.program = size;
		b.size = size + whole.size - whole.program;
		end(&b);
		found = count_right(&b, truth, false);
		wrong += found != 0 && found != TRUTHS - 2;
	}
	snprintf(text, sizeof(text), "version %u: with files cut at each byte no path is wrong",
		 version);
	tap(wrong == 0, text);
}

/* Each special opcode: its row is one line of the standard's table (§6.2.5.1). */
static void test_special(void)
{
	struct shape s = usual;
	size_t wrong = 0;

	for (unsigned base = 1; base <= 20; base += 3)
		for (unsigned opcode = base; opcode < 256; opcode++) {
			s.opcode_base = (uint8_t)base;
			s.line_base = -3;
			s.line_range = 12;
			s.min_length = 2;
			struct table_bytes b = begin(s);
			unsigned moved = (opcode - base) / 12 * 2;
			int line = 1 - 3 + (int)((opcode - base) % 12);
			put_address(&b, 0x4000);
			put(&b, opcode, 1);
			put(&b, base + 3, 1);		/* no step, the same line: no row */
			put(&b, base + 3 + 12, 1);	/* two bytes on */
			put_end(&b);
			end(&b);
			struct truth t[] = {
				{ 0x4000 + moved, (uint32_t)line, 0, "/build/main.c" },
				{ 0x4000 + moved - 1, 0, 0, NULL },
			};
			if (line > 0)	/* 0 counts as not known; below it is damage */
				wrong += count_wrong(&b, b.size, t, LENGTH(t), true);
		}
	tap(wrong == 0, "special opcodes, from each base");
}

/* What const_add_pc adds is rounded down: of 245 opcodes, 82 a step, two steps. */
static void test_const_add(void)
{
	struct shape s = usual;

	s.opcode_base = 10;
	s.line_range = 82;
	struct table_bytes b = begin(s);
	put_address(&b, 0x4000);
	put(&b, DW_LNS_copy, 1);
	put(&b, DW_LNS_const_add_pc, 1);
	put_end(&b);
	end(&b);
	const struct truth t[] = { { 0x4001, 1, 0, "/build/main.c" }, { 0x4002, 0, 0, NULL } };
	tap(!count_wrong(&b, b.size, t, LENGTH(t), true), "const_add_pc rounds down");
}

/* Instructions of several operations: the address moves when the index of operations wraps. */
static void test_operations(void)
{
	struct shape s = usual;

	s.max_operations = 4;
	s.min_length = 16;
	struct table_bytes b = begin(s);
	put_address(&b, 0x4000);
	put(&b, DW_LNS_copy, 1);
	put_op(&b, DW_LNS_advance_pc, 6);	/* 1 instruction, operation 2 */
	put_special(&b, s, 0, 1);		/* line 2 at 0x4010 */
	put_special(&b, s, 1, 1);		/* line 3 there, operation 3: the last row counts */
	put_special(&b, s, 1, 1);		/* line 4 at 0x4020, operation 0 */
	put_op(&b, DW_LNS_advance_pc, 3);
	put(&b, DW_LNS_fixed_advance_pc, 1);
	put(&b, 0x10, 2);			/* 0x4030, operation 0 again */
	put_special(&b, s, 3, 1);		/* line 5, operation 3 */
	put(&b, DW_LNS_const_add_pc, 1);	/* 17 operations: 5 instructions */
	put_end(&b);
	end(&b);
	const struct truth t[] = {
		{ 0x4000, 1, 0, "/build/main.c" }, { 0x400f, 1, 0, "/build/main.c" },
		{ 0x4010, 3, 0, "/build/main.c" }, { 0x401f, 3, 0, "/build/main.c" },
		{ 0x4020, 4, 0, "/build/main.c" }, { 0x402f, 4, 0, "/build/main.c" },
		{ 0x4030, 5, 0, "/build/main.c" }, { 0x407f, 5, 0, "/build/main.c" },
		{ 0x4080, 0, 0, NULL },
	};
	tap(!count_wrong(&b, b.size, t, LENGTH(t), true), "instructions of several operations");
}

static void put_one_line(struct table_bytes *b, uint64_t address, unsigned lines, uint64_t size)
{
	put_address(b, address);
	put(b, DW_LNS_advance_line, 1);
	put_sleb(b, (int)lines - 1);
	put(b, DW_LNS_copy, 1);
	put_op(b, DW_LNS_advance_pc, size);
	put_end(b);
}

static void test_sequences(void)
{
	struct table_bytes b = begin(usual);

	put_one_line(&b, 0x9000, 9, 0x100);
	put_one_line(&b, 0, 50, 0x100);			/* a linker dropped it */
	put_one_line(&b, UINT64_MAX, 51, 0x100);	/* so do others */
	put_one_line(&b, 0x3000, 3, 0x100);
	put_one_line(&b, 0x3100, 4, 0x80);
	put_one_line(&b, 0x7000, 52, 0);		/* no code */
	/* without an end: the last row has no length */
	put_address(&b, 0x6000);
	put(&b, DW_LNS_copy, 1);
	put_op(&b, DW_LNS_advance_pc, 0x100);
	put_special(&b, usual, 0, 1);
	put_address(&b, 0x6080);
	put_special(&b, usual, 0, 1);
	put_op(&b, DW_LNS_advance_pc, 0x10);
	put_end(&b);
	put_address(&b, 0x5000);
	put(&b, DW_LNS_copy, 1);
	put_special(&b, usual, 4, 1);
	put_address(&b, 0x2000);			/* addresses fall: a new sequence */
	put_special(&b, usual, 0, 1);
	put_op(&b, DW_LNS_advance_pc, 0x10);
	put_end(&b);
	end(&b);
	const struct truth t[] = {
		{ 0x9000, 9, 0, "/build/main.c" }, { 0x90ff, 9, 0, "/build/main.c" },
		{ 0x9100, 0, 0, NULL }, { 0, 0, 0, NULL }, { 0x50, 0, 0, NULL },
		{ UINT64_MAX, 0, 0, NULL }, { UINT64_MAX - 1, 0, 0, NULL },
		{ 0x2fff, 0, 0, NULL }, { 0x3000, 3, 0, "/build/main.c" },
		{ 0x30ff, 3, 0, "/build/main.c" }, { 0x3100, 4, 0, "/build/main.c" },
		{ 0x317f, 4, 0, "/build/main.c" }, { 0x3180, 0, 0, NULL }, { 0x7000, 0, 0, NULL },
		{ 0x6000, 1, 0, "/build/main.c" }, { 0x6088, 3, 0, "/build/main.c" },
		{ 0x5003, 1, 0, "/build/main.c" }, { 0x5004, 0, 0, NULL },
		{ 0x2000, 3, 0, "/build/main.c" }, { 0x200f, 3, 0, "/build/main.c" },
		{ 0x2010, 0, 0, NULL },
	};
	tap(!count_wrong(&b, b.size, t, LENGTH(t), true),
	    "sequences in any order, of no code, dropped, without an end");
}

static void test_refused(void)
{
	struct shape s = usual;

	s.version = 1;
	struct table_bytes b = compose(s);
	tap(finds_nothing(&b, b.size), "version 1 is not read");
	s.version = 6;
	b = compose(s);
	tap(finds_nothing(&b, b.size), "nor is version 6");
	b = compose(usual);
	b.at[b.header + 4 + 4] = 0;	/* line_range; put_special() divides by it, too */
	tap(finds_nothing(&b, b.size), "no lines in the range of special opcodes");
	b = compose(usual);
	b.at[b.header + 4 + 5] = 0;
	tap(finds_nothing(&b, b.size), "no opcodes");
	b = compose(usual);
	b.at[b.header] = 0xff;
	tap(finds_nothing(&b, b.size), "a header that is longer than its table");
	b = compose(usual);
	memset(b.at + b.length, 0xff, 4);
	tap(finds_nothing(&b, b.size), "a length of 64 bits that is too large");
}

/* Each byte of a program takes fuel, and the first 64 rows take their size. */
static void test_fuel(void)
{
	struct table_bytes b = begin(usual);
	struct extent same = { 0, UINT64_MAX };
	struct opened o;
	struct row row;

	put_address(&b, 0x4000);
	for (unsigned i = 0; i < 100; i++)
		put_special(&b, usual, 1, 1);
	put_end(&b);
	end(&b);
	open_table(&o, &b, b.size);
	o.file.fuel.left = o.lines->end - o.lines->program + 64 * sizeof(row);
	tap(lines_find(o.lines, 0x4010, &row, &same) && row.line == 17 &&
	    !lines_find(o.lines, 0x4050, &row, &same) && o.file.fuel.left == 0,
	    "rows are read as far as the fuel goes");
	close_table(&o);
}

int main(void)
{
	test_versions();
	for (unsigned version = 2; version <= 5; version++)
		test_cuts(version);
	test_special();
	test_const_add();
	test_operations();
	test_sequences();
	test_refused();
	test_fuel();
	return tap_done();
}
