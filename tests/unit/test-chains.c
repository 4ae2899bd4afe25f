/* SPDX-License-Identifier: Apache-2.0 */
/* chains: the same frames are one chain, others are others, against a list that is searched. */
#include "stacks/chains.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

enum { DEPTH = 9, COUNT = 2000 };

static uint64_t state = 1;

static uint32_t draw(uint32_t limit)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(state >> 33) % limit;
}

/* What the test knows of the chains: each as it was first added. */
struct model {
	uint32_t frame[COUNT][DEPTH], frames[COUNT];
	uint32_t count;
};

/* Return the number of these frames, or COUNT if they are new. */
static uint32_t find(const struct model *m, const uint32_t *frame, uint32_t frames)
{
	for (uint32_t i = 0; i < m->count; i++)
		if (m->frames[i] == frames &&
		    !memcmp(m->frame[i], frame, frames * sizeof(*frame)))
			return i;
	return COUNT;
}

/* Few frames, so that chains repeat, start or end alike, and contain each other. */
static uint32_t make_frames(uint32_t frame[DEPTH])
{
	uint32_t frames = draw(DEPTH + 1);

	for (uint32_t i = 0; i < frames; i++)
		frame[i] = draw(3) ? 7 : draw(4);
	return frames;
}

/* Whether CHAIN has these frames, in both orders, as a whole and in windows of any size. */
static bool has_frames(const struct chains *c, uint32_t chain, const uint32_t *frame,
		       uint32_t frames)
{
	/* exactly as many, for ASan */
	uint32_t *got = malloc(frames * sizeof(*got) + !frames);
	bool good = c->chain[chain].frames == frames && chains_frames(c, chain, got) == frames;

	for (uint32_t i = 0; good && i < frames; i++)
		good = got[i] == frame[i];
	for (uint32_t depth = 0; good && depth <= frames; depth += 1 + draw(3)) {
		uint32_t room = draw(frames - depth + 1), more = draw(2) ? draw(9) : 0;
		uint32_t want = room + more < frames - depth ? room + more : frames - depth;
		good = chains_calls(c, chain, depth, got, room + more) == want;
		for (uint32_t i = 0; good && i < want; i++)
			good = got[i] == frame[frames - 1 - depth - i];
	}
	free(got);
	return good;
}

static void test_model(void)
{
	static struct model m;
	struct chains c = { 0 };
	uint32_t frame[DEPTH], rounds = 0;
	size_t wrong = 0;

	for (; m.count < COUNT && rounds < 10 * COUNT; rounds++) {
		uint32_t frames = make_frames(frame), known = find(&m, frame, frames);
		/* exactly as many, for ASan */
		uint32_t *exact = malloc(frames * sizeof(*frame) + !frames);
		memcpy(exact, frame, frames * sizeof(*frame));
		uint32_t id = chains_add(&c, exact, frames)->chain;
		free(exact);
		wrong += id != (known == COUNT ? m.count : known);
		if (known == COUNT) {
			memcpy(m.frame[m.count], frame, sizeof(frame));
			m.frames[m.count++] = frames;
		}
	}
	tap(wrong == 0 && c.count == m.count, "equal chains are one, others are new, in order");
	tap(m.count > 500 && rounds > 2 * m.count, "(many were equal, many were not)");
	for (uint32_t i = 0; i < m.count; i++)
		wrong += !has_frames(&c, i, m.frame[i], m.frames[i]);
	tap(wrong == 0, "each keeps its frames, the leaf first");
	chains_seal(&c);
	tap(c.count == m.count && has_frames(&c, 1, m.frame[1], m.frames[1]) && !c.entry,
	    "sealed they are there without their keys");
	chains_release(&c);
	tap(c.count == 0 && !c.chain, "after their release there are none");
}

/* What differs in as little as can be has another chain. */
static void test_neighbours(void)
{
	const uint32_t frame[] = { 1, 2, 3, 4, 5, 0, 0 }, reversed[] = { 3, 2, 1 };
	struct chains c = { 0 };
	uint32_t id = 0;
	bool good = true;

	for (uint32_t frames = 0; frames <= 7; frames++)
		good &= chains_add(&c, frame, frames)->chain == id++;
	tap(good, "the first frames of a chain are a chain of their own, zeros count");
	good = chains_add(&c, reversed, 3)->chain == id++;
	good &= chains_add(&c, frame + 1, 2)->chain == id++;
	tap(good, "so are the last ones; their order counts");
	for (uint32_t bit = 0; bit < 32 * 5; bit++) {
		uint32_t changed[5];
		memcpy(changed, frame, sizeof(changed));
		changed[bit / 32] ^= 1U << bit % 32;
		good &= chains_add(&c, changed, 5)->chain == id++;
	}
	tap(good && c.count == id, "one bit makes another");
	chains_release(&c);
}

static bool same_key(struct hash_wide k, struct hash_wide l)
{
	return k.a == l.a && k.b == l.b;
}

static void test_keys(void)
{
	uint8_t bytes[40];
	size_t equal = 0;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 37);
	struct hash_wide key = hash_wide(bytes, 40, 8);
	tap(same_key(key, hash_wide(bytes, 40, 8)), "a key stays the same");
	struct hash_secret secret = hash_secret;
	hash_draw_secret();
	tap(!same_key(key, hash_wide(bytes, 40, 8)), "under another secret it is another");
	hash_secret = secret;
	tap(!same_key(key, hash_wide(bytes, 40, 10)), "another context makes another key");
	for (size_t size = 0; size < 40; size++) {
		uint8_t *exact = malloc(size + !size);
		memcpy(exact, bytes, size);
		equal += !same_key(hash_wide(exact, size, 8), hash_wide(bytes, size, 8));
		equal += same_key(hash_wide(exact, size, 8), key);
		free(exact);
		bytes[size] ^= 1;
		struct hash_wide changed = hash_wide(bytes, 40, 8);
		equal += changed.a == key.a || changed.b == key.b;
		bytes[size] ^= 1;
	}
	tap(equal == 0, "so does each byte, in both halves, and each size");
}

static const struct chain_entry *by_key(const struct chains *c, struct hash_wide key)
{
	uint32_t hint = TABLE_NONE;

	return chains_find(c, key, &hint);
}

static void test_aliases(void)
{
	enum { MANY = 300000 };
	const uint32_t frame[] = { 10, 20, 30 };
	struct chains c = { 0 };
	size_t wrong = 0;

	for (uint32_t i = 0; i < 3; i++)
		chains_add(&c, frame, i + 1)->hint = i + 5;
	tap(chains_add(&c, frame, 2)->hint == 6, "a chain keeps the hint of its user");
	for (uint64_t i = 0; i < MANY; i++) {
		struct hash_wide key = hash_wide(&i, sizeof(i), 2);
		wrong += by_key(&c, key) != NULL;
		wrong += chains_add_as(&c, key, frame, 1 + (uint32_t)i % 3)->chain != i % 3;
	}
	for (uint64_t i = 0; i < MANY; i++) {
		const struct chain_entry *e = by_key(&c, hash_wide(&i, sizeof(i), 2));
		wrong += !e || e->chain != i % 3 || e->hint != 0;
	}
	tap(wrong == 0, "keys of addresses mean the chain of their frames");
	tap(c.count == 3, "and add none");

	uint64_t first = 0;
	struct hash_wide key = hash_wide(&first, sizeof(first), 2);
	chains_limit(&c);
	tap(!by_key(&c, key), "keys that are much more than the chains go");
	for (uint32_t i = 0; i < 3; i++)
		wrong += chains_add(&c, frame, i + 1)->chain != i;
	tap(wrong == 0 && c.count == 3, "the chains are found as before");
	chains_add_as(&c, key, frame, 3);
	chains_limit(&c);
	tap(by_key(&c, key)->chain == 2, "few keys stay");
	chains_release(&c);
}

static void test_numbers(void)
{
	enum { MANY = 300000 };
	const uint32_t frame[] = { 10, 20, 30 };
	struct chains c = { 0 };

	chains_set_number(&c, chains_add(&c, frame, 3), 7, 1);
	chains_set_number(&c, chains_add(&c, frame, 2), 2, 1);
	chains_set_number(&c, chains_add(&c, frame, 2), 9, 1);
	tap(chains_numbered(&c, 7, 1)->chain == 0 && chains_numbered(&c, 2, 1)->chain == 1 &&
	    chains_numbered(&c, 9, 1)->chain == 1, "a number of the stream finds its chain");
	tap(!chains_numbered(&c, 3, 1) && !chains_numbered(&c, 10, 1),
	    "a number that no chain has finds none");
	tap(!chains_numbered(&c, 7, 2), "nor does a number of another numbering");
	chains_set_number(&c, chains_add(&c, frame, 1), 9, 2);
	tap(!chains_numbered(&c, 7, 2) && chains_numbered(&c, 9, 2)->chain == 2,
	    "which forgets the numbers before it");
	for (uint64_t i = 0; i < MANY; i++)
		chains_add_as(&c, hash_wide(&i, sizeof(i), 2), frame, 3);
	chains_limit(&c);
	tap(!chains_numbered(&c, 9, 2), "numbers go with the keys");
	chains_release(&c);
}

/* Of so many chains, some have the same 32 bits of their hashes, which the table compares. */
static void test_many(void)
{
	enum { MANY = 300000 };
	struct chains c = { 0 };
	size_t wrong = 0;

	for (uint32_t i = 0; i < MANY; i++)
		wrong += chains_add(&c, (uint32_t[]){ i, 1 }, 1 + i % 2)->chain != i;
	tap(wrong == 0, "of many chains, each is another");
	chains_release(&c);
}

/* Return how many chains CHAIN refers to, one after another, until one has all its frames. */
static uint32_t references(const struct chains *c, uint32_t chain)
{
	uint32_t count = 0;

	for (; c->chain[chain].own < c->chain[chain].frames; chain = c->chain[chain].other)
		count++;
	return count;
}

/* Stacks of a program: each has most callers of the one before. */
static void test_shared(void)
{
	enum { STACKS = 3000, DEEP = 90 };
	static uint32_t stack[STACKS][DEEP], frames[STACKS];
	struct chains c = { 0 };
	size_t wrong = 0, own = 0, all = 0;
	uint32_t most = 0;

	for (uint32_t i = 0; i < STACKS; i++) {
		uint32_t kept = i ? frames[i - 1] - draw(frames[i - 1] + 1) / (1 + draw(9)) : 0;
		kept = kept < DEEP ? kept : DEEP - 1;
		frames[i] = kept + 1 + draw(DEEP - kept < 9 ? DEEP - kept : 9);
		for (uint32_t k = 0; k < frames[i]; k++)	/* the root first */
			stack[i][frames[i] - 1 - k] = k < kept
				? stack[i - 1][frames[i - 1] - 1 - k] : 1000 * i + k;
		wrong += chains_add(&c, stack[i], frames[i])->chain != i;
	}
	for (uint32_t i = 0; i < STACKS; i++) {
		wrong += !has_frames(&c, i, stack[i], frames[i]);
		wrong += chains_add(&c, stack[i], frames[i])->chain != i;
		own += c.chain[i].own;
		all += frames[i];
		most = references(&c, i) > most ? references(&c, i) : most;
	}
	tap(wrong == 0 && c.count == STACKS, "chains that share callers are found and have them");
	tap(3 * own < all, "most of the callers are kept once");
	tap(most == 15, "a chain refers to others up to 15 times");
	chains_limit(&c);
	uint64_t key = 7;
	tap(chains_add_as(&c, hash_wide(&key, 8, 2), stack[9], frames[9])->chain == 9,
	    "a chain is found by its frames under another key");
	chains_release(&c);
}

int main(void)
{
	test_model();
	test_shared();
	test_many();
	test_neighbours();
	test_keys();
	test_aliases();
	test_numbers();
	return tap_done();
}
