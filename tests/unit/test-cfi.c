/* SPDX-License-Identifier: Apache-2.0 */
/* cfi: the rows that instructions make, and what else an unwinder needs of an ELF file. */
#include "elf/section.h"
#include "tests/unit/cfi-entries.h"

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

/* What an unwinder needs of an ELF file beside call frame information. */
static bool elf_has_the_rest(void)
{
	struct bytes b = { 0 };

	add_u32(&b, 0x12345678);
	struct cfi_parts p = { .frames = b.at, .frames_size = b.size, .machine = EM_AARCH64 };
	struct object o = open_object(&p);
	uint64_t at = cfi_image_frames(&p), address;
	bool good = elf_machine(o.elf) == EM_AARCH64 && elf_entry(o.elf) == 0x1000 &&
		    elf_constant_at(o.elf, at, UINT64_MAX).size == 4 &&
		    *elf_constant_at(o.elf, at, UINT64_MAX).at == 0x78 &&
		    elf_constant_at(o.elf, at + 4, 1).size == 0 &&
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
	tap(elf_has_the_rest(), "machine, entry point, constant bytes");
	tap(refuses_other_machines(), "other machines have no rows");
	tap(!strcmp(text_at(NULL, 0, &same), "none") && !cfi_damage(NULL), "no object at all");
	cfi_close(NULL);
	return tap_done();
}
