/* SPDX-License-Identifier: Apache-2.0 */
#include "labels/label-options.h"
#include "base/arena.h"
#include "record/label-payload.h"

#include <stdlib.h>
#include <string.h>

/* Add the key of SIZE bytes at KEY.  Return false if it is too long, or empty. */
static bool add_key(struct label_options *o, const char *key, size_t size)
{
	if (size == 0 || size > LABEL_KEY_BYTES)
		return false;
	o->key = array_grow(o->key, o->keys, sizeof(*o->key));
	o->key[o->keys] = mem_zeroed(1, size + 1);
	memcpy(o->key[o->keys++], key, size);
	return true;
}

/* Parse the word of SIZE bytes: a source, which is added to *SOURCES, or a key. */
static bool parse_word(struct label_options *o, const char *word, size_t size, unsigned *sources)
{
	static const char *const name[] = { "go", "otel", "custom", "ids" };
	static const char key[] = "key:";

	if (!strncmp(word, key, strlen(key)))
		return add_key(o, word + strlen(key), size - strlen(key));
	for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
		if (strlen(name[i]) == size && !memcmp(name[i], word, size)) {
			*sources |= 1U << i;
			return true;
		}
	return false;
}

const char *label_options_parse(const char *list, void *options)
{
	struct label_options *o = options;
	unsigned sources = 0;

	for (const char *word = list; *list; word = strchr(word, ',') + 1) {
		size_t size = strcspn(word, ",");
		if (!parse_word(o, word, size, &sources))
			return word;
		if (!word[size])
			break;
	}
	if (sources)
		o->sources = sources | (sources & LABEL_IDS ? LABEL_OTEL : 0);
	else if (!o->sources)
		o->sources = LABEL_GO | LABEL_OTEL | LABEL_CUSTOM;
	return NULL;
}

void label_options_release(struct label_options *o)
{
	for (size_t i = 0; i < o->keys; i++)
		free(o->key[i]);
	free(o->key);
	*o = (struct label_options){ 0 };
}
