/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of the table, as Go's runtime reads it (runtime/symtab.go):
 *
 *	u32 magic;  u16 0;  u8 instruction size;  u8 word size;
 *	words, depending on the version:
 *	1.2   functions; then the pairs; then u32 the offset of the file names
 *	1.16  functions, files, offsets of: names, units, files, values, pairs
 *	1.18  functions, files, start of text, and the same offsets
 *
 * The pairs (entry address, offset of the function's description) are sorted by entry. Up to
 * 1.16 they are words; later they are u32, and the entry counts from the start of text. A
 * description refers to run-length tables that map the program counter to the line, the file,
 * and the index in a tree of inlined calls. That tree is not in the table itself. The program's
 * moduledata says where it is; up to 1.17 the description does.
 */
#include "symbol/gotable.h"
#include "base/arena.h"
#include "base/bisect.h"
#include "base/fuel.h"
#include "elf/section.h"

#include <elf.h>
#include <stdlib.h>

/* The lowest byte of the magic number. */
enum { GO_1_2 = 0xfb, GO_1_16 = 0xfa, GO_1_18 = 0xf0, GO_1_20 = 0xf1 };
/*
 * A value is found by reading from the function's start. Fuel bounds repeated reading: how often
 * each byte that the file stores may be read, and more bytes for each lookup.
 */
enum { FUEL_TIMES = 32, FUEL_EACH = 8192 };
enum { PCDATA_INLINE_INDEX = 2, FUNCDATA_INLINE_TREE = 3 };

struct gotable {
	struct elf *elf;
	struct elf_bytes bytes;
	uint8_t version, quantum, word;	/* QUANTUM: size of an instruction */
	uint64_t address, functions, text;	/* the table; number of functions; start of text */
	uint64_t names, units, files, values, pairs;	/* offsets in BYTES */
	struct fuel fuel;		/* bytes of values that may still be read */
	struct elf_damage damage;	/* the first */
	uint64_t data;		/* address of function data (1.18 on); 0: unknown */
	struct go_frame frame[GO_FRAMES_MAX];
};

/* A function's description. */
struct description {
	uint64_t entry, end;
	uint32_t name, stack, files, lines, inline_index, unit, start_line;
	bool has_inline;
	uint64_t tree;			/* address of the inlined calls; 0: none */
};

static struct cursor at(const struct gotable *t, uint64_t offset)
{
	struct cursor c = elf_cursor(t->elf, t->bytes);

	if (offset > t->bytes.size)
		return (struct cursor){ .failed = true };
	c.at += offset;
	return c;
}

static uint64_t word(const struct gotable *t, struct cursor *c)
{
	return t->word == 8 ? cursor_u64(c) : cursor_u32(c);
}

/* Note damage at OFFSET of the table. */
static void damaged(struct gotable *t, uint64_t offset)
{
	if (!t->damage.section && !elf_is_cut(t->elf))
		t->damage = (struct elf_damage){ ".gopclntab", offset };
}

/* Return a signed number, whose lowest bit is its sign. */
static inline uint32_t signed_delta(uint64_t delta)
{
	return (uint32_t)(delta & 1 ? ~(delta >> 1) : delta >> 1);
}

/* A run-length table while it is read: VALUE holds up to PC. */
struct value_run {
	struct cursor c;
	uint64_t pc;
	uint32_t value;
};

/* Read an unsigned LEB128 number of one byte or two, of which two are there; NULL: it has more. */
static inline const uint8_t *read_short(const uint8_t *at, uint32_t *number)
{
	*number = at[0] & 0x7f;
	if (at[0] < 0x80)
		return at + 1;
	*number |= (uint32_t)at[1] << 7;
	return at[1] < 0x80 ? at + 2 : NULL;
}

/* Read pairs of short numbers, the usual case, up to the pair that passes ADDRESS. */
static inline void pass_short_pairs(struct value_run *run, uint32_t quantum, uint64_t address)
{
	const uint8_t *at = run->c.at, *end = run->c.end, *next;
	uint64_t pc = run->pc;
	uint32_t value = run->value, delta, step;

	while (address >= pc && end - at >= 4 && (next = read_short(at, &delta)) && delta &&
	       (next = read_short(next, &step))) {
		value += signed_delta(delta);
		pc += (uint64_t)step * quantum;
		at = next;
	}
	run->c.at = at;
	run->pc = pc;
	run->value = value;
}

/* Return the value at ADDRESS in the run-length table at offset VALUES; -1: none. */
static int32_t value_at(struct gotable *t, const struct description *d, uint32_t values,
			uint64_t address)
{
	struct value_run run = { at(t, t->values + values), d->entry, UINT32_MAX };
	struct cursor *c = &run.c;
	const uint8_t *start = c->at;

	if (cursor_left(c) > t->fuel.left)
		c->end = c->at + t->fuel.left;
	for (bool first = true; values && !c->failed; first = false) {
		uint64_t delta = cursor_uleb(c);
		if (delta == 0 && !first)
			break;
		run.value += signed_delta(delta);
		run.pc += cursor_uleb(c) * t->quantum;
		if (!c->failed)
			pass_short_pairs(&run, t->quantum, address);
		if (!c->failed && address < run.pc) {
			fuel_take(&t->fuel, (uint64_t)(c->at - start));
			return (int32_t)run.value;
		}
	}
	fuel_take(&t->fuel, values ? (uint64_t)(c->at - start) : 0);
	return -1;
}

/* Read the pair INDEX. The one after the last has the end of text as its entry. */
static bool pair_at(const struct gotable *t, uint64_t index, uint64_t *entry, uint64_t *offset)
{
	bool is_short = t->version == GO_1_18 || t->version == GO_1_20;
	struct cursor c = at(t, t->pairs + index * 2 * (is_short ? 4 : t->word));

	*entry = is_short ? t->text + cursor_u32(&c) : word(t, &c);
	bool good = !c.failed;
	*offset = is_short ? cursor_u32(&c) : word(t, &c);
	return good;
}

/* Return the address of the tree that function data at C refer to, or 0. */
static uint64_t tree_at(const struct gotable *t, struct cursor *c)
{
	if (t->version == GO_1_16)
		return word(t, c);
	uint32_t offset = cursor_u32(c);
	return c->failed || offset == UINT32_MAX || !t->data ? 0 : t->data + offset;
}

/* Find the tree of inlined calls, if the function has one, by the tail of its description. */
static void read_tail(const struct gotable *t, struct cursor *c, uint32_t pcdata_count,
		      uint8_t funcdata_count, struct description *d)
{
	for (uint32_t i = 0; i < pcdata_count && !c->failed; i++) {
		uint32_t values = cursor_u32(c);
		if (i == PCDATA_INLINE_INDEX)
			d->inline_index = values;
	}
	if (c->failed || d->inline_index == 0 || funcdata_count <= FUNCDATA_INLINE_TREE)
		return;
	unsigned size = t->version == GO_1_16 ? t->word : 4;
	cursor_bytes(c, -(size_t)(c->at - t->bytes.at) & (size - 1));
	cursor_bytes(c, FUNCDATA_INLINE_TREE * size);
	d->tree = tree_at(t, c);
	d->has_inline = d->tree && elf_at_address(t->elf, d->tree, 1).size;
}

/* Read a struct _func (runtime/runtime2.go) at OFFSET; its layout depends on the version. */
static bool read_description(const struct gotable *t, uint64_t offset, struct description *d)
{
	bool is_new = t->version == GO_1_18 || t->version == GO_1_20;
	struct cursor c = at(t, offset);

	if (is_new)
		cursor_u32(&c);		/* entry, as in the pair */
	else
		word(t, &c);
	d->name = cursor_u32(&c);
	cursor_u32(&c);			/* arguments */
	cursor_u32(&c);			/* deferreturn */
	d->stack = cursor_u32(&c);
	d->files = cursor_u32(&c);
	d->lines = cursor_u32(&c);
	uint32_t pcdata_count = cursor_u32(&c);
	if (t->version != GO_1_2)
		d->unit = cursor_u32(&c);
	if (t->version == GO_1_20)
		d->start_line = cursor_u32(&c);
	if (c.failed)
		return false;
	const uint8_t *kinds = cursor_bytes(&c, 4);	/* function, flag, 0, count of funcdata */
	if (t->version != GO_1_2 && kinds)
		read_tail(t, &c, pcdata_count, kinds[3], d);
	return true;
}

/*
 * Find the pair of the function that covers ADDRESS, the last pair whose entry is not after
 * ADDRESS.  Set RANGE to the function's addresses, and OFFSET to that of its description.
 */
static bool find_pair(const struct gotable *t, uint64_t address, struct extent *range,
		      uint64_t *offset)
{
	uint64_t entry, ignored;
	size_t next = BISECT(0, t->functions, i,
			     !pair_at(t, i, &entry, offset) || entry > address);

	return next > 0 && pair_at(t, next - 1, &range->start, offset) &&
	       pair_at(t, next, &range->end, &ignored) && address < range->end;
}

/* Find the function that covers ADDRESS. */
static bool find_function(struct gotable *t, uint64_t address, struct description *d)
{
	struct extent range;
	uint64_t offset;

	*d = (struct description){ 0 };
	if (!find_pair(t, address, &range, &offset))
		return false;
	d->entry = range.start;
	d->end = range.end;
	if (t->version != GO_1_2)
		offset += t->pairs;
	bool good = read_description(t, offset, d);
	if (!good || t->names + d->name >= t->bytes.size)
		damaged(t, offset);
	return good;
}

static const char *file_name(const struct gotable *t, const struct description *d, int32_t file)
{
	uint64_t unit = (uint64_t)d->unit + (uint32_t)file;
	struct cursor c;

	if (file < 0)
		return NULL;
	/* Offsets of names: up to 1.15 one table for all, counted from 1; later one per unit. */
	c = at(t, t->version == GO_1_2 ? t->files + 4ULL * (uint32_t)file : t->units + 4 * unit);
	uint32_t offset = cursor_u32(&c);
	if (c.failed)
		return NULL;
	return elf_string(t->bytes, t->version == GO_1_2 ? offset : t->files + offset);
}

static void set_position(struct gotable *t, const struct description *d, uint64_t address,
			 struct go_frame *frame)
{
	int32_t line = value_at(t, d, d->lines, address);

	frame->file = file_name(t, d, value_at(t, d, d->files, address));
	frame->line = line > 0 ? (uint32_t)line : 0;
}

struct inlined {
	uint32_t name, parent, start_line;	/* PARENT: offset of the call from the entry */
};

/* Read a struct inlinedCall (runtime/symtabinl.go), whose layout depends on the version. */
static bool read_inlined(const struct gotable *t, const struct description *d, int32_t index,
			 struct inlined *out)
{
	uint64_t size = t->version == GO_1_20 ? 16 : 20;
	struct cursor c = elf_cursor(t->elf, elf_at_address(t->elf, d->tree + (uint32_t)index *
							    size, size));

	*out = (struct inlined){ 0 };
	cursor_u32(&c);			/* kind; and the parent, before 1.20 */
	if (t->version != GO_1_20) {
		cursor_u32(&c);		/* file */
		cursor_u32(&c);		/* line */
	}
	out->name = cursor_u32(&c);
	out->parent = cursor_u32(&c);
	if (t->version == GO_1_20)
		out->start_line = cursor_u32(&c);
	return !c.failed;
}

size_t gotable_find(struct gotable *t, uint64_t address, const struct go_frame **frames)
{
	struct description d;
	struct inlined call;
	size_t count = 0;

	if (!t || elf_is_cut(t->elf) || !find_function(t, address, &d))
		return 0;
	t->fuel.left += FUEL_EACH;
	for (; count < GO_FRAMES_MAX - 1 && d.has_inline; count++) {
		int32_t index = value_at(t, &d, d.inline_index, address);
		if (index < 0 || !read_inlined(t, &d, index, &call))
			break;
		struct go_frame *frame = &t->frame[count];
		set_position(t, &d, address, frame);
		frame->function = elf_string(t->bytes, t->names + call.name);
		frame->start_line = call.start_line;
		address = d.entry + call.parent;
	}
	set_position(t, &d, address, &t->frame[count]);
	t->frame[count].function = elf_string(t->bytes, t->names + d.name);
	t->frame[count++].start_line = d.start_line;
	*frames = t->frame;
	return count;
}

bool gotable_stack(struct gotable *t, uint64_t address, uint32_t *bytes)
{
	const int32_t most = 64 << 20;	/* bytes */
	struct description d;

	if (!t || elf_is_cut(t->elf) || !find_function(t, address, &d))
		return false;
	t->fuel.left += FUEL_EACH;
	int32_t size = value_at(t, &d, d.stack, address);
	*bytes = (uint32_t)size;
	return size >= 0 && size <= most && size % t->word == 0;
}

struct extent gotable_function(const struct gotable *t, uint64_t address)
{
	struct extent range;
	uint64_t ignored;

	return t && find_pair(t, address, &range, &ignored) ? range : (struct extent){ 0, 0 };
}

bool gotable_named(struct gotable *t, const char *name, uint64_t *start, uint64_t *end)
{
	struct description d;
	uint64_t offset;

	for (uint64_t i = 0; t && t->fuel.left && !elf_is_cut(t->elf) && i < t->functions; i++) {
		if (!pair_at(t, i, start, &offset) || !pair_at(t, i + 1, end, &(uint64_t){ 0 }))
			return false;
		d = (struct description){ .entry = *start };
		if (t->version != GO_1_2)
			offset += t->pairs;
		if (!read_description(t, offset, &d))
			continue;
		const char *own = elf_string(t->bytes, t->names + d.name);
		fuel_take_some(&t->fuel, own ? strlen(own) : 0);
		if (own && !strcmp(own, name))
			return *end > *start;
	}
	return false;
}

bool gotable_damage(const struct gotable *t, struct elf_damage *out)
{
	*out = t ? t->damage : (struct elf_damage){ 0 };
	return out->section;
}

void gotable_narrow(const struct gotable *t, uint64_t address, struct extent *same)
{
	uint64_t start, end, ignored;

	if (!t)
		return;
	bool good = pair_at(t, 0, &start, &ignored) && pair_at(t, t->functions, &end, &ignored);
	if (good && address < start)
		extent_narrow(same, 0, start);
	else if (good && address >= end)
		extent_narrow(same, end, UINT64_MAX);
	else			/* the table is partly damaged */
		extent_narrow(same, address, address + 1);
}

/* Return the word at ADDRESS in the program's data: its relocated value, or else the file's. */
static uint64_t data_word(const struct gotable *t, uint64_t address)
{
	struct cursor c = elf_cursor(t->elf, elf_at_address(t->elf, address, sizeof(uint64_t)));
	uint64_t value;

	return elf_relocated(t->elf, address, &value) ? value : cursor_u64(&c);
}

/* Return the address of function data, from moduledata (runtime/symtab.go) at MODULE. */
static uint64_t data_of_module(const struct gotable *t, uint64_t module)
{
	enum { GOFUNC_1_18 = 38, GOFUNC_1_20 = 40, GOFUNC_MAX = 48 };	/* words */

	if (t->version == GO_1_18)
		return data_word(t, module + 8 * GOFUNC_1_18);
	/* From 1.26 on the next word is the end of the table; other fields moved in 1.27. */
	for (uint64_t i = GOFUNC_1_20; i < GOFUNC_MAX; i++)
		if (data_word(t, module + 8 * (i + 1)) == t->address + t->bytes.size)
			return data_word(t, module + 8 * i);
	return data_word(t, module + 8 * GOFUNC_1_20);
}

/* If MODULE is the address of moduledata, take the start of text and of function data from it. */
static bool take_module(struct gotable *t, uint64_t module)
{
	enum { TEXT = 22 };	/* words */
	uint64_t text = data_word(t, module + 8 * TEXT), low, high;

	elf_text(t->elf, &low, &high);
	if ((t->text && text != t->text) || text < low || text >= high)
		return false;
	t->text = text;
	t->data = data_of_module(t, module);
	return true;
}

/* Search moduledata among the program's variables: its first word is the table's address. */
static void find_module(struct gotable *t)
{
	int tries = 16;		/* each may look through all relocations */
	uint64_t left = elf_stored(t->elf);	/* bytes to search: sections may overlap */
	uint64_t slot = 0;

	for (uint32_t i = 1; i < elf_sections(t->elf) && t->word == 8; i++) {
		struct elf_section s = elf_section_at(t->elf, i);
		if (s.type != SHT_PROGBITS || !(s.flags & SHF_WRITE) || s.size > left)
			continue;
		left -= s.size;
		struct cursor c = elf_cursor(t->elf, elf_part(t->elf, s.offset, s.size));
		for (uint64_t k = 0; cursor_left(&c) >= 8; k += 8)
			if (cursor_u64(&c) == t->address &&
			    (tries-- == 0 || take_module(t, s.address + k)))
				return;
	}
	/* In the file, words that the dynamic linker fills in may be zero. */
	while (t->word == 8 && tries-- > 0 && elf_relocated_to(t->elf, t->address, &slot))
		if (take_module(t, slot))
			return;
}

/* Find the start of text if the header has none: its word may be relocated. */
static void find_text(struct gotable *t)
{
	struct elf_section s;

	if (t->text || elf_relocated(t->elf, t->address + 8 + 2 * t->word, &t->text))
		return;
	if (elf_find_section(t->elf, ".text", &s))
		t->text = s.address;
}

static bool read_header(struct gotable *t)
{
	struct cursor c = at(t, 0);
	uint32_t magic = cursor_u32(&c);
	const uint8_t *sizes = cursor_bytes(&c, 4);

	if (!sizes || magic >> 8 != 0xffffff || sizes[0] || sizes[1] ||
	    (sizes[3] != 4 && sizes[3] != 8))
		return false;
	t->version = magic & 0xff;
	t->quantum = sizes[2];
	t->word = sizes[3];
	t->functions = word(t, &c);
	switch (t->version) {
	case GO_1_2:
		t->pairs = 8 + t->word;
		if (t->functions < t->bytes.size) {
			struct cursor end = at(t, t->pairs + (2 * t->functions + 1) * t->word);
			t->files = cursor_u32(&end);
		}
		return t->functions < t->bytes.size;
	case GO_1_16:
	case GO_1_18:
	case GO_1_20:
		word(t, &c);		/* files */
		if (t->version != GO_1_16)
			t->text = word(t, &c);
		t->names = word(t, &c);
		t->units = word(t, &c);
		t->files = word(t, &c);
		t->values = word(t, &c);
		t->pairs = word(t, &c);
		if (c.failed || t->functions >= t->bytes.size || t->names > t->bytes.size ||
		    t->units > t->bytes.size || t->files > t->bytes.size ||
		    t->values > t->bytes.size || t->pairs > t->bytes.size)
			return false;
		if (t->version != GO_1_16) {
			find_module(t);
			find_text(t);
		}
		return true;
	}
	return false;
}

/* Read the table at OFFSET of S, whose contents have been read. */
static bool read_at(struct gotable *t, const struct elf_section *s, uint64_t offset)
{
	t->bytes = elf_range(t->elf, s->offset + offset, s->size - offset);
	t->address = s->address + offset;
	return t->bytes.size && read_header(t);
}

/*
 * Search the table in position-independent programs that contain C: the C linker puts the table
 * between other data.
 */
static bool find_among_data(struct gotable *t)
{
	enum { ALIGNMENT = 16 };
	struct elf_section s;

	if (!elf_find_section(t->elf, ".go.buildinfo", &s) ||
	    !elf_find_section(t->elf, ".data.rel.ro", &s))
		return false;
	uint64_t size = elf_part(t->elf, s.offset, s.size).size;	/* 0: it is truncated */
	for (uint64_t i = -s.address & (ALIGNMENT - 1); i < size; i += ALIGNMENT)
		if (read_at(t, &s, i))
			return true;
	return false;
}

struct gotable *gotable_open(struct elf *elf)
{
	struct gotable *t = mem_zeroed(1, sizeof(*t));
	struct elf_section s;
	bool is_alone = elf_find_section(elf, ".gopclntab", &s) ||
			elf_find_section(elf, ".data.rel.ro.gopclntab", &s);

	t->elf = elf;
	t->fuel.left = FUEL_TIMES * elf_stored(elf);
	if (is_alone ? elf_part(elf, s.offset, s.size).size && read_at(t, &s, 0)
		     : find_among_data(t))
		return t;
	free(t);
	return NULL;
}

void gotable_close(struct gotable *t)
{
	free(t);
}
