/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cache stores the answers for all addresses of each function of which an address was looked up,
 * because the next run will sample other addresses of the same functions.
 */
#include "base/digest.h"
#include "resolve/source-internal.h"

#include <stdlib.h>

enum {
	ANSWERS_MAX = 1 << 22,	/* answers looked up for one file */
	FRAMES_EACH = 8,	/* an answer counts once more for each 8 of its frames */
};

bool source_key(const struct tables *t, struct cache_key *key)
{
	const struct elf *const input[] = { t->elf, t->debug, t->alternate, t->package };

	/* Another version of this program may give other answers. */
	key->inputs = digest_bytes(PMU_VERSION, sizeof(PMU_VERSION));
	for (size_t i = 0; i < sizeof(input) / sizeof(*input); i++)
		key->inputs = digest_more(key->inputs, elf_identity(input[i]));
	key->build_id_size = elf_build_id(t->elf, &key->build_id);
	return key->build_id_size > 0 && elf_identity(t->elf) != 0;
}

/* The state of saving the answers of a source. */
struct saving {
	struct source *source;
	struct index_builder *builder;
	uint32_t answers;	/* answers looked up so far, as ANSWERS_MAX counts */
};

static struct extent look_up(struct saving *s, uint64_t address, struct source_answer *out)
{
	struct extent same = source_read(s->source, address, out);

	s->answers += 1 + (uint32_t)out->frames / FRAMES_EACH;
	return same;
}

/* Return the function of A's outermost frame; NULL if it has no name. */
static const struct dwarf_function *outermost(const struct source_answer *a)
{
	const struct dwarf_function *f = dwarf_outermost(a->frame, a->frames);

	return dwarf_function_name(f) ? f : NULL;
}

/* Return the start of the function that contains ADDRESS, or LIMIT if that is later. */
static uint64_t first_address(struct saving *s, uint64_t address, uint64_t limit)
{
	struct source_answer answer;
	struct extent same = look_up(s, address, &answer);
	const struct dwarf_function *function = outermost(&answer);

	while (function && same.start > limit && s->answers < ANSWERS_MAX) {
		address = same.start;
		same = look_up(s, address - 1, &answer);
		if (outermost(&answer) != function)
			return address;
	}
	return same.start > limit ? same.start : limit;
}

/* Add the answer A for the range SAME. Returns the end of the range. */
static uint64_t add_answer(struct index_builder *b, struct extent same,
			   const struct source_answer *a)
{
	static const struct dwarf_frame nameless;
	struct index_answer answer = { .kind = INDEX_DEBUG, .frame = a->frame,
				       .frames = a->frames };

	if (a->frames == 0)
		answer = (struct index_answer){ a->symbol ? INDEX_SYMBOL : INDEX_NOTHING,
						&nameless, 1 };
	index_builder_add(b, same, &answer, a->symbol);
	return same.end;
}

/* Add the function at START, from there to its end. Returns its end. */
static uint64_t add_function(struct saving *s, uint64_t start)
{
	struct source_answer answer;
	struct extent same = look_up(s, start, &answer);
	const struct dwarf_function *function = outermost(&answer);

	while (outermost(&answer) == function) {
		extent_narrow(&same, start, UINT64_MAX);
		start = add_answer(s->builder, same, &answer);
		if (!function || start == UINT64_MAX || s->answers >= ANSWERS_MAX)
			break;
		same = look_up(s, start, &answer);
	}
	return start;
}

static int by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool is_cut(const struct tables *t)
{
	return elf_is_cut(t->elf) || elf_is_cut(t->debug) || elf_is_cut(t->alternate) ||
	       elf_is_cut(t->package);
}

void source_save(struct source *source)
{
	struct tables *t = source->tables;
	struct cache_key key;
	uint64_t done = 0;

	if (!t || t->misses == t->saved || !source_key(t, &key) ||
	    (t->dwarf && dwarf_has_parts(t->dwarf)))
		return;
	t->asker = source;
	if (t->dwarf)
		dwarf_leave_out(t->dwarf, false, false);
	struct saving s = { .source = source, .builder = index_builder_new(t->index) };
	qsort(t->missed, t->misses, sizeof(*t->missed), by_address);
	for (uint32_t i = 0; i < t->misses && s.answers < ANSWERS_MAX; i++) {
		uint64_t address = t->missed[i];
		if (address >= done)
			done = add_function(&s, first_address(&s, address, done));
	}
	if (!is_cut(t))
		cache_save(source->cache, &key, s.builder);
	index_builder_free(s.builder);
	if (t->dwarf)
		dwarf_leave_out(t->dwarf, source->no_calls, source->no_lines);
	t->saved = t->misses;
}
