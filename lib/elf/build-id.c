/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/build-id.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

enum { NOTES_MAX = 16 * 1024, SEGMENTS_MAX = 64 };	/* looked at, at most */

/* A note: u32 name size, u32 content size, u32 type; name and content, padded to 4. */
size_t build_id_in_notes(struct cursor notes, uint8_t id[BUILD_ID_MAX])
{
	while (cursor_left(&notes) >= 12) {
		uint32_t name_size = cursor_u32(&notes), size = cursor_u32(&notes);
		uint32_t type = cursor_u32(&notes);
		const char *name = cursor_bytes(&notes, ((size_t)name_size + 3) & ~(size_t)3);
		const void *content = cursor_bytes(&notes, ((size_t)size + 3) & ~(size_t)3);
		if (notes.failed)
			return 0;
		if (type == NT_GNU_BUILD_ID && name_size == 4 && !memcmp(name, "GNU", 4) &&
		    size > 0 && size <= BUILD_ID_MAX) {
			/* some kernels' vdso has it */
			static const uint8_t none[BUILD_ID_MAX];
			memset(id, 0, BUILD_ID_MAX);
			memcpy(id, content, size);
			return memcmp(id, none, BUILD_ID_MAX) ? size : 0;
		}
	}
	return 0;
}

static size_t in_segment(int fd, uint64_t offset, uint64_t size, uint8_t id[BUILD_ID_MAX])
{
	uint8_t notes[NOTES_MAX];
	ssize_t n = pread(fd, notes, size < sizeof(notes) ? size : sizeof(notes), (off_t)offset);

	if (n <= 0)
		return 0;
	return build_id_in_notes((struct cursor){ .at = notes, .end = notes + n }, id);
}

/* Elf64_Phdr and Elf32_Phdr have the same fields in another order (elf.h). */
size_t build_id_of_file(int fd, uint8_t id[BUILD_ID_MAX])
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf64_Ehdr e64;
		Elf32_Ehdr e32;
	} h;
	union {
		Elf64_Phdr p64;
		Elf32_Phdr p32;
	} p;

	if (pread(fd, &h, sizeof(h), 0) != sizeof(h) || memcmp(h.ident, ELFMAG, SELFMAG))
		return 0;
	bool is64 = h.ident[EI_CLASS] == ELFCLASS64;
	uint64_t table = is64 ? h.e64.e_phoff : h.e32.e_phoff;
	size_t size = is64 ? sizeof(p.p64) : sizeof(p.p32), found = 0;
	unsigned count = is64 ? h.e64.e_phnum : h.e32.e_phnum;
	for (unsigned i = 0; i < count && i < SEGMENTS_MAX && !found; i++) {
		if (pread(fd, &p, size, (off_t)(table + i * size)) != (ssize_t)size)
			break;
		if (is64 && p.p64.p_type == PT_NOTE)
			found = in_segment(fd, p.p64.p_offset, p.p64.p_filesz, id);
		else if (!is64 && p.p32.p_type == PT_NOTE)
			found = in_segment(fd, p.p32.p_offset, p.p32.p_filesz, id);
	}
	return found;
}

size_t build_id_of_notes_file(const char *path, uint8_t id[BUILD_ID_MAX])
{
	uint8_t notes[NOTES_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	ssize_t n = read(fd, notes, sizeof(notes));
	close(fd);
	return n <= 0 ? 0 : build_id_in_notes((struct cursor){ .at = notes, .end = notes + n }, id);
}
