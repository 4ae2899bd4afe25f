/* SPDX-License-Identifier: Apache-2.0 */
/* cfi: damaged, huge, cut and shrinking sections. */
#include "elf/section.h"
#include "tests/memory-file.h"
#include "tests/unit/cfi-entries.h"

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
	tap(gives(program, sizeof(program), "r7+8 r16=c-8"), "two million instructions");
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
		damage->limit == CFI_NO_LIMIT;
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
		    cfi_damage(o.cfi)->limit == CFI_LIMIT_SIZE;
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

	struct cfi_parts p = { .frames = frames.at, .frames_size = frames.size, .table = zeros,
			       .table_size = 65536, .machine = EM_X86_64 };
	uint8_t *image = cfi_image_make(&p, &size);
	int fd = memory_file(image, size, NULL);
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

int main(void)
{
	test_damage();
	tap(survives_a_bad_length(), "a length longer than the section");
	tap(refuses_too_many(), "too many entries");
	tap(cut_everywhere(false, false) && cut_everywhere(true, false) &&
	    cut_everywhere(false, true), "cut anywhere");
	tap(survives_truncation(), "a mapped file is truncated");
	return tap_done();
}
