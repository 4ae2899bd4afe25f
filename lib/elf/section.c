/* SPDX-License-Identifier: Apache-2.0 */
/* Find sections by name.  Compressed sections are unpacked once, at the first request. */
#include "base/arena.h"
#include "elf/internal.h"

#include <elf.h>
#include <stdlib.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

enum { PACKED_LEAST = 64 };	/* bytes charged for each section, to limit how many are unpacked */

const char *elf_section_name(const struct elf *elf, const struct elf_section *s)
{
	return elf_string(elf->section_names, s->name);
}

/* Return whether the name of section S is NAME. */
static bool is_called(const struct elf *elf, const struct elf_section *s, const char *name)
{
	size_t size = strlen(name) + 1;
	struct elf_bytes names = elf->section_names;

	return s->name < names.size && size <= names.size - s->name &&
	       !memcmp(names.at + s->name, name, size);
}

/* Return the index of the next section NAME with contents after section AFTER, or 0. */
static uint32_t find_section(const struct elf *elf, const char *name, uint32_t after)
{
	for (uint32_t i = after + 1; i < elf->sections; i++) {
		struct elf_section s = elf_section_at(elf, i);
		if (s.type != SHT_NOBITS && s.type != SHT_NULL && is_called(elf, &s, name))
			return i;
	}
	return 0;
}

bool elf_has_code(const struct elf *elf)
{
	for (uint32_t i = 1; i < elf->sections; i++) {
		struct elf_section s = elf_section_at(elf, i);
		if (s.type == SHT_PROGBITS && s.flags & SHF_EXECINSTR)
			return true;
	}
	return elf->sections == 0;
}

bool elf_has_dwarf(const struct elf *elf)
{
	return find_section(elf, ".debug_info", 0) || find_section(elf, ".zdebug_info", 0);
}

bool elf_has_debug(const struct elf *elf)
{
	return elf_has_dwarf(elf) || find_section(elf, ".symtab", 0);
}

bool elf_find_section(const struct elf *elf, const char *name, struct elf_section *out)
{
	uint32_t index = find_section(elf, name, 0);

	*out = elf_section_at(elf, index);
	return index != 0;
}

/* Return the SIZE bytes unpacked from PACKED of section INDEX, and relocated; NULL: damaged. */
static uint8_t *unpacked(struct elf *elf, uint32_t index, enum packing packing,
			 struct elf_bytes packed, uint64_t size)
{
	uint8_t *bytes = inflate_section(elf, packing, packed, size);

	if (bytes)
		elf_relocate(elf, index, bytes, size);
	return bytes;
}

/* Get the unpacked contents of section INDEX: unpack them, unless that was done before. */
static bool unpack(struct elf *elf, uint32_t index, enum packing packing, struct cursor *packed,
		   uint64_t size, struct elf_bytes *out)
{
	struct inflated *i = elf->inflated;

	while (i && i->section != index)
		i = i->next;
	if (!i) {
		i = mem_zeroed(1, sizeof(*i));
		i->section = index;
		i->next = elf->inflated;
		elf->inflated = i;
		if (!packed->failed)
			i->bytes = unpacked(elf, index, packing, (struct elf_bytes){ packed->at,
					    cursor_left(packed) }, size);
		i->size = i->bytes ? size : 0;
	}
	*out = (struct elf_bytes){ i->bytes, i->size };
	return i->size > 0;
}

/* Elf64_Chdr, Elf32_Chdr (elf.h), then the stream */
static bool unpack_flagged(struct elf *elf, uint32_t index, struct elf_bytes bytes,
			   struct elf_bytes *out)
{
	struct cursor c = elf_cursor(elf, bytes);
	uint32_t type = cursor_u32(&c);

	if (elf->is64)
		cursor_u32(&c);		/* reserved */
	uint64_t size = elf_word(elf, &c);
	elf_word(elf, &c);		/* alignment */
	if (type != ELFCOMPRESS_ZLIB && type != ELFCOMPRESS_ZSTD)
		return false;
	return unpack(elf, index, type == ELFCOMPRESS_ZLIB ? PACKED_ZLIB : PACKED_ZSTD,
		      &c, size, out);
}

/* ".zdebug_*": "ZLIB", the size in 8 bytes, big-endian, then the stream */
static bool unpack_old(struct elf *elf, uint32_t index, struct elf_bytes bytes,
		       struct elf_bytes *out)
{
	struct cursor c = elf_cursor(elf, bytes);
	const void *magic = cursor_bytes(&c, 4);

	c.swap = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	uint64_t size = cursor_u64(&c);
	if (!magic || memcmp(magic, "ZLIB", 4))
		return false;
	return unpack(elf, index, PACKED_ZLIB, &c, size, out);
}

/* Get the contents of section INDEX.  If they are not unpacked, elf_need() has not been called. */
static bool contents(struct elf *elf, uint32_t index, bool is_old, struct elf_bytes *out)
{
	struct elf_section s = elf_section_at(elf, index);
	struct elf_bytes bytes = elf_range(elf, s.offset, s.size);
	bool is_relocated = bytes.size && elf_has_relocations(elf, index);

	if (is_old || s.flags & SHF_COMPRESSED || is_relocated)
		elf_need(elf, bytes.at, bytes.size);
	if (is_old)
		return unpack_old(elf, index, bytes, out);
	if (s.flags & SHF_COMPRESSED)
		return unpack_flagged(elf, index, bytes, out);
	if (is_relocated) {
		struct cursor c = elf_cursor(elf, bytes);
		return unpack(elf, index, PACKED_NOT, &c, bytes.size, out);
	}
	*out = bytes;
	return bytes.size > 0;
}

/* Free the contents of section INDEX, if it is the one that was unpacked last. */
static void forget(struct elf *elf, uint32_t index)
{
	struct inflated *i = elf->inflated;

	if (!i || i->section != index)
		return;
	elf->inflated = i->next;
	elf->unpackable += i->size;
	elf_charge(elf, -i->size);	/* inflate_section() has charged it */
	free(i->bytes);
	free(i);
}

/*
 * Return the index of the first section NAME, from INDEX on, whose contents pass IS_WANTED;
 * 0: none.  Sections may overlap, so the total size of the sections that are
 * unpacked in vain is limited to the size of the file.
 */
static uint32_t find_wanted(struct elf *elf, const char *name, uint32_t index, bool is_old,
			    elf_section_test *is_wanted)
{
	struct fuel fuel = { elf->image.size };
	struct elf_bytes bytes;

	for (; index; index = find_section(elf, name, index)) {
		const struct inflated *before = elf->inflated;
		if (contents(elf, index, is_old, &bytes) && is_wanted(elf, bytes))
			return index;
		if (elf->inflated == before)
			continue;
		uint64_t packed = elf_section_at(elf, index).size + PACKED_LEAST;
		forget(elf, index);
		if (!fuel_take(&fuel, packed))
			break;
	}
	return 0;
}

bool elf_section_range(struct elf *elf, const char *name, elf_section_test *is_wanted,
		       struct elf_bytes *out)
{
	char old[64];
	bool is_old = false;
	uint32_t index = find_section(elf, name, 0);

	*out = (struct elf_bytes){ 0 };
	if (!index && !strncmp(name, ".debug_", 7)) {
		snprintf(old, sizeof(old), ".z%s", name + 1);
		name = old;
		index = find_section(elf, name, 0);
		is_old = true;
	}
	if (!index)
		return false;
	if (is_wanted && find_section(elf, name, index)) {
		uint32_t wanted = find_wanted(elf, name, index, is_old, is_wanted);
		index = wanted ? wanted : index;
	}
	return contents(elf, index, is_old, out);
}

bool elf_section(struct elf *elf, const char *name, struct elf_bytes *out)
{
	bool is_found = elf_section_range(elf, name, NULL, out);

	elf_need(elf, out->at, out->size);
	return is_found;
}

bool elf_has_refused(const struct elf *elf)
{
	return elf && elf->refused;
}
