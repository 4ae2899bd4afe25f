/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sample's labels are found by their bytes in the record, with one hash.  Only new bytes are
 * taken apart.
 */
#include "base/text.h"
#include "record/label-payload.h"
#include "record/label-record.h"
#include "record/words.h"
#include "resolved/internal.h"

#include <stdlib.h>

enum {
	SETS_MAX = 1 << 16,
	MEMORY_MAX = 16 << 20,	/* bytes of texts and sets */
	TEXT_ROOM = 255 + 4,	/* the longest text, a mark of three bytes, NUL */
};

static bool is_pair(const struct label_sets *l, uint32_t id, struct label_pair pair)
{
	return l->pair[id].key == pair.key && l->pair[id].value == pair.value;
}

uint32_t label_sets_pair(struct label_sets *l, const char *key, const char *value)
{
	struct label_pair pair = { intern_text(&l->texts, key), intern_text(&l->texts, value) };
	uint64_t hash = hash_u64((uint64_t)pair.key << 32 | pair.value);
	uint32_t id = TABLE_FIND(&l->pair_table, hash, i, is_pair(l, i, pair));

	if (id != TABLE_NONE)
		return id;
	l->pair = array_grow(l->pair, l->pairs, sizeof(pair));
	l->pair[l->pairs] = pair;
	table_add(&l->pair_table, hash, l->pairs);
	return l->pairs++;
}

static bool is_set(const struct label_sets *l, uint32_t id, const uint32_t *pair, uint32_t count)
{
	const struct label_set *set = &l->set[id];

	return set->pairs == count && (!count || !memcmp(set->pair, pair, count * sizeof(*pair)));
}

uint32_t label_sets_add(struct label_sets *l, const uint32_t *pair, uint32_t count)
{
	uint64_t hash = hash_bytes(pair, count * sizeof(*pair));
	uint32_t id = TABLE_FIND(&l->set_table, hash, i, is_set(l, i, pair, count));

	if (id != TABLE_NONE)
		return id;
	l->set = array_grow(l->set, l->sets, sizeof(*l->set));
	l->set[l->sets] = (struct label_set){
		.pair = arena_copy(&l->arena, pair, count * sizeof(*pair)), .pairs = count };
	table_add(&l->set_table, hash, l->sets);
	return l->sets++;
}

/*
 * Write the SIZE bytes of FROM to TEXT (TEXT_ROOM), safe to print.  If FLAGS say that a text was
 * cut, mark this text if it has the MOST bytes that are recorded.  Return false if it could not be
 * read: it is empty, or all its bytes are NUL.
 */
static bool make_text(char *text, const char *from, size_t size, size_t most, uint8_t flags)
{
	static const char cut[] = "...";
	size_t nuls = 0;

	for (size_t i = 0; i < size; i++) {
		nuls += !from[i];
		text[i] = from[i] ? from[i] : '?';
	}
	text[size] = '\0';
	text_make_safe(text);
	if (flags & LABEL_CUT && size >= most)
		memcpy(text + size, cut, sizeof(cut));
	return !(flags & LABEL_FAULT) || nuls < size;
}

/* Return the index of a pair with KEY among the COUNT pairs whose ids are in PAIR; COUNT: none. */
static uint32_t find_key(const struct label_sets *l, const uint32_t *pair, uint32_t count,
			 uint32_t key)
{
	uint32_t i = 0;

	while (i < count && l->pair[pair[i]].key != key)
		i++;
	return i;
}

/*
 * Take LABELS apart.  If a key comes twice, the first counts; in OpenTelemetry's contexts the
 * last (OTEP 4947).
 */
static uint32_t add_sample(struct label_sets *l, const struct sample_labels *labels)
{
	uint32_t pair[LABEL_SET_PAIRS_MAX], count = 0;
	char key[TEXT_ROOM], value[TEXT_ROOM];
	const uint8_t *at = labels->text.at;

	for (unsigned i = 0; i < labels->pairs; i++) {
		struct label_text t = label_next(&at);
		if (!make_text(key, t.key, t.key_size, LABEL_KEY_BYTES, labels->flags))
			continue;
		bool readable = make_text(value, t.value, t.value_size, LABEL_VALUE_BYTES,
					  labels->flags);
		uint32_t id = label_sets_pair(l, key, readable ? value : WORD_UNREADABLE);
		uint32_t known = find_key(l, pair, count, l->pair[id].key);
		if (known == count || labels->form == LABEL_FORM_OTEL)
			pair[known] = id;
		count += known == count;
	}
	return label_sets_add(l, pair, count);
}

static bool is_recorded(const struct label_sets *l, uint32_t i, const void *bytes, size_t size)
{
	return l->recorded[i].size == size && !memcmp(l->recorded[i].bytes, bytes, size);
}

uint32_t label_sets_of_sample(struct label_sets *l, const struct sample_labels *labels)
{
	uint8_t bytes[RECORD_MAX_SIZE];
	size_t size = labels->text.size;

	/* The same pairs mean something else if one of these values differs. */
	if (size > 0)
		memcpy(bytes, labels->text.at, size);
	bytes[size++] = labels->pairs;
	bytes[size++] = labels->flags;
	bytes[size++] = labels->form;
	if (l->recorded_count && is_recorded(l, l->last, bytes, size))
		return l->recorded[l->last].set;
	uint64_t hash = hash_bytes(bytes, size);
	uint32_t i = TABLE_FIND(&l->recorded_table, hash, k, is_recorded(l, k, bytes, size));
	if (i == TABLE_NONE) {
		i = l->recorded_count;
		l->recorded = array_grow(l->recorded, i, sizeof(*l->recorded));
		l->recorded[i] = (struct label_known_bytes){
			.bytes = arena_copy(&l->arena, bytes, size), .size = (uint32_t)size,
			.set = add_sample(l, labels) };
		table_add(&l->recorded_table, hash, i);
		l->recorded_count++;
	}
	l->last = i;
	return l->recorded[i].set;
}

bool label_sets_is_full(const struct label_sets *l)
{
	return l->sets >= SETS_MAX || l->recorded_count >= SETS_MAX ||
	       l->arena.size + l->texts.arena.size >= MEMORY_MAX;
}

void label_sets_release(struct label_sets *l)
{
	intern_release(&l->texts);
	free(l->pair);
	free(l->set);
	free(l->recorded);
	table_release(&l->pair_table);
	table_release(&l->set_table);
	table_release(&l->recorded_table);
	arena_release(&l->arena);
	*l = (struct label_sets){ .version = l->version };
}

void label_sets_forget(struct label_sets *l)
{
	label_sets_release(l);
	l->version++;
}
