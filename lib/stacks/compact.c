/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/compact.h"
#include "base/arena.h"

#include <stdlib.h>

/* Below LARGE slots the number doubles: the memory does not matter then, but the time does. */
enum { FIRST_SLOTS = 64, LARGE = 1 << 17 };

static uint64_t next_size(uint64_t slots)
{
	if (slots < LARGE)
		return 2 * slots;
	return slots & (slots - 1) ? slots / 3 * 4 : slots / 2 * 3;
}

void compact_resize(struct compact_table *t, uint32_t count, enum compact_load load)
{
	uint64_t slots = t->slot ? t->slots : FIRST_SLOTS;

	while (load * slots / 12 < count)
		slots = next_size(slots);
	free(t->slot);
	t->slot = mem_resize(NULL, slots * sizeof(*t->slot));
	t->slots = (uint32_t)slots;
	t->most = (uint32_t)(load * slots / 12);
	for (t->bits = 1; compact_ids(t) < t->most; t->bits++)
		;
	compact_clear(t);
}

void compact_clear(struct compact_table *t)
{
	if (t->slot)
		memset(t->slot, 0xff, t->slots * sizeof(*t->slot));
}

void compact_release(struct compact_table *t)
{
	free(t->slot);
	*t = (struct compact_table){ 0 };
}
