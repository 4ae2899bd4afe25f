/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cursor.h"
#include "dwarf/cfi.h"
#include "elf/section.h"
#include "tests/unit/cfi-image.h"
#include "tests/unit/tap.h"

#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes that grow. */
struct bytes {
	uint8_t *at;
	size_t size;
};

static void add(struct bytes *b, const void *bytes, size_t size)
{
	b->at = mem_resize(b->at, b->size + size + 1);
	if (size)
		memcpy(b->at + b->size, bytes, size);
	b->size += size;
}

static void add_u32(struct bytes *b, uint32_t value)
{
	add(b, &value, sizeof(value));
}

static void add_u64(struct bytes *b, uint64_t value)
{
	add(b, &value, sizeof(value));
}

/* Set the length of the entry that starts at OFFSET and ends here. */
static void end_entry(struct bytes *b, size_t offset)
{
	uint32_t length = (uint32_t)(b->size - offset - 4);

	memcpy(b->at + offset, &length, sizeof(length));
}

/* The text of program "\x01..." with its size. */
#define PROGRAM(text) (const uint8_t *)(text), sizeof(text) - 1

/* def_cfa rsp+8; the return address is at CFA-8 */
static const char initial[] = "\x0c\x07\x08\x90\x01";

/* Add a CIE of .eh_frame: factors 1 and -8, 4-byte addresses.  Return its offset. */
static size_t add_cie(struct bytes *b, const char *augmentation, const char *program, size_t size)
{
	size_t offset = b->size;

	add_u32(b, 0);
	add_u32(b, 0);
	add(b, "\x01", 1);
	add(b, augmentation, strlen(augmentation) + 1);
	add(b, "\x01\x78\x10", 3);
	add(b, "\x01\x03", 2);		/* udata4 */
	add(b, program, size);
	end_entry(b, offset);
	return offset;
}

/* Add an FDE of .eh_frame.  Return its offset. */
static size_t add_fde(struct bytes *b, size_t cie, uint32_t start, uint32_t size,
		      const void *program, size_t program_size)
{
	size_t offset = b->size;

	add_u32(b, 0);
	add_u32(b, (uint32_t)(b->size - cie));
	add_u32(b, start);
	add_u32(b, size);
	add(b, "", 1);
	add(b, program, program_size);
	end_entry(b, offset);
	return offset;
}

/* An open image. */
struct object {
	uint8_t *image;
	struct elf *elf;
	struct cfi *cfi;
};

static struct object open_object(const struct cfi_parts *p)
{
	const char *why;
	size_t size;
	struct object o = { .image = cfi_image_make(p, &size) };

	o.elf = elf_open_memory(o.image, size, &why);
	o.cfi = cfi_open(o.elf);
	return o;
}

static struct object open_frames(const struct bytes *frames)
{
	struct cfi_parts p = { .frames = frames->at, .frames_size = frames->size,
			       .machine = EM_X86_64 };

	return open_object(&p);
}

static void close_object(struct object *o)
{
	cfi_close(o->cfi);
	elf_close(o->elf);
	free(o->image);
}

static void write_rule(char *to, size_t size, const struct cfi_save *s)
{
	static const char *const form[] = {
		[CFI_UNDEFINED] = " r%u=u", [CFI_OFFSET] = " r%u=c%+d",
		[CFI_VALUE_OFFSET] = " r%u=v%+d", [CFI_REGISTER] = " r%u=r%d",
		[CFI_EXPRESSION] = " r%u=exp%d", [CFI_VALUE_EXPRESSION] = " r%u=vexp%d",
	};
	size_t used = strlen(to);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(to + used, size - used, form[s->kind], s->reg, s->value);
#pragma GCC diagnostic pop
}

/* Return the row at ADDRESS as text, valid until the next call; "none", "damaged". */
static const char *text_at(struct cfi *c, uint64_t address, struct extent *same)
{
	static char text[512];
	struct cfi_row row;
	enum cfi_result result = cfi_row_at(c, address, &row, same);

	if (result != CFI_FOUND)
		return result == CFI_NONE ? "none" : "damaged";
	if (row.cfa_kind == CFI_OFFSET)
		snprintf(text, sizeof(text), "r%u%+d", row.cfa_reg, row.cfa_value);
	else
		snprintf(text, sizeof(text), row.cfa_kind == CFI_UNDEFINED ? "none" : "exp%d",
			 row.cfa_value);
	for (unsigned i = 0; i < row.saves; i++)
		write_rule(text, sizeof(text), &row.save[i]);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
		 row.signs_return ? " signed" : "", row.is_signal ? " signal" : "");
	return text;
}

/* Whether the row at ADDRESS is EXPECTED, from START to END. */
static bool has(struct cfi *c, uint64_t address, uint64_t start, uint64_t end,
		const char *expected)
{
	struct extent same;
	const char *text = text_at(c, address, &same);
	bool good = !strcmp(text, expected) && same.start == start && same.end == end;

	if (!good)
		printf("# at 0x%" PRIx64 ": '%s' from 0x%" PRIx64 " to 0x%" PRIx64
		       ", not '%s'\n", address, text, same.start, same.end, expected);
	return good;
}

/* The row at 0x1800 of an FDE of 0x1000..0x2000 with PROGRAM is EXPECTED. */
static bool gives(const uint8_t *program, size_t size, const char *expected)
{
	struct bytes b = { 0 };
	struct extent same;

	add_fde(&b, add_cie(&b, "zR", initial, sizeof(initial) - 1), 0x1000, 0x1000, program,
		size);
	struct object o = open_frames(&b);
	const char *text = text_at(o.cfi, 0x1800, &same);
	bool is_damaged = !strcmp(expected, "damaged");
	bool good = !strcmp(text, expected) && (cfi_damage(o.cfi) != NULL) == is_damaged &&
		    same.start >= 0x1000 && same.end <= 0x2000;
	if (!good)
		printf("# '%s', not '%s'\n", text, expected);
	close_object(&o);
	free(b.at);
	return good;
}

static void test_instructions(void)
{
	tap(gives(PROGRAM(""), "r7+8 r16=c-8"), "the CIE's rules");
	tap(gives(PROGRAM("\x41\x0e\x10\x86\x02"), "r7+16 r6=c-16 r16=c-8"),
	    "advance_loc, def_cfa_offset, offset");
	tap(gives(PROGRAM("\x02\xff\x0e\x10\x03\x00\x10\x0e\x18"), "r7+16 r16=c-8"),
	    "advance_loc1, advance_loc2");
	tap(gives(PROGRAM("\x04\x00\x08\x00\x00\x0e\x10\x04\x01\x00\x00\x00\x0e\x18"),
		  "r7+16 r16=c-8"), "advance_loc4");
	tap(gives(PROGRAM("\x01\x00\x18\x00\x00\x0e\x10\x01\x01\x18\x00\x00\x0e\x18"),
		  "r7+16 r16=c-8"), "set_loc");
	tap(gives(PROGRAM("\x04\x00\x00\x00\x40\x0e\x10"), "r7+8 r16=c-8"), "1 GiB further");
	tap(gives(PROGRAM("\x05\x06\x02\x06\x10"), "r7+8 r6=c-16 r16=c-8"),
	    "offset_extended, restore_extended");
	tap(gives(PROGRAM("\x05\x86\x80\x80\x00\x82\x00"), "r7+8 r6=c-16 r16=c-8"),
	    "LEB128 numbers that are longer than needed");
	tap(gives(PROGRAM("\x07\x10\x07\x03\x08\x03"), "r7+8 r16=u"), "undefined, same_value");
	tap(gives(PROGRAM("\x07\x10\xd0"), "r7+8 r16=c-8"), "restore");
	tap(gives(PROGRAM("\x09\x10\x02"), "r7+8 r16=r2"), "register");
	tap(gives(PROGRAM("\x09\x10\x22"), "r7+8 r16=u"), "register that is not tracked");
	tap(gives(PROGRAM("\x83\x02\x0a\x0e\x20\x07\x10\x0b\x41"), "r7+8 r3=c-16 r16=c-8"),
	    "remember_state, restore_state");
	tap(gives(PROGRAM("\x0c\x06\x10\x0d\x03"), "r3+16 r16=c-8"), "def_cfa, def_cfa_register");
	tap(gives(PROGRAM("\x12\x06\x7e\x11\x03\x02\x13\x7d"), "r6+24 r3=c-16 r16=c-8"),
	    "def_cfa_sf, offset_extended_sf, def_cfa_offset_sf");
	tap(gives(PROGRAM("\x14\x03\x02\x15\x06\x7f"), "r7+8 r3=v-16 r6=v+8 r16=c-8"),
	    "val_offset, val_offset_sf");
	tap(gives(PROGRAM("\x0f\x01\x30\x10\x03\x01\x31\x16\x06\x01\x30"),
		  "exp0 r3=exp1 r6=vexp0 r16=c-8"),
	    "expressions; equal ones have one id");
	tap(gives(PROGRAM("\x0f\x01\x30\x0d\x06"), "r6+8 r16=c-8"),
	    "def_cfa_register after an expression");
	tap(gives(PROGRAM("\x2e\x20\x2f\x03\x02"), "r7+8 r3=c+16 r16=c-8"),
	    "GNU_args_size, GNU_negative_offset_extended");
	tap(gives(PROGRAM("\x2d"), "r7+8 r16=c-8 signed"), "AARCH64_negate_ra_state");
	tap(gives(PROGRAM("\x2c\x0a\x2d\x0b"), "r7+8 r16=c-8 signed"),
	    "AARCH64_negate_ra_state_with_pc, and remember_state");
	tap(gives(PROGRAM("\x05\x22\x02\x05\xff\x01\x02\xbf\x02\x07\x40"), "r7+8 r16=c-8"),
	    "registers that are not tracked");
}

static void test_damage(void)
{
	static uint8_t program[2 << 20];

	tap(gives(PROGRAM("\x0b"), "damaged"), "restore_state without remember_state");
	tap(gives(PROGRAM("\x17"), "damaged") && gives(PROGRAM("\x3f"), "damaged"),
	    "unknown instructions");
	tap(gives(PROGRAM("\x0e\x80"), "damaged") && gives(PROGRAM("\x0c"), "damaged"),
	    "a cut operand");
	tap(gives(PROGRAM("\x0e\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"
			  "\x80\x80\x80\x80\x00"), "damaged"), "a LEB128 number without end");
	tap(gives(PROGRAM("\x0e\xff\xff\xff\xff\x08"), "damaged") &&
	    gives(PROGRAM("\x05\x03\x80\x80\x80\x80\x08"), "damaged"), "offsets of 2 GiB");
	tap(gives(PROGRAM("\x0d\x22"), "damaged"), "a CFA from a register that is not tracked");
	tap(gives(PROGRAM("\x44\x01\x00\x10\x00\x00"), "damaged"), "set_loc backwards");
	tap(gives(PROGRAM("\x0f\x05\x30"), "damaged") &&
	    gives(PROGRAM("\x10\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "damaged"),
	    "an expression longer than the FDE");
	memset(program, 0x0a, sizeof(program));
	tap(gives(program, 64, "r7+8 r16=c-8") && gives(program, 65, "damaged"),
	    "64 states are remembered, no more");
	memset(program, 0, sizeof(program));
	tap(gives(program, (1 << 20) - 10, "r7+8 r16=c-8") &&
	    gives(program, sizeof(program), "damaged"), "a million instructions, no more");
}

/* A file of such instructions slows a few lookups down, but not each of a million. */
static bool is_affordable(void)
{
	struct bytes b = { 0 };
	struct extent same;
	uint8_t *program = mem_zeroed(1, 1 << 20);
	int found = 0;

	add_fde(&b, add_cie(&b, "zR", initial, sizeof(initial) - 1), 0x1000, 0x1000, program,
		(1 << 20) - 10);
	struct object o = open_frames(&b);
	for (int i = 0; i < 100; i++)
		found += strcmp(text_at(o.cfi, 0x1800, &same), "damaged") != 0;
	close_object(&o);
	free(program);
	free(b.at);
	return found == 64;
}

/* Three FDEs with a gap, one of them inside another, one of size 0, one twice. */
static struct bytes several(size_t offset[6])
{
	struct bytes b = { 0 };
	size_t cie = add_cie(&b, "zR", initial, sizeof(initial) - 1);

	offset[0] = add_fde(&b, cie, 0x3000, 0x100, PROGRAM("\x0e\x30"));
	offset[1] = add_fde(&b, cie, 0x1000, 0x100, PROGRAM("\x0e\x10\x48\x0e\x18"));
	add_u32(&b, 0);		/* a terminator in the middle, as in static programs */
	offset[2] = add_fde(&b, cie, 0x2000, 0x800, PROGRAM("\x0e\x20"));
	offset[3] = add_fde(&b, cie, 0x2200, 0x100, PROGRAM("\x0e\x28"));
	offset[4] = add_fde(&b, cie, 0x1000, 0, PROGRAM("\x0e\x38"));
	offset[5] = add_fde(&b, cie, 0x3000, 0x80, PROGRAM("\x0e\x40"));
	return b;
}

static bool finds_several(struct cfi *c)
{
	return has(c, 0xfff, 0, 0x1000, "none") &&
	       has(c, 0x1000, 0x1000, 0x1008, "r7+16 r16=c-8") &&
	       has(c, 0x1007, 0x1000, 0x1008, "r7+16 r16=c-8") &&
	       has(c, 0x10ff, 0x1008, 0x1100, "r7+24 r16=c-8") &&
	       has(c, 0x1100, 0x1100, 0x2000, "none") &&
	       has(c, 0x21ff, 0x2000, 0x2200, "r7+32 r16=c-8") &&
	       has(c, 0x22ff, 0x2200, 0x2300, "r7+40 r16=c-8") &&
	       has(c, 0x2300, 0x2300, 0x3000, "none") &&
	       has(c, 0x3000, 0x3000, 0x3080, "r7+64 r16=c-8") &&
	       has(c, 0x30ff, 0x3000, 0x3100, "r7+48 r16=c-8") &&
	       has(c, UINT64_MAX - 1, 0x3100, UINT64_MAX, "none") && !cfi_damage(c);
}

static bool finds_without_table(void)
{
	size_t offset[6];
	struct bytes b = several(offset);
	struct object o = open_frames(&b);
	bool good = finds_several(o.cfi);

	close_object(&o);
	free(b.at);
	return good;
}

/* How a search table is wrong. */
enum wrong { RIGHT, UNSORTED, OTHER_START, OUTSIDE, AT_CIE, TOO_MANY, FAR_TOO_MANY, ENCODING,
	     VERSION, ELSEWHERE, WRONGS };

/* Add a table of the FDEs in several(), but WRONG. */
static struct bytes table_of(const size_t offset[6], enum wrong wrong)
{
	static const uint32_t start[] = { 0x1000, 0x1000, 0x2000, 0x2200, 0x3000, 0x3000 };
	static const int which[] = { 1, 4, 2, 3, 0, 5 };
	struct bytes b = { 0 };
	enum { SIZE = 12 + 6 * 8 };
	uint64_t table = cfi_image_table();

	add(&b, wrong == VERSION ? "\x02\x1b\x03\x3b" : wrong == ENCODING ? "\x01\x1b\x03\x0b"
		: "\x01\x1b\x03\x3b", 4);
	add_u32(&b, SIZE - 4 + (wrong == ELSEWHERE ? 4 : 0));
	add_u32(&b, wrong == FAR_TOO_MANY ? UINT32_MAX : wrong == TOO_MANY ? 4 << 20 : 6);
	for (int i = 0; i < 6; i++) {
		int from = wrong == UNSORTED ? 5 - i : i;
		uint32_t at = start[from], to = (uint32_t)offset[which[from]] + SIZE;
		if (wrong == OTHER_START && i > 1)
			at += 0x10;
		if (wrong == OUTSIDE || wrong == AT_CIE)
			to = wrong == OUTSIDE ? 0x7ffffff0 : SIZE;
		add_u32(&b, at - (uint32_t)table);
		add_u32(&b, to);
	}
	return b;
}

static bool finds_by_table(enum wrong wrong, bool is_stripped)
{
	size_t offset[6];
	struct bytes frames = several(offset), table = table_of(offset, wrong);
	struct cfi_parts p = { .frames = frames.at, .frames_size = frames.size, .table = table.at,
			       .table_size = table.size, .machine = EM_X86_64,
			       .is_stripped = is_stripped };
	struct object o = open_object(&p);
	bool good = finds_several(o.cfi);

	if (!good)
		printf("# table %d\n", wrong);
	close_object(&o);
	free(frames.at);
	free(table.at);
	return good;
}

static bool finds_by_wrong_tables(void)
{
	bool good = true;

	for (enum wrong wrong = UNSORTED; wrong < WRONGS; wrong++)
		good &= finds_by_table(wrong, false);
	return good;
}

/* One FDE in FRAMES; the row at 0x1800 is EXPECTED. */
static bool one_is(struct bytes *frames, bool is_debug, const char *expected)
{
	struct cfi_parts p = { .frames = frames->at, .frames_size = frames->size,
			       .machine = EM_X86_64, .is_debug = is_debug };
	struct object o = open_object(&p);
	struct extent same;
	const char *text = text_at(o.cfi, 0x1800, &same);
	bool good = !strcmp(text, expected);

	if (!good)
		printf("# '%s', not '%s'\n", text, expected);
	close_object(&o);
	free(frames->at);
	*frames = (struct bytes){ 0 };
	return good;
}

/* Entries with a length of 8 bytes: ids of 4 bytes in .eh_frame, of 8 in .debug_frame. */
static bool reads_long_entries(void)
{
	struct bytes b = { 0 };

	add_u32(&b, UINT32_MAX);
	add_u64(&b, 16);
	add_u32(&b, 0);
	add(&b, "\x01zR\0\x01\x78\x10\x01\x03\x0c\x07\x08", 12);
	add_u32(&b, UINT32_MAX);
	add_u64(&b, 13);
	add_u32(&b, 40);
	add_u32(&b, 0x1000);
	add_u32(&b, 0x1000);
	add(&b, "", 1);
	bool good = one_is(&b, false, "r7+8");
	add_u32(&b, UINT32_MAX);
	add_u64(&b, 18);
	add_u64(&b, UINT64_MAX);
	add(&b, "\x04\0\x04\0\x01\x78\x10\x0c\x07\x08", 10);
	add_u32(&b, UINT32_MAX);
	add_u64(&b, 16);
	add_u64(&b, 0);
	add_u32(&b, 0x1000);
	add_u32(&b, 0x1000);
	return good & one_is(&b, true, "r7+8");
}

/* A CIE of .debug_frame made of BODY, and an FDE that refers to offset CIE. */
static struct bytes debug_frame(const uint8_t *body, size_t size, uint32_t cie)
{
	struct bytes b = { 0 };

	add_u32(&b, (uint32_t)size + 4);
	add_u32(&b, UINT32_MAX);
	add(&b, body, size);
	size_t fde = b.size;
	add_u32(&b, 0);
	add_u32(&b, cie == UINT32_MAX ? (uint32_t)fde : cie);
	add_u64(&b, 0x1000);
	add_u64(&b, 0x1000);
	end_entry(&b, fde);
	return b;
}

static bool gives_debug(const uint8_t *body, size_t size, uint32_t cie, const char *expected)
{
	struct bytes b = debug_frame(body, size, cie);

	return one_is(&b, true, expected);
}

/* An FDE whose CIE is another FDE, with the same bytes as a CIE. */
static bool refuses_an_fde_as_cie(void)
{
	struct bytes b = debug_frame(PROGRAM("\x01\0\x01\x78\x10\x0c\x07\x08"), 0);
	size_t first = b.size;

	add_u32(&b, 12);
	add_u32(&b, 0);
	add(&b, "\x01\0\x01\x78\x10\x0c\x07\x10", 8);
	add_u32(&b, 20);
	add_u32(&b, (uint32_t)first);
	add_u64(&b, 0x1700);
	add_u64(&b, 0x1000);
	return one_is(&b, true, "r7+8");
}

static void test_cies(void)
{
	struct bytes b = { 0 };

	tap(reads_long_entries(), "64-bit DWARF");
	tap(gives_debug(PROGRAM("\x01\0\x01\x78\x10\x0c\x07\x08"), 0, "r7+8") &&
	    gives_debug(PROGRAM("\x03\0\x01\x78\x90\0\x0c\x07\x08"), 0, "r7+8") &&
	    gives_debug(PROGRAM("\x04\0\x08\0\x01\x78\x10\x0c\x07\x08"), 0, "r7+8"),
	    "CIEs of versions 1, 3 and 4");
	tap(gives_debug(PROGRAM("\x02\0\x01\x78\x10\x0c\x07\x08"), 0, "none") &&
	    gives_debug(PROGRAM("\x05\0\x08\0\x01\x78\x10\x0c\x07\x08"), 0, "none"),
	    "CIEs of unknown versions");
	tap(gives_debug(PROGRAM("\x04\0\x03\0\x01\x78\x10\x0c\x07\x08"), 0, "none") &&
	    gives_debug(PROGRAM("\x04\0\x08\x02\x01\x78\x10\x0c\x07\x08"), 0, "none"),
	    "addresses of 3 bytes, or with segments");
	tap(gives_debug(PROGRAM("\x01q\0\x01\x78\x10\x0c\x07\x08"), 0, "none") &&
	    gives_debug(PROGRAM("\x01\0\x01\x78\x22\x0c\x07\x08"), 0, "none"),
	    "an unknown augmentation; a return address in no register");
	tap(gives_debug(PROGRAM("\x01\0\x01\x78\x10\x41\x0c\x07\x08"), 0, "damaged"),
	    "a CIE that advances");
	tap(gives_debug(PROGRAM("\x01\0\x01\x78\x10\x0c\x07\x08"), UINT32_MAX, "none") &&
	    gives_debug(PROGRAM("\x01\0\x01\x78\x10\x0c\x07\x08"), 1, "none") &&
	    gives_debug(PROGRAM("\x01\0\x01\x78\x10\x0c\x07\x08"), 0x7fffffff, "none"),
	    "an FDE that is its own CIE; whose CIE is inside another, or outside");
	tap(refuses_an_fde_as_cie(), "an FDE whose CIE is another FDE");
	add_fde(&b, add_cie(&b, "zRS", initial, sizeof(initial) - 1), 0x1000, 0x1000, "", 0);
	tap(one_is(&b, false, "r7+8 r16=c-8 signal"), "a signal frame");
	add_fde(&b, add_cie(&b, "zR", "", 0), 0x1000, 0x1000, PROGRAM("\x07\x10"));
	tap(one_is(&b, false, "none r16=u"), "no CFA");
	add_fde(&b, add_cie(&b, "zR", initial, sizeof(initial) - 1), 0xfffffff0, 0xffffffff, "",
		0);
	tap(one_is(&b, false, "none"), "an FDE of 4 GiB elsewhere");
}

/* An entry that is longer than the section costs what follows, not what is before. */
static bool survives_a_bad_length(void)
{
	struct bytes b = { 0 };
	size_t cie = add_cie(&b, "zR", initial, sizeof(initial) - 1);

	add_fde(&b, cie, 0x1000, 0x100, "", 0);
	size_t bad = b.size;
	add_u32(&b, 0xfffffff0);
	add_fde(&b, cie, 0x2000, 0x100, "", 0);
	struct object o = open_frames(&b);
	bool good = has(o.cfi, 0x1000, 0x1000, 0x1100, "r7+8 r16=c-8") &&
		    has(o.cfi, 0x2000, 0x1100, UINT64_MAX, "none");
	const struct cfi_damage *damage = cfi_damage(o.cfi);
	good &= damage && !strcmp(damage->section, ".eh_frame") && damage->offset == bad &&
		!damage->has_exceeded;
	close_object(&o);
	free(b.at);
	return good;
}

/* More entries than anyone has: the section is not used. */
static bool refuses_too_many(void)
{
	size_t size = (8 << 20) * 4 + 400;
	struct bytes b = { 0 };
	uint8_t *zeros = mem_zeroed(1, size);

	add_fde(&b, add_cie(&b, "zR", initial, sizeof(initial) - 1), 0x1000, 0x100, "", 0);
	add(&b, zeros, size);
	struct object o = open_frames(&b);
	bool good = has(o.cfi, 0x1000, 0, UINT64_MAX, "none") && cfi_damage(o.cfi) &&
		    cfi_damage(o.cfi)->has_exceeded;
	close_object(&o);
	free(zeros);
	free(b.at);
	return good;
}

static void look_around(const struct cfi_parts *p)
{
	struct object o = open_object(p);
	struct cfi_row row;
	struct extent same;

	for (uint64_t at = 0; at < 0x3200; at += 0x80)
		cfi_row_at(o.cfi, at, &row, &same);
	close_object(&o);
}

/* Cut the entries, and then the table, at each byte: the file ends there. */
static bool cut_everywhere(bool is_stripped, bool is_debug)
{
	size_t offset[6];
	struct bytes frames = several(offset), table = table_of(offset, RIGHT);
	struct cfi_parts p = { .frames = frames.at, .table = table.at, .table_size = table.size,
			       .machine = EM_X86_64, .is_stripped = is_stripped,
			       .is_debug = is_debug };

	for (p.frames_size = 0; p.frames_size < frames.size; p.frames_size++)
		look_around(&p);
	for (p.frames_size = 0; p.table_size > 0; p.table_size--)
		look_around(&p);
	p.frames_size = frames.size;
	for (; p.table_size < table.size; p.table_size++)
		look_around(&p);
	free(frames.at);
	free(table.at);
	return true;
}

/* A file that is made shorter while it is mapped. */
static bool survives_truncation(void)
{
	size_t offset[6], size;
	struct bytes frames = several(offset);
	uint8_t *zeros = mem_zeroed(1, 65536);	/* so that the entries are on later pages */
	struct extent same;
	const char *why;
	int fd = memfd_create("test", MFD_CLOEXEC);

	struct cfi_parts p = { .frames = frames.at, .frames_size = frames.size, .table = zeros,
			       .table_size = 65536, .machine = EM_X86_64 };
	uint8_t *image = cfi_image_make(&p, &size);
	if (fd < 0 || write(fd, image, size) != (ssize_t)size)
		return false;
	struct elf *elf = elf_open(dup(fd), &why);
	struct cfi *c = cfi_open(elf);
	bool good = finds_several(c) && ftruncate(fd, 4096) == 0;
	text_at(c, 0x1000, &same);
	good = good && elf_is_cut(elf);
	cfi_close(c);
	elf_close(elf);
	close(fd);
	free(image);
	free(zeros);
	free(frames.at);
	return good;
}

/* Memory: at 0x5000 are the bytes 1, 2, ... 0xfe, and nothing elsewhere. */
static bool read_memory(void *context, uint64_t address, void *bytes, size_t size)
{
	uint8_t *to = bytes;

	(void)context;
	if (address < 0x5000 || address > 0x50fe - size)
		return false;
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)(address - 0x5000 + 1 + i);
	return true;
}

/* Evaluate the SIZE bytes of TEXT, with rsp = 0x5010, rip = 0x100b, and rbp unknown. */
static bool evaluate(const uint8_t *text, size_t size, const uint64_t *cfa, uint64_t *value)
{
	struct cfi_registers registers = { .known = ~(1ULL << 6) };
	struct cfi_memory memory = { .read = read_memory, .bias = 0x10000 };
	struct bytes b = { 0 }, program = { 0 };
	struct cfi_row row;
	struct extent same;
	uint8_t leb[] = { (uint8_t)(size | 0x80), (uint8_t)(size >> 7) };

	registers.value[7] = 0x5010;
	registers.value[16] = 0x100b;
	registers.value[33] = 33;
	add(&program, "\x0f", 1);
	add(&program, leb, 2);
	add(&program, text, size);
	add_fde(&b, add_cie(&b, "zR", initial, sizeof(initial) - 1), 0x1000, 0x1000, program.at,
		program.size);
	struct object o = open_frames(&b);
	bool good = cfi_row_at(o.cfi, 0x1000, &row, &same) == CFI_FOUND &&
		    row.cfa_kind == CFI_VALUE_EXPRESSION &&
		    cfi_evaluate(o.cfi, row.cfa_value, &registers, &memory, cfa, value);
	close_object(&o);
	free(b.at);
	free(program.at);
	return good;
}

static bool is(const uint8_t *text, size_t size, uint64_t expected)
{
	uint64_t value = 0;
	bool good = evaluate(text, size, NULL, &value) && value == expected;

	if (!good)
		printf("# expression %02x...: 0x%" PRIx64 ", not 0x%" PRIx64 "\n", text[0], value,
		       expected);
	return good;
}

static bool fails(const uint8_t *text, size_t size)
{
	uint64_t value;

	return !evaluate(text, size, NULL, &value);
}

static void test_constants(void)
{
	tap(is(PROGRAM("\x30"), 0) && is(PROGRAM("\x4f"), 31), "literals");
	tap(is(PROGRAM("\x08\xff"), 255) && is(PROGRAM("\x09\xff"), (uint64_t)-1) &&
	    is(PROGRAM("\x0a\xff\xff"), 65535) && is(PROGRAM("\x0b\xfe\xff"), (uint64_t)-2) &&
	    is(PROGRAM("\x0c\xff\xff\xff\xff"), UINT32_MAX) &&
	    is(PROGRAM("\x0d\xfd\xff\xff\xff"), (uint64_t)-3) &&
	    is(PROGRAM("\x0e\x01\x02\x03\x04\x05\x06\x07\x08"), 0x0807060504030201) &&
	    is(PROGRAM("\x0f\xff\xff\xff\xff\xff\xff\xff\xff"), UINT64_MAX) &&
	    is(PROGRAM("\x10\x80\x01"), 128) && is(PROGRAM("\x11\x7f"), (uint64_t)-1),
	    "constants");
	tap(is(PROGRAM("\x77\x08"), 0x5018) && is(PROGRAM("\x77\x78"), 0x5008) &&
	    is(PROGRAM("\x92\x10\x01"), 0x100c) && is(PROGRAM("\x92\x21\0"), 33), "registers");
	tap(is(PROGRAM("\x03\x01\0\0\0\0\0\0\0"), 0x10001), "addresses of the object");
	tap(fails(PROGRAM("\x76\0")) && fails(PROGRAM("\x92\x22\0")) && fails(PROGRAM("\x50")),
	    "registers that are unknown, or not tracked; locations");
}

static void test_operations(void)
{
	tap(is(PROGRAM("\x31\x32\x12\x1e\x1e"), 4) && is(PROGRAM("\x31\x32\x13"), 1) &&
	    is(PROGRAM("\x31\x32\x14"), 1) && is(PROGRAM("\x31\x32\x33\x15\x02"), 1) &&
	    is(PROGRAM("\x31\x32\x16"), 1) && is(PROGRAM("\x31\x32\x33\x17"), 2) &&
	    is(PROGRAM("\x31\x32\x33\x17\x13"), 1) && is(PROGRAM("\x31\x32\x33\x17\x13\x13"), 3),
	    "dup, drop, over, pick, swap, rot");
	tap(fails(PROGRAM("\x12")) && fails(PROGRAM("\x31\x14")) && fails(PROGRAM("\x31\x16")) &&
	    fails(PROGRAM("\x31\x32\x17")) && fails(PROGRAM("\x31\x15\x01")) &&
	    fails(PROGRAM("\x31\x22")) && fails(PROGRAM("")), "an empty stack");
	tap(is(PROGRAM("\x11\x7b\x19"), 5) && is(PROGRAM("\x35\x19"), 5) &&
	    is(PROGRAM("\x35\x1f"), (uint64_t)-5) && is(PROGRAM("\x30\x20"), UINT64_MAX) &&
	    is(PROGRAM("\x35\x23\x80\x01"), 133), "abs, neg, not, plus_uconst");
	tap(is(PROGRAM("\x37\x33\x1a"), 3) && is(PROGRAM("\x34\x33\x21"), 7) &&
	    is(PROGRAM("\x36\x33\x27"), 5) && is(PROGRAM("\x34\x33\x22"), 7) &&
	    is(PROGRAM("\x33\x34\x1c"), (uint64_t)-1) && is(PROGRAM("\x33\x34\x1e"), 12),
	    "and, or, xor, plus, minus, mul");
	tap(is(PROGRAM("\x11\x79\x32\x1b"), (uint64_t)-3) && is(PROGRAM("\x37\x34\x1d"), 3) &&
	    fails(PROGRAM("\x37\x30\x1b")) && fails(PROGRAM("\x37\x30\x1d")) &&
	    is(PROGRAM("\x0e\0\0\0\0\0\0\0\x80\x09\xff\x1b"), 1ULL << 63), "div, mod; by 0");
	tap(is(PROGRAM("\x31\x34\x24"), 16) && is(PROGRAM("\x31\x08\x40\x24"), 0) &&
	    is(PROGRAM("\x11\x70\x34\x26"), (uint64_t)-1) && is(PROGRAM("\x4f\x33\x25"), 3) &&
	    is(PROGRAM("\x11\x70\x08\x40\x25"), 0) &&
	    is(PROGRAM("\x11\x70\x08\x40\x26"), (uint64_t)-1), "shl, shr, shra");
	tap(is(PROGRAM("\x31\x31\x29"), 1) && is(PROGRAM("\x31\x32\x2e"), 1) &&
	    is(PROGRAM("\x09\xff\x31\x2d"), 1) && is(PROGRAM("\x31\x31\x2c"), 1) &&
	    is(PROGRAM("\x31\x09\xff\x2b"), 1) && is(PROGRAM("\x31\x31\x2a"), 1) &&
	    is(PROGRAM("\x31\x09\xff\x2d"), 0), "eq, ne, lt, le, gt, ge are signed");
	tap(is(PROGRAM("\x77\x00\x06"), 0x1817161514131211) &&
	    is(PROGRAM("\x77\x00\x94\x04"), 0x14131211) &&
	    is(PROGRAM("\x77\x00\x94\x02"), 0x1211) && is(PROGRAM("\x77\x00\x94\x01"), 0x11) &&
	    fails(PROGRAM("\x30\x06")) && fails(PROGRAM("\x77\x00\x94\x03")) &&
	    fails(PROGRAM("\x77\x00\x94\x09")) && fails(PROGRAM("\x77\xf7\x01\x06")),
	    "deref, deref_size");
}

static void test_control(void)
{
	const uint64_t cfa = 0x7000;
	uint8_t many[2000];
	uint64_t value;

	tap(is(PROGRAM("\x31\x2f\x01\0\x32\x33\x1c"), (uint64_t)-2) &&
	    is(PROGRAM("\x35\x31\x28\x01\0\x36"), 5) && is(PROGRAM("\x35\x30\x28\x01\0\x36"), 6) &&
	    is(PROGRAM("\x35\x2f\0\0"), 5) && fails(PROGRAM("\x35\x2f\x01\0")) &&
	    fails(PROGRAM("\x35\x2f\xfb\xff")) && fails(PROGRAM("\x35\x2f\xff\x7f")), "skip, bra");
	tap(is(PROGRAM("\x30\x31\x22\x12\x08\x64\x2d\x28\xf7\xff"), 100), "a loop");
	tap(fails(PROGRAM("\x31\x2f\xfd\xff")), "a loop without end");
	tap(is(PROGRAM("\x35\x96\x9f"), 5), "nop, stack_value");
	tap(fails(PROGRAM("\x9c")) && evaluate(PROGRAM("\x9c\x1c"), &cfa, &value) && value == 0 &&
	    evaluate(PROGRAM("\x38\x22"), &cfa, &value) && value == 0x7008,
	    "call_frame_cfa; the CFA on the stack");
	tap(fails(PROGRAM("\xe0")) && fails(PROGRAM("\x93\x08")) && fails(PROGRAM("\xe1")) &&
	    fails(PROGRAM("\x98\0\0")) && fails(PROGRAM("\xa3\x01\x50")), "other operations");
	memset(many, 0x31, sizeof(many));
	tap(is(many, 64, 1) && fails(many, 65), "64 values, no more");
	memset(many, 0x96, sizeof(many));
	many[0] = 0x31;
	tap(is(many, 1000, 1) && fails(many, 1001), "1,000 operations, no more");
	tap(is(PROGRAM("\x77\x08\x80\0\x3f\x1a\x3b\x2a\x33\x24\x22"), 0x5020),
	    "the expression of .plt");
}

/* What an unwinder needs of an ELF file beside call frame information. */
static bool elf_has_the_rest(void)
{
	struct bytes b = { 0 };

	add_u32(&b, 0x12345678);
	struct cfi_parts p = { .frames = b.at, .frames_size = b.size, .machine = EM_AARCH64 };
	struct object o = open_object(&p);
	uint64_t at = cfi_image_frames(&p), address;
	bool good = elf_machine(o.elf) == EM_AARCH64 && elf_entry(o.elf) == 0x1000 &&
		    elf_constant_at(o.elf, at).size == 4 &&
		    *elf_constant_at(o.elf, at).at == 0x78 &&
		    elf_constant_at(o.elf, at + 4).size == 0 &&
		    elf_frame_header(o.elf, &address).size == 0;

	close_object(&o);
	free(b.at);
	return good;
}

static bool refuses_other_machines(void)
{
	struct cfi_parts p = { .machine = EM_386 };
	struct object o = open_object(&p);
	bool good = o.elf && !o.cfi;

	close_object(&o);
	return good;
}

int main(void)
{
	struct extent same;

	test_instructions();
	test_damage();
	tap(is_affordable(), "hostile instructions cost a bounded time");
	tap(finds_without_table(), "FDEs without a search table; the last start wins");
	tap(finds_by_table(RIGHT, false), "FDEs by a search table");
	tap(finds_by_wrong_tables(), "a search table that is wrong in any way changes nothing");
	test_cies();
	tap(survives_a_bad_length(), "a length longer than the section");
	tap(refuses_too_many(), "too many entries");
	tap(cut_everywhere(false, false) && cut_everywhere(true, false) &&
	    cut_everywhere(false, true), "cut anywhere");
	tap(survives_truncation(), "a mapped file is truncated");
	test_constants();
	test_operations();
	test_control();
	tap(elf_has_the_rest(), "machine, entry point, constant bytes");
	tap(refuses_other_machines(), "other machines have no rows");
	tap(!strcmp(text_at(NULL, 0, &same), "none") && !cfi_damage(NULL), "no object at all");
	cfi_close(NULL);
	return tap_done();
}
