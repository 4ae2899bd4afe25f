/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find the FDE of an address.  Most files have a sorted table of all FDEs, in .eh_frame_hdr (LSB
 * Core 5.0, chapter 10.6.2).  Without a usable table, all entries are read and sorted once.
 *
 * Nothing relies on the table: the FDE that it names must start at the address that it says,
 * and must contain the address looked for.  If the table is wrong about an FDE, the sorted
 * entries decide.  Where FDEs overlap, the one with the last start wins.
 */
#include "base/arena.h"
#include "base/bisect.h"
#include "cfi/cfi-internal.h"
#include "dwarf/constants.h"

#include <stdlib.h>

enum {
	ENTRIES_MAX = 2 * CFI_FDES_MAX,	/* entries of any kind that are read */
	TWINS_MAX = 16,			/* FDEs with the same start that are tried */
	PAIR = 8,			/* bytes of a row of the table: two 4-byte numbers */
};

void cfi_section_damaged(struct cfi_section *s, uint64_t offset, enum cfi_limit limit)
{
	if (!s->damage.section)
		s->damage = (struct cfi_damage){ s->name, offset, limit };
}

/* Read .eh_frame_hdr; return the address of .eh_frame, or 0 if the table cannot be used. */
static uint64_t read_header(struct cfi_section *s)
{
	struct elf_bytes bytes = elf_frame_header(s->elf, &s->table_base);
	struct cursor c = elf_cursor(s->elf, bytes);
	uint8_t version = cursor_u8(&c), pointer = cursor_u8(&c), count = cursor_u8(&c),
		table = cursor_u8(&c);
	uint64_t eh_frame = s->table_base + 4 + (uint64_t)(int32_t)cursor_u32(&c);

	if (c.failed || version != 1 || pointer != (DW_EH_PE_pcrel | DW_EH_PE_sdata4))
		return 0;
	uint64_t pairs = cursor_u32(&c);
	if (count == DW_EH_PE_udata4 && table == (DW_EH_PE_datarel | DW_EH_PE_sdata4) &&
	    !c.failed && pairs <= CFI_FDES_MAX && pairs * PAIR <= cursor_left(&c))
		s->table = (struct elf_bytes){ c.at, pairs * PAIR };
	return eh_frame;
}

void cfi_section_open_eh(struct cfi_section *s, struct elf *elf)
{
	struct elf_section section;

	*s = (struct cfi_section){ .name = ".eh_frame", .elf = elf, .is_eh = true };
	elf_text(elf, &s->text_start, &s->text_end);
	uint64_t address = read_header(s);
	if (elf_find_section(elf, s->name, &section) && elf_section(elf, s->name, &s->bytes)) {
		s->address = section.address;
	} else if (address) {
		s->address = address;
		s->bytes = elf_at_address(elf, address, UINT64_MAX);
		s->ends_at_zero = true;
	}
}

void cfi_section_open_debug(struct cfi_section *s, struct elf *file, const struct elf *elf)
{
	*s = (struct cfi_section){ .name = ".debug_frame", .elf = file };
	elf_text(elf, &s->text_start, &s->text_end);
	elf_section(file, s->name, &s->bytes);
}

void cfi_section_release(struct cfi_section *s)
{
	free(s->fde);
}

static uint64_t start_of(const struct sorted_fde *p)
{
	return (uint64_t)p->start_high << 32 | p->start_low;
}

static int by_start(const void *x, const void *y)
{
	const struct sorted_fde *a = x, *b = y;
	uint64_t first = start_of(a), second = start_of(b);

	if (first != second)
		return first < second ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Add the FDE that starts with E, if it is of code. */
static void add_place(struct cfi_section *s, const struct cfi_entry *e)
{
	struct fde fde;

	if (!cfi_fde_read(s, e, &fde)) {
		cfi_section_damaged(s, e->offset, CFI_NO_LIMIT);
		return;
	}
	if (fde.start == fde.end || fde.start < s->text_start ||
	    (s->text_end && fde.start >= s->text_end))	/* the linker removed the function */
		return;
	s->fde = array_grow(s->fde, s->fdes, sizeof(*s->fde));
	s->fde[s->fdes++] = (struct sorted_fde){
		.start_low = (uint32_t)fde.start, .start_high = (uint32_t)(fde.start >> 32),
		.offset = (uint32_t)e->offset,
	};
}

/* Read all entries.  What follows a damaged length is lost.  False: there are too many. */
static bool read_places(struct cfi_section *s)
{
	struct cfi_entry e = { 0 };

	if (s->bytes.size > UINT32_MAX)
		return false;
	for (uint32_t entries = 0; e.next < s->bytes.size; entries++) {
		uint64_t offset = e.next;
		if (entries == ENTRIES_MAX || s->fdes == CFI_FDES_MAX)
			return false;
		if (!cfi_entry_read(s, offset, &e)) {
			cfi_section_damaged(s, offset, CFI_NO_LIMIT);
			break;
		}
		if (e.kind == ENTRY_ZERO && s->ends_at_zero)
			break;
		if (e.kind == ENTRY_FDE)
			add_place(s, &e);
	}
	return true;
}

/* Fill FDE, once. */
static void scan(struct cfi_section *s)
{
	s->is_scanned = true;
	if (!read_places(s)) {
		s->fdes = 0;
		s->damage = (struct cfi_damage){ s->name, 0, CFI_LIMIT_SIZE };
	}
	bool is_sorted = true;
	for (uint32_t i = 1; i < s->fdes && is_sorted; i++)
		is_sorted = by_start(&s->fde[i - 1], &s->fde[i]) <= 0;
	if (!is_sorted)		/* linkers mostly keep the order of the code, so the FDEs are nearly
				   sorted */
		qsort(s->fde, s->fdes, sizeof(*s->fde), by_start);
	elf_charge(s->elf, s->fdes * sizeof(*s->fde));
}

/*
 * Return whether all entries may be read now, which takes about as many steps as a fourth of the
 * section's bytes.
 */
static bool is_affordable(struct cfi_section *s)
{
	uint64_t steps = s->bytes.size / 4, most = CFI_BUDGET_MOST / 2;

	if (s->budget->left < (steps < most ? steps : most))
		return false;
	s->budget->left -= steps < s->budget->left ? steps : s->budget->left;
	return true;
}

/* The two ways to look FDEs up: by the file's table, or by our own index. */
struct lookup {
	struct cfi_section *section;
	bool by_table;
	uint32_t count;
};

/* Return the start of FDE INDEX, and store its offset. */
static uint64_t fde_start(const struct lookup *l, uint32_t index, uint64_t *offset)
{
	const struct cfi_section *s = l->section;

	if (!l->by_table) {
		*offset = s->fde[index].offset;
		return start_of(&s->fde[index]);
	}
	struct cursor c = elf_cursor(s->elf, (struct elf_bytes){
				     s->table.at + (size_t)index * PAIR, PAIR });
	uint64_t start = s->table_base + (uint64_t)(int32_t)cursor_u32(&c);
	*offset = s->table_base + (uint64_t)(int32_t)cursor_u32(&c) - s->address;
	return start;
}

/* Return the number of FDEs that start at ADDRESS or before. */
static uint32_t count_to(const struct lookup *l, uint64_t address)
{
	uint64_t offset;

	return (uint32_t)BISECT(0, l->count, i, fde_start(l, (uint32_t)i, &offset) > address);
}

/* Read FDE INDEX.  False: the index is wrong about the entry that it names. */
static bool read_place(const struct lookup *l, uint32_t index, struct fde *fde)
{
	uint64_t offset, start = fde_start(l, index, &offset);
	struct cfi_entry e;

	return cfi_entry_read(l->section, offset, &e) && e.kind == ENTRY_FDE &&
	       cfi_fde_read(l->section, &e, fde) && fde->start == start;
}

/* Find the FDE of ADDRESS.  CFI_DAMAGED: the index is wrong around ADDRESS. */
static enum cfi_result find(const struct lookup *l, uint64_t address, struct fde *fde,
			    struct extent *same)
{
	uint32_t count = count_to(l, address);
	uint64_t last = 0, end = 0, offset;
	bool is_wrong = false;

	if (count > 0)
		last = fde_start(l, count - 1, &offset);
	if (count < l->count)
		extent_narrow(same, last, fde_start(l, count, &offset));
	for (uint32_t i = count; i-- > 0 && count - i <= TWINS_MAX; ) {
		if (fde_start(l, i, &offset) != last)
			break;
		if (!read_place(l, i, fde)) {
			is_wrong = true;
			continue;
		}
		if (address < fde->end) {
			extent_narrow(same, last, fde->end);
			return CFI_FOUND;
		}
		end = fde->end > end ? fde->end : end;
	}
	extent_narrow(same, end > last ? end : last, UINT64_MAX);
	if (count < l->count && !read_place(l, count, fde))	/* it may start before */
		is_wrong = true;
	return is_wrong ? CFI_DAMAGED : CFI_NONE;
}

/* Return whether the table is in ascending order.  If not, it is not used again. */
static bool check_order(struct cfi_section *s)
{
	struct lookup l = { s, .by_table = true };
	uint64_t before = 0, offset;

	for (uint32_t i = 0; i < s->table.size / PAIR && !s->is_sorted; i++) {
		uint64_t start = fde_start(&l, i, &offset);
		if (start < before) {
			s->table.size = 0;
			return false;
		}
		before = start;
	}
	return s->is_sorted = true;
}

enum cfi_result cfi_section_find(struct cfi_section *s, uint64_t address, struct fde *fde,
				 struct extent *same)
{
	struct extent around = *same;

	if (s->bytes.size == 0)
		return CFI_NONE;
	if (s->table.size) {
		struct lookup by_table = { s, true, (uint32_t)(s->table.size / PAIR) };
		enum cfi_result result = find(&by_table, address, fde, same);
		if (result == CFI_FOUND || (result == CFI_NONE && check_order(s)))
			return result;
		*same = around;
	}
	if (!s->is_scanned) {
		if (!is_affordable(s))
			return CFI_LATER;
		scan(s);
	}
	struct lookup own = { s, false, s->fdes };
	return find(&own, address, fde, same);
}
