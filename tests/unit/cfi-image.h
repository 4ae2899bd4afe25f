/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi-image - make an ELF file with call frame information, for unit tests and fuzzers.
 *
 * All of the file is mapped at address 0, and code is at any address below 4 GiB.  Sections are
 * .eh_frame (the file's end) with .eh_frame_hdr before it, or .debug_frame.
 */
#pragma once
#include "base/arena.h"
#include "tests/unit/host.h"

#include <stdlib.h>
#include <string.h>

static const char cfi_image_names[] = "\0.eh_frame\0.debug_frame\0.names";

struct cfi_image {
	Elf64_Ehdr header;
	Elf64_Phdr segment[2];
	Elf64_Shdr section[3];
	char names[sizeof(cfi_image_names)];
};

/* What is in an image.  The bytes are the caller's. */
struct cfi_parts {
	const uint8_t *frames, *table;
	size_t frames_size, table_size;		/* in bytes; TABLE_SIZE 0: no .eh_frame_hdr */
	uint16_t machine;			/* EM_* */
	bool is_debug;				/* .debug_frame */
	bool is_stripped;			/* there are no section headers */
};

/* Return the address of .eh_frame_hdr, and of the frames after it. */
static inline uint64_t cfi_image_table(void)
{
	return sizeof(struct cfi_image);
}

static inline uint64_t cfi_image_frames(const struct cfi_parts *p)
{
	return sizeof(struct cfi_image) + p->table_size;
}

/* Return an image for the caller to free, of exactly *SIZE bytes. */
static inline uint8_t *cfi_image_make(const struct cfi_parts *p, size_t *size)
{
	struct cfi_image image = { .header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, HOST_ELFDATA, EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = p->machine, .e_entry = 0x1000,
		.e_phoff = offsetof(struct cfi_image, segment), .e_phnum = 2,
		.e_shoff = offsetof(struct cfi_image, section),
		.e_shnum = p->is_stripped ? 0 : 3, .e_shstrndx = p->is_stripped ? 0 : 2,
	} };

	*size = sizeof(image) + p->table_size + p->frames_size;
	image.segment[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X,
					 .p_filesz = *size, .p_memsz = 1ULL << 32 };
	image.segment[1] = (Elf64_Phdr){ .p_type = p->table_size ? PT_GNU_EH_FRAME : PT_NULL,
					 .p_vaddr = cfi_image_table(),
					 .p_filesz = p->table_size };
	image.section[1] = (Elf64_Shdr){ .sh_name = p->is_debug ? 11 : 1, .sh_type = SHT_PROGBITS,
					 .sh_addr = p->is_debug ? 0 : cfi_image_frames(p),
					 .sh_offset = cfi_image_frames(p),
					 .sh_size = p->frames_size };
	image.section[2] = (Elf64_Shdr){ .sh_name = 24, .sh_type = SHT_STRTAB,
					 .sh_offset = offsetof(struct cfi_image, names),
					 .sh_size = sizeof(image.names) };
	memcpy(image.names, cfi_image_names, sizeof(image.names));
	uint8_t *file = mem_resize(NULL, *size);
	memcpy(file, &image, sizeof(image));
	if (p->table_size)
		memcpy(file + sizeof(image), p->table, p->table_size);
	if (p->frames_size)
		memcpy(file + sizeof(image) + p->table_size, p->frames, p->frames_size);
	return file;
}
