/* SPDX-License-Identifier: Apache-2.0 */
#include "labels/program-labels.h"
#include "record/words.h"

#include <stdlib.h>

void program_labels_add(struct program_labels *p, const char *key, uint32_t label)
{
	p->key[p->keys++] = (struct program_key){ .key = key, .label = label };
}

static uint32_t find_key(const struct program_labels *p, const char *key)
{
	uint32_t i = 0;

	while (i < p->keys && strcmp(p->key[i].key, key))
		i++;
	return i < p->keys ? i : TABLE_NONE;
}

/* Return the index of KEY in P->key; TABLE_NONE: it is not wanted, or there is no room for it. */
static uint32_t key_of(struct program_labels *p, const char *key, program_labels_new *new,
		       void *context)
{
	uint32_t i = find_key(p, key);

	if (i != TABLE_NONE || !p->all)
		return i;
	uint32_t label = new(context, &key);
	if (label == TABLE_NONE)
		return TABLE_NONE;
	program_labels_add(p, key, label);
	return p->keys - 1;
}

/* Return whether VALUE is one of the values of KEY that are kept. */
static bool keeps(const struct program_labels *p, struct program_key *key, const char *value)
{
	if (intern_find(&key->values, value) != TABLE_NONE)
		return true;
	if (key->values.count > p->most)	/* id 0 is the empty string */
		return false;
	intern_text(&key->values, value);
	return true;
}

static struct program_value meaning_of(struct program_labels *p, struct labels *l,
				       const struct label_sets *sets, uint32_t pair,
				       program_labels_new *new, void *context)
{
	const char *value = sets->texts.text[sets->pair[pair].value];
	struct program_value v = { .is_known = true };

	v.key = key_of(p, sets->texts.text[sets->pair[pair].key], new, context);
	if (v.key == TABLE_NONE)
		return v;
	if (!*value)	/* pprof takes an empty text for the number 0 */
		value = WORD_EMPTY;
	v.is_other = !keeps(p, &p->key[v.key], value);
	v.value = (int64_t)intern_text(&l->texts, v.is_other ? WORD_OTHER : value);
	return v;
}

static void forget_meanings(struct program_labels *p)
{
	free(p->of_pair);
	p->of_pair = NULL;
	p->pairs = 0;
}

/* Make room for the meanings of all pairs of SETS, unless these are older than the ids. */
static void prepare(struct program_labels *p, const struct labels *l, const struct label_sets *sets)
{
	if (p->sets_version != sets->version || p->labels_version != l->version)
		forget_meanings(p);
	p->sets_version = sets->version;
	p->labels_version = l->version;
	for (; p->pairs < sets->pairs; p->pairs++) {
		p->of_pair = array_grow(p->of_pair, p->pairs, sizeof(*p->of_pair));
		p->of_pair[p->pairs] = (struct program_value){ .is_known = false };
	}
}

void program_labels_take(struct program_labels *p, struct labels *l, const struct label_sets *sets,
			 uint32_t id, program_labels_new *new, void *context, int64_t *value)
{
	const struct label_set *set = &sets->set[id];

	prepare(p, l, sets);
	for (uint32_t i = 0; i < set->pairs; i++) {
		struct program_value *v = &p->of_pair[set->pair[i]];
		if (!v->is_known)
			*v = meaning_of(p, l, sets, set->pair[i], new, context);
		if (v->key == TABLE_NONE) {
			p->keys_left_out += p->all;
			continue;
		}
		struct program_key *key = &p->key[v->key];
		value[key->label] = v->value;
		key->others += v->is_other;
		key->all_others += v->is_other;
		key->is_seen = true;
	}
}

void program_labels_restart(struct program_labels *p)
{
	for (uint32_t i = 0; i < p->keys; i++) {
		intern_release(&p->key[i].values);
		p->key[i].others = 0;
	}
	forget_meanings(p);
}

void program_labels_release(struct program_labels *p)
{
	program_labels_restart(p);
	*p = (struct program_labels){ .all = false };
}
