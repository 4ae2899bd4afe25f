/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include <stdlib.h>

static uint32_t add(struct intern *in, const char *text, size_t size, uint64_t hash)
{
	in->text = array_grow(in->text, in->count, sizeof(*in->text));
	in->text[in->count] = arena_text(&in->arena, text, size);
	table_add(&in->table, hash, in->count);
	return in->count++;
}

static uint32_t find(const struct intern *in, const char *text, size_t size, uint64_t hash)
{
	return TABLE_FIND(&in->table, hash, i,
			  !strncmp(in->text[i], text, size) && !in->text[i][size]);
}

uint32_t intern_bytes(struct intern *in, const char *text, size_t size)
{
	if (in->count == 0)
		add(in, "", 0, hash_bytes("", 0));
	uint64_t hash = hash_bytes(text, size);
	uint32_t id = find(in, text, size, hash);
	return id == TABLE_NONE ? add(in, text, size, hash) : id;
}

uint32_t intern_empty(struct intern *in)
{
	intern_bytes(in, "", 0);
	in->text = array_grow(in->text, in->count, sizeof(*in->text));
	in->text[in->count] = "";
	return in->count++;
}

uint32_t intern_text(struct intern *in, const char *text)
{
	return intern_bytes(in, text, strlen(text));
}

/* Two statements: intern_text() moves the array TEXT when it grows. */
const char *intern_copy(struct intern *in, const char *text)
{
	uint32_t id = intern_text(in, text);

	return in->text[id];
}

uint32_t intern_find(const struct intern *in, const char *text)
{
	size_t size = strlen(text);

	return find(in, text, size, hash_bytes(text, size));
}

void intern_release(struct intern *in)
{
	free(in->text);
	table_release(&in->table);
	arena_release(&in->arena);
	*in = (struct intern){ 0 };
}
