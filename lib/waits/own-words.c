/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/own-words.h"
#include "base/arena.h"

#include <stdbool.h>
#include <stdlib.h>

static struct own_word *find(const struct own_words *o, uint64_t key)
{
	uint32_t at = TABLE_FIND(&o->table, hash_u64(key), i, o->word[i].key == key);

	return at == TABLE_NONE ? NULL : &o->word[at];
}

void own_words_wait(struct own_words *o, uint64_t key, pid_t tid)
{
	struct own_word *word = find(o, key);

	if (word) {
		word->tid = word->tid == tid ? tid : 0;
	} else if (o->words < OWN_WORDS_MAX) {
		o->word = array_grow(o->word, o->words, sizeof(*o->word));
		o->word[o->words] = (struct own_word){ .key = key, .tid = tid };
		table_add(&o->table, hash_u64(key), o->words++);
	}
}

struct own_word *own_words_find(const struct own_words *o, uint64_t key)
{
	struct own_word *word = find(o, key);

	return word && word->tid ? word : NULL;
}

uint64_t own_words_sum(const struct own_words *o)
{
	uint64_t sum = 0;
	pid_t first = 0;
	bool several = false;

	for (uint32_t i = 0; i < o->words; i++) {
		const struct own_word *word = &o->word[i];
		if (!word->tid || !word->ns)
			continue;
		sum += word->ns;
		several |= first && word->tid != first;
		first = word->tid;
	}
	return several ? sum : 0;
}

void own_words_release(struct own_words *o)
{
	free(o->word);
	table_release(&o->table);
	*o = (struct own_words){ .words = 0 };
}
