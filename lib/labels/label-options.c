/* SPDX-License-Identifier: Apache-2.0 */
#include "labels/label-options.h"
#include "base/arena.h"
#include "record/label-payload.h"

#include <stdlib.h>
#include <string.h>

const char *label_options_parse_sources(const char *list, void *options)
{
	static const char *const name[] = { "go", "otel", "custom", "ids" };
	struct label_options *o = options;

	o->sources = *list ? 0 : LABEL_GO | LABEL_OTEL | LABEL_CUSTOM;
	for (const char *word = list; *list; word = strchr(word, ',') + 1) {
		size_t size = strcspn(word, ","), i = 0;
		while (i < 4 && (strlen(name[i]) != size || memcmp(name[i], word, size)))
			i++;
		if (i == 4)
			return word;
		o->sources |= 1U << i;
		if (!word[size])
			break;
	}
	if (o->sources & LABEL_IDS)
		o->sources |= LABEL_OTEL;
	return NULL;
}

const char *label_options_parse_keys(const char *keys, void *options)
{
	struct label_options *o = options;

	for (const char *word = keys; ; word += strcspn(word, ",") + 1) {
		size_t size = strcspn(word, ",");
		if (size == 0 || size > LABEL_KEY_BYTES)
			return *word ? word : keys;
		o->key = array_grow(o->key, o->keys, sizeof(*o->key));
		o->key[o->keys] = mem_zeroed(1, size + 1);
		memcpy(o->key[o->keys++], word, size);
		if (!word[size])
			return NULL;
	}
}

void label_options_release(struct label_options *o)
{
	for (size_t i = 0; i < o->keys; i++)
		free(o->key[i]);
	free(o->key);
	*o = (struct label_options){ 0 };
}
