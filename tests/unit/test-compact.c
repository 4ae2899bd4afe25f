/* SPDX-License-Identifier: Apache-2.0 */
/* compact, drafts, labels of stacks: against simple models, at sizes that make them grow. */
#include "base/drafts.h"
#include "stacks/stacks.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

enum { COUNT = 300000, SAME = 50 };

static uint64_t state = 1;

static uint32_t draw(uint32_t limit)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(state >> 33) % limit;
}

static uint32_t hash_item(uint32_t id)
{
	return (uint32_t)hash_u64(id);
}

/* The last ids have one hash, which leads to the last slot: their run goes on at the first. */
static uint32_t hash_last(uint32_t id)
{
	(void)id;
	return UINT32_MAX;
}

static void add(struct compact_table *t, uint32_t id, uint32_t hash_of(uint32_t),
		enum compact_load load)
{
	struct compact_probe probe = compact_probe(t, hash_of(id));

	while (compact_next(t, &probe) != TABLE_NONE)
		;
	if (compact_grow(t, id, load))
		for (uint32_t i = 0; i <= id; i++)
			compact_put(t, hash_of(i), i);
	else
		compact_put_at(t, &probe, id);
}

static bool has(const struct compact_table *t, uint32_t hash, uint32_t id)
{
	struct compact_probe probe = compact_probe(t, hash);

	return COMPACT_FIND(t, &probe, i, i == id) == id;
}

static void test_table(enum compact_load load, const char *name)
{
	struct compact_table t = { 0 };
	size_t wrong = 0, others = 0;

	wrong += has(&t, 0, 0) || has(&t, UINT32_MAX, 0);
	for (uint32_t id = 0; id < COUNT; id++) {
		add(&t, id, hash_item, load);
		wrong += 12 * ((uint64_t)id + 1) > (uint64_t)load * t.slots;
		wrong += id >= compact_ids(&t);
	}
	for (uint32_t id = 0; id < COUNT; id++) {
		struct compact_probe probe = compact_probe(&t, hash_item(id));
		wrong += !has(&t, hash_item(id), id);
		while (compact_next(&t, &probe) != TABLE_NONE)
			others++;
	}
	tap(wrong == 0, name);
	tap(others < COUNT + COUNT / 20, "few others are met on the way");
	compact_clear(&t);
	for (uint32_t id = 0; id < COUNT; id++)
		wrong += has(&t, hash_item(id), id);
	tap(wrong == 0, "when it is cleared, nothing is in it");
	compact_release(&t);
	for (uint32_t id = 0; id < SAME; id++)
		add(&t, id, hash_last, load);
	for (uint32_t id = 0; id < SAME; id++)
		wrong += !has(&t, UINT32_MAX, id);
	tap(wrong == 0, "items of one hash are all found, past the last slot");
	compact_release(&t);
}

static void test_relabel(void)
{
	enum { CHAINS = 500, LABELS = 7, EVENTS = 3, ADDED = 20000 };
	static struct stack_value want[CHAINS][LABELS][EVENTS];
	const uint32_t moved[LABELS] = { 0, 2, 2, 5, 1, 2, 0 };
	struct stacks s = { 0 };
	uint32_t hint = 0, count = 0;
	size_t wrong = 0;

	for (int i = 0; i < ADDED; i++) {
		struct stack stack = { draw(CHAINS), draw(LABELS) };
		uint32_t event = draw(EVENTS), sum = draw(100);
		stacks_add(&s, stack, event, 1, sum, &hint);
		struct stack_value *v = &want[stack.chain][moved[stack.labels]][event];
		v->samples++;
		v->sum += sum;
	}
	uint32_t before = s.count;
	stacks_relabel(&s, moved);
	for (uint32_t chain = 0; chain < CHAINS; chain++)
		for (uint32_t labels = 0; labels < LABELS; labels++) {
			uint64_t samples = 0;
			for (uint32_t event = 0; event < EVENTS; event++)
				samples += want[chain][labels][event].samples;
			count += samples > 0;
		}
	tap(s.count == count && count < before, "stacks that get the same labels become one");
	for (uint32_t i = 0; i < s.count; i++)
		wrong += memcmp(stacks_values(&s, i), want[s.stack[i].chain][s.stack[i].labels],
				sizeof(want[0][0])) != 0;
	tap(wrong == 0, "each has the values of all of them");
	for (uint32_t i = 0; i < count; i++) {
		hint = TABLE_NONE;
		stacks_add(&s, s.stack[i], 0, 1, 0, &hint);
		wrong += hint != i;
	}
	tap(wrong == 0 && s.count == count, "they are found by their new labels");
	stacks_relabel(&s, NULL);
	stacks_add(&s, (struct stack){ CHAINS, 0 }, 0, 1, 0, &hint);
	tap(s.count == CHAINS + 1 && hint == CHAINS, "without labels there is one for each chain");
	stacks_release(&s);
}

static void test_drafts(void)
{
	enum { DRAFTS = 5000, LARGEST = 3 << 20 };
	struct drafts d = { 0 };
	static uint32_t size[DRAFTS];
	size_t wrong = 0;

	for (uint32_t i = 0; i < DRAFTS; i++) {
		size[i] = draw(300) ? 1 + draw(1000) : 1 + draw(LARGEST);
		uint8_t *to = drafts_room(&d, size[i] + draw(1000));
		memset(to, (int)(i & 255), size[i]);
		drafts_add(&d, size[i]);
	}
	const uint8_t *at = drafts_next(&d, 0);
	for (uint32_t i = 0; i < DRAFTS; i++) {
		for (uint32_t k = 0; at && k < size[i]; k++)
			wrong += at[k] != (i & 255);
		wrong += !at;
		at = drafts_next(&d, size[i]);
	}
	tap(wrong == 0 && !at && !d.first && !d.last,
	    "drafts are read as they were written, and none is left");
}

int main(void)
{
	test_table(COMPACT_FAST, "items of a fast table are found, and it is not too full");
	test_table(COMPACT_SMALL, "items of a small table are found, and it is not too full");
	test_relabel();
	test_drafts();
	return tap_done();
}
