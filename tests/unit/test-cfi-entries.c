/* SPDX-License-Identifier: Apache-2.0 */
/* cfi: the entry of an address, with a search table or without, and the forms of entries. */
#include "tests/unit/cfi-entries.h"

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

int main(void)
{
	tap(finds_without_table(), "FDEs without a search table; the last start wins");
	tap(finds_by_table(RIGHT, false), "FDEs by a search table");
	tap(finds_by_wrong_tables(), "a search table that is wrong in any way changes nothing");
	test_cies();
	return tap_done();
}
