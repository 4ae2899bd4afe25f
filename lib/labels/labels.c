/* SPDX-License-Identifier: Apache-2.0 */
#include "labels/labels.h"

#include <stdlib.h>

/* Make room in each set for the last key, which was just added. */
static void widen(struct labels *l)
{
	uint32_t before = l->keys - 1;
	int64_t *value = NULL;

	table_release(&l->table);
	for (uint32_t set = 0; set < l->sets; set++) {
		value = array_grow(value, set, l->keys * sizeof(*value));
		int64_t *to = value + (size_t)set * l->keys;
		memcpy(to, l->value + (size_t)set * before, before * sizeof(*value));
		to[before] = LABEL_ABSENT;
		table_add(&l->table, hash_bytes(to, l->keys * sizeof(*to)), set);
	}
	free(l->value);
	l->value = value;
}

/* Profiles must not depend on the order in which the keys came. */
static void put_in_order(struct labels *l, uint32_t key)
{
	const struct label_key *k = &l->key[key];
	uint32_t at = key;

	for (; at > 0 && k->is_sorted; at--) {
		const struct label_key *before = &l->key[l->order[at - 1]];
		if (!before->is_sorted || strcmp(before->name, k->name) < 0)
			break;
		l->order[at] = l->order[at - 1];
	}
	l->order[at] = (uint8_t)key;
}

uint32_t labels_add_key(struct labels *l, struct label_key key)
{
	for (uint32_t i = 0; i < l->keys; i++)
		if (!strcmp(l->key[i].name, key.name))
			return i;
	if (l->keys == LABEL_KEYS_MAX)
		return TABLE_NONE;
	l->key[l->keys] = key;
	put_in_order(l, l->keys++);
	if (l->sets > 0)
		widen(l);
	return l->keys - 1;
}

static bool is_set(const struct labels *l, uint32_t set, const int64_t *value)
{
	const int64_t *known = labels_values(l, set);
	uint32_t i = 0;

	while (i < l->keys && known[i] == value[i])
		i++;
	return i == l->keys;
}

static uint32_t add_set(struct labels *l, const int64_t *value, uint64_t hash)
{
	l->value = array_grow(l->value, l->sets, l->keys * sizeof(*value));
	memcpy(l->value + (size_t)l->sets * l->keys, value, l->keys * sizeof(*value));
	table_add(&l->table, hash, l->sets);
	return l->sets++;
}

/* Set 0: every key is absent. */
static void add_none(struct labels *l)
{
	int64_t value[LABEL_KEYS_MAX];

	for (uint32_t i = 0; i < l->keys; i++)
		value[i] = LABEL_ABSENT;
	add_set(l, value, hash_bytes(value, l->keys * sizeof(*value)));
}

uint32_t labels_set(struct labels *l, const int64_t *value)
{
	uint32_t id;

	if (l->keys == 0)
		return 0;
	if (l->sets == 0)
		add_none(l);
	if (is_set(l, l->last, value))
		return l->last;
	uint64_t hash = hash_bytes(value, l->keys * sizeof(*value));
	id = TABLE_FIND(&l->table, hash, i, is_set(l, i, value));
	if (id != TABLE_NONE)
		return l->last = id;
	return l->last = add_set(l, value, hash);
}

struct labels labels_restart(struct labels *l)
{
	struct labels past = *l;

	*l = (struct labels){ .keys = past.keys, .version = past.version + 1 };
	memcpy(l->key, past.key, sizeof(l->key));
	memcpy(l->order, past.order, sizeof(l->order));
	return past;
}

uint32_t labels_take(struct labels *l, const struct labels *other, uint32_t set)
{
	int64_t value[LABEL_KEYS_MAX];

	for (uint32_t i = 0; set && i < l->keys; i++) {
		value[i] = labels_values(other, set)[i];
		if (l->key[i].is_text && value[i] != LABEL_ABSENT)
			value[i] = intern_text(&l->texts, other->texts.text[value[i]]);
	}
	return set ? labels_set(l, value) : 0;
}

static int compare_values(const struct labels *l, const uint32_t *rank, uint32_t key, int64_t a,
			  int64_t b)
{
	if (a == b)
		return 0;
	if (l->key[key].is_text && a != LABEL_ABSENT && b != LABEL_ABSENT)
		return rank[a] < rank[b] ? -1 : 1;
	return a < b ? -1 : 1;
}

int labels_compare(const struct labels *l, const uint32_t *rank, uint32_t a, uint32_t b)
{
	int order = 0;

	if (a == b)
		return 0;
	for (uint32_t i = 0; i < l->keys && order == 0; i++) {
		uint32_t key = l->order[i];
		order = compare_values(l, rank, key, labels_values(l, a)[key],
				       labels_values(l, b)[key]);
	}
	return order;
}

void labels_release(struct labels *l)
{
	free(l->value);
	intern_release(&l->texts);
	table_release(&l->table);
	*l = (struct labels){ 0 };
}
