/* SPDX-License-Identifier: Apache-2.0 */
/* heap - a priority queue: the item with the smallest key comes first. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct heap_item {
	uint64_t key;
	size_t value;
};

/* Zero-initialised: empty.  The first item is item[0]. */
struct heap {
	struct heap_item *item;
	size_t count, room;	/* items in use; allocated */
};

void heap_add(struct heap *h, struct heap_item item);

/* Replace the first item by ITEM. */
void heap_replace(struct heap *h, struct heap_item item);

/* Remove the first item. */
void heap_remove(struct heap *h);

void heap_release(struct heap *h);
