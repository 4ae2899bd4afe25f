/* SPDX-License-Identifier: Apache-2.0 */
/* Look up rows in the sources of an object, one after the other. */
#include "cfi/cfi.h"
#include "base/arena.h"
#include "cfi/cfi-internal.h"

#include <elf.h>
#include <stdlib.h>

enum {
	STEPS_FIRST = 4 << 20,	/* steps of an object at first, without a look at its size */
	STEPS_LOOKUP = 512,	/* steps that each lookup adds, up to STEPS_FIRST */
	STEPS_BYTE = 32,	/* steps for each byte of a section */
	STEPS_MORE = 1 << 20,	/* steps that an object takes from its share at a time */
};

struct cfi *cfi_open(struct elf *elf)
{
	uint16_t machine = elf_machine(elf);

	if ((machine != EM_X86_64 && machine != EM_AARCH64) || elf_is_relocatable(elf))
		return NULL;
	struct cfi *c = mem_zeroed(1, sizeof(*c));
	c->elf = elf;
	c->steps = STEPS_FIRST;
	c->own.left = UINT64_MAX;
	c->budget = &c->own;
	return c;
}

void cfi_use_budget(struct cfi *c, struct cfi_budget *budget)
{
	if (c)
		c->budget = budget;
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
	kept_release(c);
	arena_release(&c->arena);
	free(c->expression);
	free(c);
}

static enum cfi_result find_in(struct cfi *c, struct cfi_section *s, uint64_t address,
			       struct fde *fde, struct extent *same)
{
	s->budget = c->budget;
	return cfi_section_find(s, address, fde, same);
}

/* Find the FDE of ADDRESS in the first source that has one; store the source. */
static enum cfi_result find_fde(struct cfi *c, uint64_t address, struct fde *fde,
				struct extent *same, struct cfi_section **source)
{
	enum cfi_result result = CFI_NONE;

	*source = &c->eh_frame;
	if (!c->eh_frame.name)
		cfi_section_open_eh(&c->eh_frame, c->elf);
	result = find_in(c, &c->eh_frame, address, fde, same);
	if (result != CFI_NONE)
		return result;
	*source = &c->debug_frame;
	if (!c->debug_frame.name)
		cfi_section_open_debug(&c->debug_frame, c->elf, c->elf);
	result = find_in(c, &c->debug_frame, address, fde, same);
	if (result != CFI_NONE || !c->debug)
		return result;
	*source = &c->separate;
	if (!c->separate.name)
		cfi_section_open_debug(&c->separate, c->debug, c->elf);
	return find_in(c, &c->separate, address, fde, same);
}

/* Return the share of the sections with HASH, of SIZE bytes. */
static struct cfi_share *share_of(struct cfi_budget *b, uint64_t hash, uint64_t size)
{
	for (uint32_t i = 0; i < b->shares && i < CFI_SHARES; i++)
		if (b->share[i].hash == hash)
			return &b->share[i];
	struct cfi_share *new = &b->share[b->shares++ % CFI_SHARES];
	*new = (struct cfi_share){ hash, STEPS_BYTE * size };
	return new;
}

static void take(uint64_t *left, uint64_t steps)
{
	*left -= steps < *left ? steps : *left;
}

/* Take more steps from the share of section S and its copies.  Return false if none is left. */
static bool take_share(struct cfi *c, const struct cfi_section *s)
{
	if (!c->hash) {
		c->hash = hash_bytes(s->bytes.at, s->bytes.size) | 1;
		take(&c->budget->left, s->bytes.size / 8);
	}
	struct cfi_share *share = share_of(c->budget, c->hash, s->bytes.size);
	uint64_t steps = share->left < STEPS_MORE ? share->left : STEPS_MORE;
	share->left -= steps;
	c->steps += steps;
	return steps > 0;
}

/* Run the instructions of FDE, in section S, as far as the steps suffice. */
static enum cfi_result run(struct cfi *c, struct cfi_section *s, const struct fde *fde,
			   uint64_t address, struct cfi_row *row, struct extent *same)
{
	enum cfi_limit limit = CFI_LIMIT_STEPS;
	enum cfi_result result;

	do {
		uint64_t steps = c->steps < c->budget->left ? c->steps : c->budget->left;
		result = cfi_run(c, s, fde, address, row, same, &steps, &limit);
		take(&c->steps, steps);
		take(&c->budget->left, steps);
		if (result == CFI_LATER && !c->budget->left)
			return result;
	} while (result == CFI_LATER && take_share(c, s));
	if (result != CFI_FOUND)
		cfi_section_damaged(s, fde->offset, result == CFI_LATER ? CFI_LIMIT_STEPS : limit);
	return result == CFI_LATER ? CFI_COSTLY : result;
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
	if (c->steps < STEPS_FIRST)
		c->steps += STEPS_LOOKUP;
	result = run(c, source, &fde, address, row, same);
	if (result == CFI_FOUND) {
		cfi_leave_red_zone(c, &fde, row);
		row->is_debug = !source->is_eh;
	}
	return result;
}

const char *cfi_limit_text(enum cfi_limit limit)
{
	switch (limit) {
	case CFI_LIMIT_SIZE:
		return "is too large";
	case CFI_LIMIT_STEPS:
		return "takes more than 32 steps for each of its bytes";
	case CFI_LIMIT_DEPTH:
		return "remembers more than 64 rows at a time";
	case CFI_LIMIT_EXPRESSIONS:
		return "has too many expressions, or one of more than 16384 bytes";
	default:
		return "is damaged";
	}
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
