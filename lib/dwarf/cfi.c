/* SPDX-License-Identifier: Apache-2.0 */
/* Look up rows in the sources of an object, one after the other. */
#include "dwarf/cfi.h"
#include "base/arena.h"
#include "dwarf/cfi-internal.h"

#include <elf.h>
#include <stdlib.h>

/*
 * Instructions that may be run per lookup, on average, and at first.  Real functions need some
 * ten.  Without this limit, a hostile file could make each lookup take a million.
 */
enum { RUN_MEAN = 1000, RUN_FIRST = 64 << 20 };

struct cfi *cfi_open(struct elf *elf)
{
	uint16_t machine = elf_machine(elf);

	if ((machine != EM_X86_64 && machine != EM_AARCH64) || elf_is_relocatable(elf))
		return NULL;
	struct cfi *c = mem_zeroed(1, sizeof(*c));
	c->elf = elf;
	c->fuel.left = RUN_FIRST;
	return c;
}

void cfi_add_debug(struct cfi *c, struct elf *debug)
{
	c->debug = debug;
}

void cfi_close(struct cfi *c)
{
	if (!c)
		return;
	cfi_section_release(&c->eh_frame);
	cfi_section_release(&c->debug_frame);
	cfi_section_release(&c->separate);
	table_release(&c->expression_table);
	arena_release(&c->arena);
	free(c->expression);
	free(c);
}

/* Find the FDE of ADDRESS in the first source that has one; store the source. */
static enum cfi_result find_fde(struct cfi *c, uint64_t address, struct fde *fde,
				struct extent *same, struct cfi_section **source)
{
	enum cfi_result result = CFI_NONE;

	*source = &c->eh_frame;
	if (!c->eh_frame.name)
		cfi_section_open_eh(&c->eh_frame, c->elf);
	result = cfi_section_find(&c->eh_frame, address, fde, same);
	if (result != CFI_NONE)
		return result;
	*source = &c->debug_frame;
	if (!c->debug_frame.name)
		cfi_section_open_debug(&c->debug_frame, c->elf, c->elf);
	result = cfi_section_find(&c->debug_frame, address, fde, same);
	if (result != CFI_NONE || !c->debug)
		return result;
	*source = &c->separate;
	if (!c->separate.name)
		cfi_section_open_debug(&c->separate, c->debug, c->elf);
	return cfi_section_find(&c->separate, address, fde, same);
}

enum cfi_result cfi_row_at(struct cfi *c, uint64_t address, struct cfi_row *row,
			   struct extent *same)
{
	struct cfi_section *source;
	struct fde fde;

	*same = (struct extent){ 0, UINT64_MAX };
	if (!c)
		return CFI_NONE;
	enum cfi_result result = find_fde(c, address, &fde, same, &source);
	if (result != CFI_FOUND)
		return result;
	if (c->fuel.left < RUN_FIRST)
		c->fuel.left += RUN_MEAN;
	if (cfi_run(c, source, &fde, address, row, same)) {
		cfi_leave_red_zone(c, &fde, row);
		row->is_debug = !source->is_eh;
		return CFI_FOUND;
	}
	cfi_section_damaged(source, fde.offset);
	return CFI_DAMAGED;
}

const struct cfi_damage *cfi_damage_in(const struct cfi *c, unsigned section)
{
	const struct cfi_section *const all[CFI_SECTIONS] = { &c->eh_frame, &c->debug_frame,
							      &c->separate };

	return all[section]->damage.section ? &all[section]->damage : NULL;
}

const struct cfi_damage *cfi_damage(const struct cfi *c)
{
	const struct cfi_damage *damage = NULL;

	for (unsigned i = 0; c && !damage && i < CFI_SECTIONS; i++)
		damage = cfi_damage_in(c, i);
	return damage;
}
