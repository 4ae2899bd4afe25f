/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-gotable - any bytes as the function table of a Go program, put into an ELF file. */
#include "base/arena.h"
#include "symbol/gotable.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char names[] = "\0.gopclntab\0.names";

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr section[3];
	char names[sizeof(names)];
};

/* A program whose whole file, mapped at 0, is followed by the table. */
static uint8_t *wrap(const uint8_t *bytes, size_t size)
{
	struct image image = { .header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = EM_X86_64,
		.e_phoff = offsetof(struct image, segment), .e_phnum = 1,
		.e_shoff = offsetof(struct image, section), .e_shnum = 3, .e_shstrndx = 2,
	} };

	image.segment = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X,
				      .p_filesz = sizeof(image) + size,
				      .p_memsz = sizeof(image) + size };
	image.section[1] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS,
					 .sh_flags = SHF_WRITE, .sh_addr = sizeof(image),
					 .sh_offset = sizeof(image), .sh_size = size };
	image.section[2] = (Elf64_Shdr){ .sh_name = 12, .sh_type = SHT_STRTAB,
					 .sh_offset = offsetof(struct image, names),
					 .sh_size = sizeof(names) };
	memcpy(image.names, names, sizeof(names));
	uint8_t *file = mem_resize(NULL, sizeof(image) + size);
	memcpy(file, &image, sizeof(image));
	memcpy(file + sizeof(image), bytes, size);
	return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const struct go_frame *frame;
	const char *why;
	uint8_t *file = wrap(bytes, size);
	struct elf *elf = elf_open_memory(file, sizeof(struct image) + size, &why);
	struct gotable *t = gotable_open(elf);
	size_t sum = 0;

	for (uint64_t at = 0; at < 4096; at += 5) {
		uint32_t bytes = 0;
		sum += gotable_stack(t, at, &bytes) ? bytes : 0;
		size_t count = gotable_find(t, at, &frame);
		for (size_t i = 0; i < count; i++)
			sum += (frame[i].function ? strlen(frame[i].function) : 0) +
			       (frame[i].file ? strlen(frame[i].file) : 0);
	}
	gotable_close(t);
	elf_close(elf);
	free(file);
	return sum == 1;	/* never, in practice: so that it is computed */
}
