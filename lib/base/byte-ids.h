/* SPDX-License-Identifier: Apache-2.0 */
/* byte-ids - maps bytes to dense ids: equal bytes have the same id, counted from 0. */
#pragma once
#include "base/arena.h"
#include "base/table.h"

#include <stdbool.h>
#include <stdlib.h>

/* Zero-initialised: empty. */
struct byte_ids {
	struct byte_ids_item {
		const void *bytes;
		size_t size;
	} *item;
	uint32_t count;
	struct table table;
	struct arena arena;
};

static inline uint32_t byte_ids_find_hashed(const struct byte_ids *k, const void *bytes,
					    size_t size, uint64_t hash)
{
	return TABLE_FIND(&k->table, hash, i, k->item[i].size == size &&
			  !memcmp(k->item[i].bytes, bytes, size));
}

/* Return the id of the SIZE bytes at BYTES, or TABLE_NONE. */
static inline uint32_t byte_ids_find(const struct byte_ids *k, const void *bytes, size_t size)
{
	return byte_ids_find_hashed(k, bytes, size, hash_bytes(bytes, size));
}

/* Return the id of the SIZE bytes at BYTES.  It is new if it equals K->count before the call. */
static inline uint32_t byte_ids_add(struct byte_ids *k, const void *bytes, size_t size)
{
	uint64_t hash = hash_bytes(bytes, size);
	uint32_t found = byte_ids_find_hashed(k, bytes, size, hash);

	if (found != TABLE_NONE)
		return found;
	k->item = array_grow(k->item, k->count, sizeof(*k->item));
	k->item[k->count] = (struct byte_ids_item){ arena_copy(&k->arena, bytes, size), size };
	table_add(&k->table, hash, k->count);
	return k->count++;
}

static inline void byte_ids_release(struct byte_ids *k)
{
	free(k->item);
	table_release(&k->table);
	arena_release(&k->arena);
	*k = (struct byte_ids){ 0 };
}
