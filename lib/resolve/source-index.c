/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cache stores the answers for all addresses of each function of which an address was looked up,
 * because the next run will sample other addresses of the same functions.
 */
#include "base/digest.h"
#include "base/sort.h"
#include "base/version.h"
#include "resolve/source-internal.h"

#include <stdlib.h>

enum {
	ANSWERS_MAX = 1 << 22,	/* answers looked up for one file */
	FRAMES_EACH = 8,	/* an answer counts once more for each FRAMES_EACH frames */
};

bool source_key(const struct debug_files *f, struct cache_key *key)
{
	const struct elf *const input[] = { f->elf, f->debug, f->alternate, f->package };

	/* Another version of this program may give other answers. */
	key->inputs = digest_bytes(version_text, strlen(version_text));
	for (size_t i = 0; i < sizeof(input) / sizeof(*input); i++) {
		key->inputs = digest_more(key->inputs, elf_identity(input[i]));
		if (elf_is_cut(input[i]))
			return false;
	}
	key->build_id_size = elf_build_id(f->elf, &key->build_id);
	return key->build_id_size > 0 && elf_identity(f->elf) != 0;
}

/* The state of saving the answers of a source. */
struct saving {
	struct source *source;
	struct index_builder *builder;
	uint32_t answers;	/* answers looked up so far, as ANSWERS_MAX counts */
};

/*
 * Look up ADDRESS, and save the answer for the addresses of WITHIN around it that have the same
 * answer. Sets *SAME to these addresses. If WANTED is not NULL, answers of other functions are not
 * saved. Returns the function of the outermost frame; NULL if it has no name.
 */
static const struct dwarf_function *save_answer(struct saving *s, uint64_t address,
						struct extent within, struct extent *same,
						const struct dwarf_function *wanted)
{
	struct source_answer answer;

	*same = source_read(s->source, address, &answer);
	s->answers += 1 + (uint32_t)answer.frames / FRAMES_EACH;
	extent_narrow(same, within.start, within.end);
	const struct dwarf_function *f = dwarf_outermost(answer.frame, answer.frames);
	if (!wanted || f == wanted)
		index_builder_add(s->builder, *same, &answer);
	return dwarf_function_name(f) ? f : NULL;
}

/*
 * Save the answers of the function that contains ADDRESS, for its addresses from LEAST on. Returns
 * the end of the function.
 */
static uint64_t save_function(struct saving *s, uint64_t address, uint64_t least)
{
	struct extent all = { least, UINT64_MAX }, same, found;
	const struct dwarf_function *f = save_answer(s, address, all, &same, NULL);

	while (f && same.start > least && s->answers < ANSWERS_MAX) {
		struct extent before = { least, same.start };
		if (save_answer(s, same.start - 1, before, &found, f) != f)
			break;
		same.start = found.start;
	}
	while (f && same.end < UINT64_MAX && s->answers < ANSWERS_MAX) {
		struct extent after = { same.end, UINT64_MAX };
		if (save_answer(s, same.end, after, &found, f) != f)
			break;
		same.end = found.end;
	}
	return same.end;
}

void source_save(struct source *source)
{
	const struct sources *sources = source_sources(source);
	struct debug_files *f = source->files;
	struct cache_key key;
	uint64_t done = 0;

	if (!f || f->misses == f->saved || (f->dwarf && dwarf_has_parts(f->dwarf)))
		return;
	f->asker = source;
	if (f->dwarf)
		dwarf_leave_out(f->dwarf, false, false);
	struct saving s = { .source = source, .builder = index_builder_new(f->index) };
	qsort(f->missed, f->misses, sizeof(*f->missed), sort_compare_u64);
	for (uint32_t i = 0; i < f->misses && s.answers < ANSWERS_MAX; i++) {
		uint64_t address = f->missed[i];
		if (address >= done)
			done = save_function(&s, address, done);
	}
	if (source_key(f, &key))
		cache_save(&sources->cache, &key, s.builder);
	index_builder_free(s.builder);
	if (f->dwarf)
		dwarf_leave_out(f->dwarf, sources->no_calls, sources->no_lines);
	f->saved = f->misses;
}
