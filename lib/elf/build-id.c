/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/build-id.h"
#include "elf/internal.h"
#include "linux/kernel-info.h"

#include <elf.h>
#include <unistd.h>

enum { NOTES_MAX = 16 * 1024, SEGMENTS_MAX = 64 };	/* limits */

struct note {
	uint32_t name_size, size, type;
	const char *name;
	const uint8_t *content;
};

/* Read a note: u32 name size, content size, type; name, content (both padded to 4 bytes). */
static bool next_note(struct cursor *notes, struct note *n)
{
	if (cursor_left(notes) < 12)
		return false;
	n->name_size = cursor_u32(notes);
	n->size = cursor_u32(notes);
	n->type = cursor_u32(notes);
	n->name = cursor_bytes(notes, ((size_t)n->name_size + 3) & ~(size_t)3);
	n->content = cursor_bytes(notes, ((size_t)n->size + 3) & ~(size_t)3);
	return !notes->failed;
}

size_t build_id_in_notes(struct cursor notes, uint8_t id[BUILD_ID_MAX])
{
	static const uint8_t none[BUILD_ID_MAX];	/* the vDSO of some kernels has this ID */
	struct note n;

	while (next_note(&notes, &n)) {
		if (n.type != NT_GNU_BUILD_ID || n.name_size != 4 || memcmp(n.name, "GNU", 4) ||
		    n.size == 0 || n.size > BUILD_ID_MAX)
			continue;
		memset(id, 0, BUILD_ID_MAX);
		memcpy(id, n.content, n.size);
		return memcmp(id, none, BUILD_ID_MAX) ? n.size : 0;
	}
	return 0;
}

size_t build_id_go_in_notes(struct cursor notes, uint8_t id[GO_BUILD_ID_MAX])
{
	enum { NT_GO_BUILD_ID = 4 };	/* src/cmd/internal/buildid/note.go: elfGoNoteType */
	struct note n;

	while (next_note(&notes, &n)) {
		if (n.type != NT_GO_BUILD_ID || n.name_size != 4 || memcmp(n.name, "Go\0", 4) ||
		    n.size == 0 || n.size >= GO_BUILD_ID_MAX || memchr(n.content, 0, n.size))
			continue;
		memcpy(id, n.content, n.size);
		id[n.size] = 0;
		return n.size;
	}
	return 0;
}

typedef size_t search(struct cursor notes, uint8_t *id);

static size_t in_segment(int fd, uint64_t offset, uint64_t size, search *look, uint8_t *id)
{
	uint8_t notes[NOTES_MAX];
	ssize_t n = pread(fd, notes, size < sizeof(notes) ? size : sizeof(notes), (off_t)offset);

	if (n <= 0)
		return 0;
	return look((struct cursor){ .at = notes, .end = notes + n }, id);
}

/* Search the notes of each PT_NOTE segment (elf.h: Elf64_Phdr, Elf32_Phdr). */
static size_t in_file(int fd, search *look, uint8_t *id)
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
			found = in_segment(fd, p.p64.p_offset, p.p64.p_filesz, look, id);
		else if (!is64 && p.p32.p_type == PT_NOTE)
			found = in_segment(fd, p.p32.p_offset, p.p32.p_filesz, look, id);
	}
	return found;
}

size_t build_id_of_file(int fd, uint8_t id[BUILD_ID_MAX])
{
	return in_file(fd, build_id_in_notes, id);
}

size_t build_id_go_in_file(int fd, uint8_t id[GO_BUILD_ID_MAX])
{
	return in_file(fd, build_id_go_in_notes, id);
}

size_t build_id_of_kernel(const char *module, uint8_t id[BUILD_ID_MAX])
{
	uint8_t notes[NOTES_MAX];
	ssize_t n = kernel_notes(module, notes, sizeof(notes));

	return n <= 0 ? 0 : build_id_in_notes((struct cursor){ .at = notes, .end = notes + n }, id);
}
