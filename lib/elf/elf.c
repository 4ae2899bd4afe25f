/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/internal.h"
#include "base/arena.h"
#include "base/digest.h"
#include "elf/build-id.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	HEADERS_MAX = 100000,	/* headers used of either kind: program or section headers */
	LOADS_MAX = 1000,	/* PT_LOAD segments; real files have fewer than ten */
	NOTES_MAX = 1 << 20,	/* bytes of notes searched in all: notes may overlap */
};

struct elf_bytes elf_range(const struct elf *elf, uint64_t offset, uint64_t size)
{
	if (offset > elf->image.size || size > elf->image.size - offset)
		return (struct elf_bytes){ 0 };
	return (struct elf_bytes){ elf->image.at + offset, size };
}

void elf_need(const struct elf *elf, const uint8_t *at, uint64_t size)
{
	uint64_t bytes = mapped_need(&elf->mapped, at, size);

	if (bytes)	/* a file that was read is not constant */
		elf_charge((struct elf *)(uintptr_t)elf, bytes);
}

struct elf_bytes elf_part(const struct elf *elf, uint64_t offset, uint64_t size)
{
	struct elf_bytes bytes = elf_range(elf, offset, size);

	elf_need(elf, bytes.at, bytes.size);
	return bytes;
}

const char *elf_string(struct elf_bytes table, uint64_t offset)
{
	uint64_t left = offset < table.size ? table.size - offset : 0;

	if (!left || !memchr(table.at + offset, 0, left < STRING_MAX ? left : STRING_MAX))
		return NULL;
	return (const char *)table.at + offset;
}

/*
 * Return whether each string of T ends within STRING_MAX bytes.  Reads a small part of the bytes.
 */
static bool all_end(const struct elf_bytes *t)
{
	if (!t->size || t->at[t->size - 1])
		return false;
	const uint8_t *at = t->at, *end = at + t->size;
	while (at && end - at >= STRING_MAX) {
		at = memrchr(at, 0, STRING_MAX);	/* the last end that is near enough */
		at = at ? at + 1 : NULL;
	}
	return at != NULL;
}

void elf_strings_check(struct elf_strings *t)
{
	elf_need(t->elf, t->bytes.at, t->bytes.size);
	t->is_checked = all_end(&t->bytes);
}

const char *elf_strings_find(struct elf_strings *t, uint64_t offset)
{
	enum { DUE = 64, USUAL = 512, WHOLE_MAX = 4 << 20 };
	uint64_t left = offset < t->bytes.size ? t->bytes.size - offset : 0;
	bool is_whole = !t->elf->mapped.pages || t->bytes.size <= WHOLE_MAX;

	if (t->reads < DUE && ++t->reads == DUE && is_whole)
		elf_strings_check(t);
	if (!left)
		return NULL;
	elf_need(t->elf, t->bytes.at + offset, left < USUAL ? left : USUAL);
	if (!memchr(t->bytes.at + offset, 0, left < USUAL ? left : USUAL))
		elf_need(t->elf, t->bytes.at + offset, left < STRING_MAX ? left : STRING_MAX);
	return elf_string(t->bytes, offset);
}

static uint64_t section_size(const struct elf *elf)
{
	return elf->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
}

static uint64_t program_size(const struct elf *elf)
{
	return elf->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
}

/* Elf64_Shdr, Elf32_Shdr (elf.h) */
struct elf_section elf_section_at(const struct elf *elf, uint32_t index)
{
	uint64_t size = section_size(elf);
	struct cursor c = elf_cursor(elf, elf_range(elf, elf->section_headers + index * size,
						    size));
	struct elf_section s = { 0 };

	if (c.at == c.end || index >= elf->sections)
		return s;
	s.name = cursor_u32(&c);
	s.type = cursor_u32(&c);
	s.flags = elf_word(elf, &c);
	s.address = elf_word(elf, &c);
	s.offset = elf_word(elf, &c);
	s.size = elf_word(elf, &c);
	s.link = cursor_u32(&c);
	s.info = cursor_u32(&c);
	s.alignment = elf_word(elf, &c);
	s.entry_size = elf_word(elf, &c);
	if (elf->placed)
		s.address = elf->placed[index].address;
	return s;
}

/* Return how many of the COUNT headers of SIZE bytes at OFFSET the file contains. */
static uint32_t headers_there(const struct elf *elf, uint64_t offset, uint64_t count,
			      uint64_t size)
{
	uint64_t room = offset < elf->image.size ? (elf->image.size - offset) / size : 0;

	if (count > room)
		count = room;
	return count < HEADERS_MAX ? (uint32_t)count : HEADERS_MAX;
}

/* Elf64_Ehdr, Elf32_Ehdr */
static bool read_header(struct elf *elf, const char **why)
{
	struct elf_bytes ident = elf_part(elf, 0, EI_NIDENT);

	*why = "it is not an ELF file";
	if (!ident.size || memcmp(ident.at, ELFMAG, SELFMAG))
		return false;
	elf->is64 = ident.at[EI_CLASS] == ELFCLASS64;
	elf->swap = ident.at[EI_DATA] !=
		    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
	struct cursor c = elf_cursor(elf, elf_part(elf, 0, elf->is64 ? sizeof(Elf64_Ehdr)
								     : sizeof(Elf32_Ehdr)));
	cursor_bytes(&c, EI_NIDENT);
	elf->type = cursor_u16(&c);
	elf->machine = cursor_u16(&c);
	cursor_u32(&c);		/* version */
	elf->entry = elf_word(elf, &c);
	elf->program_headers = elf_word(elf, &c);
	elf->section_headers = elf_word(elf, &c);
	cursor_u32(&c);		/* flags */
	cursor_u16(&c);		/* header size */
	cursor_u16(&c);		/* program header size */
	elf->programs = headers_there(elf, elf->program_headers, cursor_u16(&c),
				      program_size(elf));
	cursor_u16(&c);		/* section header size */
	uint64_t sections = cursor_u16(&c);
	if (elf->section_headers && sections == 0) {	/* too many for a u16 */
		elf_part(elf, elf->section_headers, section_size(elf));
		elf->sections = 1;
		sections = elf_section_at(elf, 0).size;
	}
	elf->sections = headers_there(elf, elf->section_headers, sections, section_size(elf));
	elf_part(elf, elf->section_headers, elf->sections * section_size(elf));
	*why = "it ends inside its header";
	return !c.failed;
}

struct program {
	uint32_t type, flags;
	uint64_t offset, address, file_size, memory_size, alignment;
};

/* Elf64_Phdr; in Elf32_Phdr the flags follow the sizes */
static struct program program_at(const struct elf *elf, uint32_t index)
{
	uint64_t size = program_size(elf);
	struct cursor c = elf_cursor(elf, elf_part(elf, elf->program_headers + index * size, size));
	struct program p = { .type = cursor_u32(&c) };

	if (elf->is64)
		p.flags = cursor_u32(&c);
	p.offset = elf_word(elf, &c);
	p.address = elf_word(elf, &c);
	elf_word(elf, &c);	/* physical address */
	p.file_size = elf_word(elf, &c);
	p.memory_size = elf_word(elf, &c);
	if (!elf->is64)
		p.flags = cursor_u32(&c);
	p.alignment = elf_word(elf, &c);
	return c.failed ? (struct program){ 0 } : p;
}

/* Read the PT_LOAD segments, where PT_GNU_EH_FRAME is, and the size of PT_TLS. */
static void read_segments(struct elf *elf)
{
	for (uint32_t i = 0; i < elf->programs && elf->loads < LOADS_MAX; i++) {
		struct program p = program_at(elf, i);
		if (p.type == PT_GNU_EH_FRAME) {
			elf->frame_header = p.address;
			elf->frame_header_size = p.file_size;
		}
		if (p.type == PT_TLS) {
			elf->thread_size = p.memory_size;
			elf->thread_alignment = p.alignment;
		}
		if (p.type != PT_LOAD)
			continue;
		elf->load = array_grow(elf->load, elf->loads, sizeof(*elf->load));
		elf->load[elf->loads++] = (struct elf_load){
			.is_code = p.flags & PF_X, .is_writable = p.flags & PF_W,
			.offset = p.offset, .address = p.address, .file_size = p.file_size,
			.memory_size = p.memory_size,
		};
	}
}

/* Search NOTES for a build ID.  *LEFT is the number of bytes that may still be searched. */
static void take_build_id(struct elf *elf, struct elf_bytes notes, size_t *left)
{
	uint8_t id[BUILD_ID_MAX];

	if (notes.size > *left)
		notes.size = *left;
	*left -= notes.size;
	size_t size = build_id_in_notes(elf_cursor(elf, notes), id);
	/* ID is a copy of the build ID: find the original in the image. */
	const uint8_t *at = size ? memmem(notes.at, notes.size, id, size) : NULL;
	if (at)
		elf->build_id = (struct elf_bytes){ at, size };
}

/*
 * Search sections, too: debug files may have no segments (dwz), or the program's segments,
 * whose offsets are wrong in the debug file.
 */
static void find_build_id(struct elf *elf)
{
	size_t left = NOTES_MAX;

	for (uint32_t i = 0; i < elf->programs && !elf->build_id.size && left > 0; i++) {
		struct program p = program_at(elf, i);
		if (p.type == PT_NOTE)
			take_build_id(elf, elf_part(elf, p.offset, p.file_size), &left);
	}
	for (uint32_t i = 1; i < elf->sections && !elf->build_id.size && left > 0; i++) {
		struct elf_section s = elf_section_at(elf, i);
		if (s.type == SHT_NOTE)
			take_build_id(elf, elf_part(elf, s.offset, s.size), &left);
	}
}

const char *elf_go_build_id(struct elf *elf)
{
	size_t left = NOTES_MAX;

	for (uint32_t i = 0; i < elf->programs && !*elf->go_build_id && left > 0; i++) {
		struct program p = program_at(elf, i);
		struct elf_bytes notes = elf_part(elf, p.offset, p.file_size);
		if (p.type != PT_NOTE)
			continue;
		notes.size = notes.size < left ? notes.size : left;
		left -= notes.size;
		build_id_go_in_notes(elf_cursor(elf, notes), (uint8_t *)elf->go_build_id);
	}
	return elf->go_build_id;
}

/* e_shstrndx, the header's last field; SHN_XINDEX: the first section's link */
static void find_section_names(struct elf *elf)
{
	uint64_t end = elf->is64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	struct cursor c = elf_cursor(elf, elf_part(elf, end - 2, 2));
	uint32_t index = cursor_u16(&c);

	if (index == SHN_XINDEX)
		index = elf_section_at(elf, 0).link;
	struct elf_section names = elf_section_at(elf, index);
	if (names.type == SHT_STRTAB)
		elf->section_names = elf_part(elf, names.offset, names.size);
}

struct elf *elf_open_image(struct elf *elf, const char **why)
{
	if (!read_header(elf, why)) {
		elf_close(elf);
		return NULL;
	}
	read_segments(elf);
	find_build_id(elf);
	find_section_names(elf);
	if (elf->type == ET_REL)
		elf_place_sections(elf);
	return elf;
}

const char *elf_path(const struct elf *elf)
{
	return elf->path ? elf->path : "";
}

void elf_close(struct elf *elf)
{
	if (!elf)
		return;
	if (elf->further_users) {
		elf->further_users--;
		return;
	}
	if (elf->pool)
		elf_pool_remove(elf);
	while (elf->inflated) {
		struct inflated *next = elf->inflated->next;
		free(elf->inflated->bytes);
		free(elf->inflated);
		elf->inflated = next;
	}
	mapped_close(&elf->mapped);
	elf_close(elf->mini);
	free(elf->owned);
	free(elf->load);
	free(elf->path);
	free(elf->code.symbol);
	free(elf->variables.symbol);
	free(elf->relocation);
	free(elf->placed);
	arena_release(&elf->arena);
	intern_release(&elf->names);
	free(elf);
}

void **elf_beside(struct elf *elf)
{
	return &elf->beside;
}

void elf_rest(const struct elf *elf)
{
	if (!elf->mapped.pages)	/* in the library, nobody would read them again */
		mapped_rest(&elf->mapped, elf->mapped.at, elf->mapped.size);
}

struct elf_bytes elf_image(const struct elf *elf)
{
	return elf_part(elf, 0, elf->image.size);
}

uint64_t elf_identity(const struct elf *elf)
{
	if (!elf || !elf->mapped.at)
		return 0;
	uint64_t id = digest_bytes(elf->build_id.at, elf->build_id.size);

	id = digest_more(digest_more(id, elf->mapped.size), (uint64_t)elf->mapped.modified);
	id = elf->part ? digest_more(id, elf->part) : id;
	/* An attacker can forge all of the above, but not the owner. */
	return digest_more(id, elf->mapped.owner) | 1;
}

bool elf_is_cut(const struct elf *elf)
{
	return elf && elf->mapped.is_cut;
}

size_t elf_build_id(const struct elf *elf, const uint8_t **id)
{
	*id = elf->build_id.at;
	return elf->build_id.size;
}

bool elf_segment(const struct elf *elf, uint64_t file_offset, struct elf_segment *out)
{
	const uint64_t page = 4096;	/* the smallest: what larger pages add is not code */
	bool found = false;

	for (uint32_t i = 0; i < elf->loads; i++) {
		struct elf_load p = elf->load[i];
		uint64_t lead = p.offset & (page - 1);
		if (!p.is_code || p.file_size > UINT64_MAX / 2 ||
		    p.address < lead)
			continue;
		uint64_t start = p.offset - lead;
		uint64_t size = (lead + p.file_size + page - 1) & ~(page - 1);
		if (file_offset < start || file_offset - start >= size ||
		    size > UINT64_MAX - (p.address - lead))
			continue;
		bool is_its_own = file_offset >= p.offset && file_offset - p.offset < p.file_size;
		if (found && !is_its_own)
			continue;
		*out = (struct elf_segment){ .address = p.address - lead, .size = size,
					     .file_offset = start };
		found = true;
		if (is_its_own)		/* other segments may share the page with these bytes */
			break;
	}
	return found;
}

struct elf_bases elf_bases(const struct elf *elf)
{
	struct elf_bases bases = { .is_movable = elf->type == ET_DYN };
	const uint64_t in_page = 4095;

	if (elf->loads)
		bases.first = elf->load[0].address & ~in_page;
	for (uint32_t i = 0; i < elf->loads && !bases.code.size; i++)
		if (elf->load[i].is_code)
			elf_segment(elf, elf->load[i].offset, &bases.code);
	return bases;
}

int64_t elf_modified(const struct elf *elf)
{
	return elf->mapped.at ? elf->mapped.modified : 0;
}

/* Return the bytes of address space from the first segment's start to the last one's end. */
static uint64_t room_for_all(const struct elf *elf)
{
	uint64_t start = UINT64_MAX, end = 0;

	for (uint32_t i = 0; i < elf->loads; i++) {
		struct elf_load p = elf->load[i];
		if (p.memory_size > UINT64_MAX - p.address)
			continue;
		start = p.address < start ? p.address : start;
		end = p.address + p.memory_size > end ? p.address + p.memory_size : end;
	}
	return start < end ? end - start : 0;
}

bool elf_may_map(const struct elf *elf, uint64_t file_offset, uint64_t size, uint64_t page)
{
	uint64_t room = room_for_all(elf);

	for (uint32_t i = 0; i < elf->loads; i++) {
		struct elf_load p = elf->load[i];
		uint64_t start = p.offset & ~(page - 1);
		if (!p.is_code || file_offset < start ||
		    p.offset > elf->image.size || p.file_size > elf->image.size - p.offset)
			continue;
		uint64_t before = file_offset - start, whole = p.offset - start + p.file_size;
		if (before < whole && (size <= ((whole + page - 1) & ~(page - 1)) - before ||
				       (before == 0 && size < room + 2 * page)))
			return true;
	}
	return false;
}

void elf_text(const struct elf *elf, uint64_t *start, uint64_t *end)
{
	*start = elf->placed ? 0 : UINT64_MAX;
	*end = elf->placed_end;
	for (uint32_t i = 0; i < elf->loads; i++) {
		struct elf_load p = elf->load[i];
		if (!p.is_code ||
		    p.memory_size > UINT64_MAX - p.address)
			continue;
		if (p.address < *start)
			*start = p.address;
		if (p.address + p.memory_size > *end)
			*end = p.address + p.memory_size;
	}
	if (*end == 0)
		*start = 0;
}

bool elf_next_segment(const struct elf *elf, uint32_t *index, struct elf_bytes *out)
{
	while (*index < elf->loads) {
		const struct elf_load *p = &elf->load[(*index)++];
		*out = elf_part(elf, p->offset, p->file_size);
		if (p->is_code && out->size)
			return true;
	}
	return false;
}

/* Return the first segment that contains ADDRESS and has contents there; NULL: none. */
static const struct elf_load *load_at(const struct elf *elf, uint64_t address)
{
	for (uint32_t i = 0; i < elf->loads; i++) {
		const struct elf_load *p = &elf->load[i];
		if (address >= p->address && address - p->address < p->file_size &&
		    p->offset <= UINT64_MAX - p->file_size)
			return p;
	}
	return NULL;
}

/* Return at most MOST bytes of P, from ADDRESS on. */
static struct elf_bytes part_of(const struct elf *elf, const struct elf_load *p, uint64_t address,
				uint64_t most)
{
	uint64_t from = address - p->address;
	struct elf_bytes bytes = elf_range(elf, p->offset + from, p->file_size - from);

	bytes.size = bytes.size < most ? bytes.size : most;
	elf_need(elf, bytes.at, bytes.size);
	return bytes;
}

struct elf_bytes elf_at_address(const struct elf *elf, uint64_t address, uint64_t most)
{
	const struct elf_load *p = load_at(elf, address);

	return p ? part_of(elf, p, address, most) : (struct elf_bytes){ 0 };
}

struct elf_bytes elf_constant_at(const struct elf *elf, uint64_t address, uint64_t most)
{
	const struct elf_load *p = load_at(elf, address);

	return p && !p->is_writable ? part_of(elf, p, address, most) : (struct elf_bytes){ 0 };
}

struct elf_bytes elf_frame_header(const struct elf *elf, uint64_t *address)
{
	*address = elf->frame_header;
	return elf_at_address(elf, elf->frame_header, elf->frame_header_size);
}

uint16_t elf_machine(const struct elf *elf)
{
	return elf->is64 ? elf->machine : EM_NONE;
}

uint64_t elf_entry(const struct elf *elf)
{
	return elf->entry;
}

bool elf_is_swapped(const struct elf *elf)
{
	return elf->swap;
}

uint32_t elf_sections(const struct elf *elf)
{
	return elf->sections;
}

uint64_t elf_stored(const struct elf *elf)
{
	return elf->data;
}

struct cursor elf_cursor(const struct elf *elf, struct elf_bytes bytes)
{
	const uint8_t *end = bytes.size ? bytes.at + bytes.size : bytes.at;	/* may be NULL */

	return (struct cursor){ .at = bytes.at, .end = end, .swap = elf->swap };
}
