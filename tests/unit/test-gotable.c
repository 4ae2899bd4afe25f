/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go tables: composed by hand after runtime/symtab.go of Go 1.2, 1.16, 1.18 and 1.20, with
 * calls that were inlined into each other; cut at each byte, in exact copies.
 */
#include "base/arena.h"
#include "symbol/gotable.h"
#include "tests/unit/host.h"
#include "tests/unit/tap.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>

enum { GO_1_2 = 0xfb, GO_1_16 = 0xfa, GO_1_18 = 0xf0, GO_1_20 = 0xf1 };

/* Where things are in the table, whatever its version. */
enum {
	NAMES = 0x60, OLD_FILES = 0x8c, UNITS = 0xa0, FILES = 0xb0, VALUES = 0xd0, PAIRS = 0x100,
	MAIN = 0x160, OTHER = 0x1c0, TABLE = 0x200,
};
/* Names, files and pc-value codes, from where each of those begins. */
enum { MAIN_NAME = 1, INNER_NAME = 11, LEAF_NAME = 22, OTHER_NAME = 32 };
enum { MAIN_GO = 1, OTHER_GO = 9 };
enum { MAIN_LINES = 1, MAIN_FILES = 9, MAIN_CALLS = 13, OTHER_LINES = 21, OTHER_FILES = 25 };

enum { BASE = 0x400000, TEXT = BASE + 0x40 };

static const char section_names[] = "\0.gopclntab\0.names\0.data";

/* A program: its whole file is mapped at BASE, the table is last in it. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr section[4];
	char names[32];
	uint64_t module[64];		/* moduledata */
	uint8_t tree[40];		/* of inlined calls */
	uint8_t table[TABLE];
};

/* What tables differ in. */
struct shape {
	uint8_t version, quantum, word;
	unsigned gofunc;	/* the word of moduledata that says where the tree is */
	bool has_end;		/* the word after it is the end of the table */
	bool no_text;		/* the header says 0 for the start of text */
};

static void put(uint8_t *at, uint64_t number, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		at[i] = (uint8_t)(number >> 8 * i);
}

static void put_header(uint8_t *t, struct shape s)
{
	const uint64_t words[] = { 2, 2, s.no_text ? 0 : TEXT, NAMES, UNITS, FILES, VALUES, PAIRS };
	unsigned at = 8;

	put(t, 0xffffff00 | s.version, 4);
	t[6] = s.quantum;
	t[7] = s.word;
	for (unsigned i = 0; i < 8; i++) {
		if ((i == 2 && s.version == GO_1_16) || (i > 0 && s.version == GO_1_2))
			continue;
		put(t + at, words[i], s.word);
		at += s.word;
	}
}

/* main.main at TEXT + 0x10, main.other at + 0x40, the end at + 0x50 */
static void put_pairs(uint8_t *t, struct shape s)
{
	const uint64_t entries[] = { 0x10, 0x40, 0x50 };
	const uint64_t functions[] = { MAIN, OTHER, 0 };
	bool is_short = s.version == GO_1_18 || s.version == GO_1_20;
	unsigned size = is_short ? 4 : s.word;
	uint8_t *at = s.version == GO_1_2 ? t + 8 + s.word : t + PAIRS;

	for (unsigned i = 0; i < 3; i++, at += 2 * size) {
		put(at, is_short ? entries[i] : TEXT + entries[i], size);
		if (i < 2)
			put(at + size, functions[i] - (s.version == GO_1_2 ? 0 : PAIRS), size);
		else if (s.version == GO_1_2)
			put(at + size, FILES, 4);
	}
}

/* Names and values: their offsets count from the table in 1.2, later from where they begin. */
static uint64_t from(struct shape s, unsigned start, unsigned offset)
{
	return s.version == GO_1_2 ? start + offset : offset;
}

static void put_strings(uint8_t *t, struct shape s)
{
	memcpy(t + NAMES + MAIN_NAME, "main.main", 10);
	memcpy(t + NAMES + INNER_NAME, "main.inner", 11);
	memcpy(t + NAMES + LEAF_NAME, "main.leaf", 10);
	memcpy(t + NAMES + OTHER_NAME, "main.other", 11);
	if (s.version == GO_1_2) {
		put(t + FILES, 3, 4);
		put(t + FILES + 4, OLD_FILES, 4);
		put(t + FILES + 8, OLD_FILES + 8, 4);
		memcpy(t + OLD_FILES, "main.go\0other.go", 17);
		return;
	}
	put(t + UNITS, MAIN_GO, 4);
	put(t + UNITS + 4, OTHER_GO, 4);
	memcpy(t + FILES + MAIN_GO, "main.go\0other.go", 17);
}

/* COUNT pairs of a value and the instructions that it holds for, as differences from -1. */
static void put_values(uint8_t *at, unsigned quantum, const int (*pair)[2], unsigned count)
{
	int before = -1;

	for (unsigned i = 0; i < count; i++) {
		int change = pair[i][0] - before;
		unsigned code = change < 0 ? ~((unsigned)change << 1) : (unsigned)change << 1;
		for (; code >= 0x80; code >>= 7)
			*at++ = (uint8_t)(code | 0x80);
		*at++ = (uint8_t)code;
		*at++ = (uint8_t)((unsigned)pair[i][1] / quantum);
		before = pair[i][0];
	}
	*at = 0;
}

static void put_all_values(uint8_t *t, struct shape s)
{
	/* files count from 1 in 1.2, later within their unit: OTHER's begins at 1 */
	const int file = s.version == GO_1_2 ? 1 : 0, other = s.version == GO_1_2 ? 2 : 0;

	put_values(t + VALUES + MAIN_LINES, s.quantum,
		   (const int [][2]){ { 10, 16 }, { 15, 16 }, { 5, 16 } }, 3);
	put_values(t + VALUES + MAIN_FILES, s.quantum, (const int [][2]){ { file, 48 } }, 1);
	put_values(t + VALUES + MAIN_CALLS, s.quantum,
		   (const int [][2]){ { -1, 16 }, { 0, 16 }, { 1, 16 } }, 3);
	put_values(t + VALUES + OTHER_LINES, s.quantum, (const int [][2]){ { 100, 16 } }, 1);
	put_values(t + VALUES + OTHER_FILES, s.quantum, (const int [][2]){ { other, 16 } }, 1);
}

/* struct _func: entry, name, 3 words of no matter, files, lines, counts, unit, start of lines */
static uint8_t *put_function(uint8_t *at, struct shape s, uint64_t entry, unsigned name,
			     unsigned files, unsigned lines, unsigned pcdata)
{
	bool is_short = s.version == GO_1_18 || s.version == GO_1_20;

	put(at, is_short ? entry : TEXT + entry, is_short ? 4 : s.word);
	at += is_short ? 4 : s.word;
	put(at, from(s, NAMES, name), 4);
	put(at + 16, from(s, VALUES, files), 4);
	put(at + 20, from(s, VALUES, lines), 4);
	put(at + 24, pcdata, 4);
	return at + 28;
}

static void put_functions(uint8_t *t, struct shape s)
{
	uint8_t *at = put_function(t + MAIN, s, 0x10, MAIN_NAME, MAIN_FILES, MAIN_LINES, 3);
	unsigned size = s.version == GO_1_16 ? s.word : 4;

	if (s.version != GO_1_2) {
		at += 4;		/* unit 0 */
		if (s.version == GO_1_20) {
			put(at, 3, 4);
			at += 4;
		}
		at[3] = 4;		/* so many function data; the fourth is the tree */
		put(at + 12, MAIN_CALLS, 4);
		at += 16;
		at += -(size_t)(at - t) & (size - 1);
		memset(at, 0xff, 3 * size);
		put(at + 3 * size, s.version == GO_1_16 ? BASE + offsetof(struct image, tree) : 0,
		    size);
	}
	at = put_function(t + OTHER, s, 0x40, OTHER_NAME, OTHER_FILES, OTHER_LINES, 0);
	if (s.version != GO_1_2)
		put(at, 1, 4);		/* the unit whose files begin with other.go */
	if (s.version == GO_1_20)
		put(at + 4, 99, 4);
}

/* inner, called in main.main at its 8th byte; leaf, called in inner, at its 24th */
static void put_tree(uint8_t *tree, struct shape s)
{
	const unsigned names[] = { INNER_NAME, LEAF_NAME }, parents[] = { 8, 24 };
	unsigned size = s.version == GO_1_20 ? 16 : 20, skip = s.version == GO_1_20 ? 4 : 12;

	for (unsigned i = 0; i < 2; i++) {
		put(tree + i * size + skip, names[i], 4);
		put(tree + i * size + skip + 4, parents[i], 4);
		if (s.version == GO_1_20)
			put(tree + i * size + skip + 8, 14 - 10 * i, 4);
	}
}

static struct image *compose(struct shape s)
{
	struct image *m = mem_zeroed(1, sizeof(*m));
	const uint64_t table = BASE + offsetof(struct image, table);

	put_header(m->table, s);
	put_pairs(m->table, s);
	put_strings(m->table, s);
	put_all_values(m->table, s);
	put_functions(m->table, s);
	put_tree(m->tree, s);
	m->module[0] = 0;		/* no moduledata: another variable */
	m->module[1] = table;
	m->module[1 + 22] = TEXT;
	if (s.gofunc)
		m->module[1 + s.gofunc] = BASE + offsetof(struct image, tree);
	if (s.has_end)
		m->module[1 + s.gofunc + 1] = table + TABLE;
	m->header = (Elf64_Ehdr){
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, HOST_ELFDATA, EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = EM_X86_64,
		.e_phoff = offsetof(struct image, segment), .e_phnum = 1,
		.e_shoff = offsetof(struct image, section), .e_shnum = 4, .e_shstrndx = 2,
	};
	memcpy(m->names, section_names, sizeof(section_names));
	m->segment = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = BASE,
				   .p_filesz = sizeof(*m), .p_memsz = sizeof(*m) };
	m->section[1] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_addr = table,
				      .sh_offset = table - BASE, .sh_size = TABLE };
	m->section[2] = (Elf64_Shdr){ .sh_name = 12, .sh_type = SHT_STRTAB,
				      .sh_offset = offsetof(struct image, names),
				      .sh_size = sizeof(section_names) };
	m->section[3] = (Elf64_Shdr){ .sh_name = 19, .sh_type = SHT_PROGBITS,
				      .sh_flags = SHF_WRITE | SHF_ALLOC,
				      .sh_addr = BASE + offsetof(struct image, module),
				      .sh_offset = offsetof(struct image, module),
				      .sh_size = sizeof(m->module) };
	return m;
}

/* What is known of addresses from TEXT + START to TEXT + END, the innermost frame first. */
struct truth {
	uint64_t start, end;
	size_t frames;
	struct go_frame frame[3];
};

#define MAIN_FRAME(line) { "main.main", "main.go", line, 3 }
#define INNER_FRAME { "main.inner", "main.go", 15, 14 }

static const struct truth with_calls[] = {
	{ 0x10, 0x20, 1, { MAIN_FRAME(10) } },
	{ 0x20, 0x30, 2, { INNER_FRAME, MAIN_FRAME(10) } },
	{ 0x30, 0x40, 3, { { "main.leaf", "main.go", 5, 4 }, INNER_FRAME, MAIN_FRAME(10) } },
	{ 0x40, 0x50, 1, { { "main.other", "other.go", 100, 99 } } },
	{ 0x0f, 0x10, 0, { { 0 } } }, { 0x50, 0x51, 0, { { 0 } } },
};

static const struct truth without_calls[] = {
	{ 0x10, 0x20, 1, { MAIN_FRAME(10) } }, { 0x20, 0x30, 1, { MAIN_FRAME(15) } },
	{ 0x30, 0x40, 1, { MAIN_FRAME(5) } },
	{ 0x40, 0x50, 1, { { "main.other", "other.go", 100, 99 } } },
	{ 0x0f, 0x10, 0, { { 0 } } }, { 0x50, 0x51, 0, { { 0 } } },
};

enum { TRUTHS = sizeof(with_calls) / sizeof(*with_calls) };

static bool same_text(const char *got, const char *wanted, bool is_cut)
{
	return got ? wanted && !strcmp(got, wanted) : is_cut || !wanted;
}

/* A table that IS_CUT may have fewer answers. */
static bool is_right(const struct go_frame *got, const struct go_frame *wanted, struct shape s,
		     bool is_cut)
{
	uint32_t start = s.version == GO_1_20 ? wanted->start_line : 0;

	return same_text(got->function, wanted->function, is_cut) &&
	       same_text(got->file, wanted->file, is_cut) &&
	       (got->line == wanted->line || (is_cut && got->line == 0)) &&
	       (got->start_line == start || (is_cut && got->start_line == 0));
}

static bool agrees(struct gotable *t, const struct truth *truth, struct shape s, bool is_cut)
{
	const struct go_frame *frame;

	for (uint64_t at = truth->start; at < truth->end; at++) {
		size_t frames = gotable_find(t, TEXT + at, &frame);
		if (is_cut && frames < truth->frames)
			continue;
		if (frames != truth->frames)
			return false;
		for (size_t i = 0; i < frames; i++)
			if (!is_right(&frame[i], &truth->frame[i], s, is_cut))
				return false;
	}
	return true;
}

/* How many of the truths a program gives otherwise whose last MISSING bytes are cut off. */
static size_t count_wrong(const struct image *whole, const struct truth *truth, struct shape s,
			  size_t missing)
{
	size_t size = sizeof(*whole) - missing, wrong = 0;
	struct image head;
	const char *why;

	memcpy(&head, whole, sizeof(head));
	head.section[1].sh_size -= missing;
	head.segment.p_filesz -= missing;
	uint8_t *file = memcpy(mem_resize(NULL, size), &head, size);
	struct elf *elf = elf_open_memory(file, size, &why);
	struct gotable *t = elf ? gotable_open(elf) : NULL;
	for (size_t i = 0; i < TRUTHS; i++)
		if (!agrees(t, &truth[i], s, missing > 0)) {
			wrong++;
			if (!missing)
				printf("# wrong at 0x%x\n", (unsigned)truth[i].start);
		}
	wrong += missing == 0 && !t;
	gotable_close(t);
	elf_close(elf);
	free(file);
	return wrong;
}

static void test_shape(struct shape s, const struct truth *truth, const char *name)
{
	struct image *m = compose(s);
	size_t wrong = 0;
	char text[100];

	tap(!count_wrong(m, truth, s, 0), name);
	for (size_t missing = 1; missing <= TABLE; missing++)
		wrong += count_wrong(m, truth, s, missing) != 0;
	snprintf(text, sizeof(text), "%s, cut at each byte", name);
	tap(wrong == 0, text);
	free(m);
}

/* A header with impossible values is refused. */
static void test_refused(void)
{
	static const struct { unsigned at, size; uint64_t number; const char *name; } wrong[] = {
		{ 0, 1, 0xf2, "a version that is not known" },
		{ 3, 1, 0xfe, "another magic number" },
		{ 4, 1, 1, "no zero after the magic number" }, { 7, 1, 2, "words of 2 bytes" },
		{ 8, 8, TABLE, "more functions than bytes" },
		{ 8, 8, UINT64_MAX, "2^64 - 1 functions" },
		{ 32, 8, TABLE + 1, "names beyond the table" },
		{ 64, 8, UINT64_MAX - 7, "functions beyond the table" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct image *m = compose((struct shape){ GO_1_20, 1, 8, 40, false, false });
		const char *why;
		put(m->table + wrong[i].at, wrong[i].number, wrong[i].size);
		struct elf *elf = elf_open_memory(m, sizeof(*m), &why);
		struct gotable *t = gotable_open(elf);
		tap(elf && !t, wrong[i].name);
		gotable_close(t);
		elf_close(elf);
		free(m);
	}
}

static void test_narrow(void)
{
	struct image *m = compose((struct shape){ GO_1_20, 1, 8, 40, false, false });
	const char *why;
	struct elf *elf = elf_open_memory(m, sizeof(*m), &why);
	struct gotable *t = gotable_open(elf);
	struct extent below = { 0, UINT64_MAX }, above = below, none = below;

	gotable_narrow(t, TEXT, &below);
	gotable_narrow(t, TEXT + 0x60, &above);
	gotable_narrow(NULL, TEXT, &none);
	tap(below.start == 0 && below.end == TEXT + 0x10 && above.start == TEXT + 0x50 &&
	    above.end == UINT64_MAX && none.start == 0 && none.end == UINT64_MAX,
	    "no function before the first and after the last");
	gotable_close(t);
	elf_close(elf);
	free(m);
}

int main(void)
{
	test_shape((struct shape){ GO_1_2, 1, 8, 0, false, false }, without_calls, "Go 1.2");
	test_shape((struct shape){ GO_1_2, 4, 4, 0, false, false }, without_calls,
		   "Go 1.2, words of 4 bytes, instructions of 4");
	test_shape((struct shape){ GO_1_16, 1, 8, 0, false, false }, with_calls, "Go 1.16");
	test_shape((struct shape){ GO_1_16, 4, 4, 0, false, false }, with_calls,
		   "Go 1.16, words of 4 bytes, instructions of 4");
	test_shape((struct shape){ GO_1_18, 1, 8, 38, false, false }, with_calls, "Go 1.18");
	test_shape((struct shape){ GO_1_18, 1, 8, 38, false, true }, with_calls,
		   "Go 1.18, the start of text in moduledata only");
	test_shape((struct shape){ GO_1_18, 2, 4, 0, false, false }, without_calls,
		   "Go 1.18, words of 4 bytes");
	test_shape((struct shape){ GO_1_20, 1, 8, 40, false, false }, with_calls, "Go 1.20");
	test_shape((struct shape){ GO_1_20, 4, 8, 43, true, true }, with_calls,
		   "Go 1.26, function data before the end of the table, instructions of 4");
	test_refused();
	test_narrow();
	return tap_done();
}
