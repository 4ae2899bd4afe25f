/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States in the middle of long programs, so that a lookup need not run a program from its start:
 * all lookups in a function of N instructions would take N * N steps.
 *
 * An instruction that was run on the way to an address is run on the way to each later address of
 * the function, too.  So a state that was reached at row START serves all addresses from START on,
 * even if the row has more instructions.
 */
#include "base/bisect.h"
#include "cfi/cfi-internal.h"

#include <stdlib.h>

/* A state without the registers that are unchanged. */
struct kept_state {
	uint8_t cfa_kind, cfa_reg;	/* as in struct cfi_state */
	bool signs_return;
	uint8_t rules;
	int32_t cfa_offset, cfa_expression;
	struct kept_rule {
		uint8_t reg, kind;
		int32_t value;
	} rule[];
};

struct kept_program *kept_find(struct cfi *c, const struct cfi_section *s, uint64_t offset)
{
	uint64_t hash = hash_more((uintptr_t)s, offset);
	uint32_t id = TABLE_FIND(&c->kept_table, hash, i, c->kept[i]->section == s &&
				 c->kept[i]->offset == offset);

	if (id == TABLE_NONE) {
		struct kept_program program = { .section = s, .offset = offset };
		id = c->kept_count++;
		c->kept = array_grow(c->kept, id, sizeof(struct kept_program *));
		c->kept[id] = arena_copy(&c->arena, &program, sizeof(program));
		table_add(&c->kept_table, hash, id);
	}
	return c->kept[id];
}

const struct kept_point *kept_before(const struct kept_program *p, uint64_t address)
{
	size_t count = BISECT(0, p->points, i, p->point[i].start > address);

	return count ? &p->point[count - 1] : NULL;
}

/* Return a copy of STATE, and add its size to *BYTES. */
static const struct kept_state *pack(struct cfi *c, const struct cfi_state *state, uint64_t *bytes)
{
	unsigned rules = 0;

	for (unsigned i = 0; i < CFI_REGISTERS; i++)
		rules += state->rule[i].kind != CFI_SAME;
	size_t size = sizeof(struct kept_state) + rules * sizeof(struct kept_rule);
	struct kept_state *kept = arena_alloc(&c->arena, size);
	*kept = (struct kept_state){
		.cfa_kind = state->cfa_kind, .cfa_reg = state->cfa_reg,
		.signs_return = state->signs_return, .rules = (uint8_t)rules,
		.cfa_offset = state->cfa_offset, .cfa_expression = state->cfa_expression,
	};
	struct kept_rule *rule = kept->rule;
	for (unsigned i = 0; i < CFI_REGISTERS; i++)
		if (state->rule[i].kind != CFI_SAME)
			*rule++ = (struct kept_rule){ (uint8_t)i, state->rule[i].kind,
						      state->rule[i].value };
	*bytes += size;
	return kept;
}

void kept_read(const struct kept_state *kept, struct cfi_state *state)
{
	*state = (struct cfi_state){
		.cfa_kind = kept->cfa_kind, .cfa_reg = kept->cfa_reg,
		.signs_return = kept->signs_return,
		.cfa_offset = kept->cfa_offset, .cfa_expression = kept->cfa_expression,
	};
	for (unsigned i = 0; i < kept->rules; i++)
		state->rule[kept->rule[i].reg] = (struct cfi_rule){ kept->rule[i].kind,
								    kept->rule[i].value };
}

uint64_t kept_add(struct cfi *c, struct kept_program *p, uint64_t start, const uint8_t *at,
		  const struct cfi_state *saved, unsigned depth, const struct cfi_state *state)
{
	uint64_t bytes = sizeof(struct kept_point) + (depth + 1) * sizeof(void *);

	if (p->points && at <= p->point[p->points - 1].at)
		return 0;
	const struct kept_state **states = arena_alloc(&c->arena, (depth + 1) * sizeof(*states));
	for (unsigned i = 0; i < depth; i++)
		states[i] = pack(c, &saved[i], &bytes);
	states[depth] = pack(c, state, &bytes);
	p->point = array_grow(p->point, p->points, sizeof(*p->point));
	p->point[p->points++] = (struct kept_point){ start, at, depth, states };
	elf_charge(c->elf, bytes);
	return bytes;
}

void kept_release(struct cfi *c)
{
	for (uint32_t i = 0; i < c->kept_count; i++)
		free(c->kept[i]->point);
	free(c->kept);
	table_release(&c->kept_table);
}
