/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread-local: a variable is found by its relocation or its symbol, up to a limit.  A hostile file
 * of some megabytes may have 65,535 sections that are all the same million relocations.
 */
#include "elf/thread-local.h"
#include "tests/unit/host.h"
#include "tests/unit/tap.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
	RELOCATIONS = 1 << 16,		/* in the section that all but the last are */
	RELOCATION_SECTIONS = 63,	/* of those: with one more section that makes 2^22 */
	SYMBOLS = 1 << 20,
	SLOT = 0x1234, VALUE = 0x18, BLOCK = 64,
	SECTIONS_MAX = 80, SYMBOLS_MOST = SYMBOLS + 2,
};

/* Sections: none, symbols, their names, then relocations, the last of them with one that counts. */
struct image {
	Elf64_Ehdr head;
	Elf64_Phdr segment;		/* of thread-local memory */
	Elf64_Shdr section[SECTIONS_MAX];
	char names[16];
	Elf64_Rela good, other[RELOCATIONS];
	Elf64_Sym symbol[SYMBOLS_MOST];
};

static struct image *image;
static const char name[] = "variable";

static Elf64_Shdr part(uint32_t type, const void *at, size_t size, uint32_t link)
{
	return (Elf64_Shdr){ .sh_type = type, .sh_link = link, .sh_size = size,
			     .sh_offset = (uint64_t)((const char *)at - (const char *)image) };
}

/* A file whose symbol INDEX is the variable; the last of RELOCATION_SECTIONS sections is for it. */
static void make(size_t symbol, size_t relocation_sections)
{
	size_t sections = 3 + relocation_sections;

	memset(image, 0, sizeof(*image));
	image->head = (Elf64_Ehdr){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, HOST_ELFDATA,
			     EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_phoff = offsetof(struct image, segment), .e_phnum = 1,
		.e_phentsize = sizeof(Elf64_Phdr), .e_shoff = offsetof(struct image, section),
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = (uint16_t)sections,
	};
	image->segment = (Elf64_Phdr){ .p_type = PT_TLS, .p_memsz = BLOCK, .p_align = 8 };
	memcpy(image->names + 1, name, sizeof(name));
	image->symbol[symbol] = (Elf64_Sym){
		.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_TLS), .st_shndx = 1,
		.st_value = VALUE,
	};
	image->good = (Elf64_Rela){ .r_offset = SLOT,
				    .r_info = ELF64_R_INFO(symbol, R_X86_64_TPOFF64) };
	image->section[1] = part(SHT_DYNSYM, image->symbol, sizeof(image->symbol), 2);
	image->section[2] = part(SHT_STRTAB, image->names, sizeof(image->names), 0);
	for (size_t i = 3; i < sections; i++)
		image->section[i] = part(SHT_RELA, image->other, sizeof(image->other), 1);
	if (relocation_sections)
		image->section[sections - 1] = part(SHT_RELA, &image->good, sizeof(image->good),
						    1);
}

static bool is_found(enum thread_place place, uint64_t value)
{
	const char *why = "";
	struct elf *elf = elf_open_memory(image, sizeof(*image), &why);
	struct thread_variable found = { THREAD_NOWHERE, 0 };

	if (elf)
		found = elf_thread_variable(elf, name);
	elf_close(elf);
	if (found.place != place || found.value != value)
		printf("# place %d, value %#lx%s\n", found.place, (unsigned long)found.value,
		       elf ? "" : why);
	return elf && found.place == place && found.value == value;
}

int main(void)
{
	const uint64_t in_program = (uint64_t)VALUE - BLOCK;

	image = malloc(sizeof(*image));
	make(1, 1);
	tap(is_found(THREAD_OFFSET_WORD, SLOT), "by its relocation");
	make(1, 0);
	tap(is_found(THREAD_OFFSET, in_program), "by its symbol");
	make(1, RELOCATION_SECTIONS + 1);
	tap(is_found(THREAD_OFFSET_WORD, SLOT), "after four million relocations");
	make(1, RELOCATION_SECTIONS + 2);
	tap(is_found(THREAD_OFFSET, in_program), "no more relocations than that are looked at");
	make(SYMBOLS - 1, 0);
	tap(is_found(THREAD_OFFSET, in_program), "after a million symbols");
	make(SYMBOLS, 0);
	tap(is_found(THREAD_NOWHERE, 0), "no more symbols than that are looked at");
	free(image);
	return tap_done();
}
