/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"
#include "base/arena.h"

#include <stdlib.h>

void heap_add(struct heap *h, struct heap_item item)
{
	size_t at = h->count++;

	if (h->count > h->room) {
		h->room = 2 * h->count + 14;
		h->item = mem_resize(h->item, h->room * sizeof(*h->item));
	}
	for (; at > 0 && h->item[(at - 1) / 2].key > item.key; at = (at - 1) / 2)
		h->item[at] = h->item[(at - 1) / 2];
	h->item[at] = item;
}

void heap_replace(struct heap *h, struct heap_item item)
{
	size_t at = 0;

	for (size_t child; (child = 2 * at + 1) < h->count; at = child) {
		child += child + 1 < h->count && h->item[child + 1].key < h->item[child].key;
		if (item.key <= h->item[child].key)
			break;
		h->item[at] = h->item[child];
	}
	h->item[at] = item;
}

void heap_remove(struct heap *h)
{
	if (--h->count > 0)
		heap_replace(h, h->item[h->count]);
}

void heap_release(struct heap *h)
{
	free(h->item);
	*h = (struct heap){ 0 };
}
