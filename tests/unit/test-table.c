/* SPDX-License-Identifier: Apache-2.0 */
/* table, intern, pointers, arena: against simple models, at sizes that make them grow. */
#include "base/arena.h"
#include "base/digest.h"
#include "base/intern.h"
#include "base/pointers.h"
#include "tests/unit/tap.h"

static uint64_t state = 1;

/* Return a number below LIMIT, the same ones in each run. */
static uint32_t draw(uint32_t limit)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(state >> 33) % limit;
}

/* Return whether ID, which was added under HASH, is met once, in a walk that ends. */
static bool is_there_once(const struct table *t, uint64_t hash, uint32_t id)
{
	struct table_probe probe = table_probe(t, hash);
	uint32_t times = 0, found;

	while ((found = table_next(t, &probe)) != TABLE_NONE)
		times += found == id;
	return times == 1;
}

static bool has_any(const struct table *t, uint64_t hash)
{
	struct table_probe probe = table_probe(t, hash);

	return table_next(t, &probe) != TABLE_NONE;
}

static void test_table(void)
{
	enum { COUNT = 20000, SAME = 50 };
	struct table t = { 0 };
	size_t wrong = 0, crowded = 0, slots = 0, growths = 0;
	static bool removed[COUNT];

	tap(!has_any(&t, 0) && !has_any(&t, UINT64_MAX), "nothing is in an empty table");
	for (uint32_t id = 0; id < COUNT; id++) {
		table_add(&t, hash_u64(id), id);
		crowded += 2 * t.used > t.mask + 1;
		growths += t.mask + 1 != slots;
		slots = t.mask + 1;
	}
	for (uint32_t id = 0; id < COUNT; id++)
		wrong += !is_there_once(&t, hash_u64(id), id);
	tap(wrong == 0, "each of 20000 ids is found under its hash, once");
	tap(crowded == 0 && growths > 5 && t.used == COUNT, "at most half of the slots are used");
	wrong = 0;
	for (uint32_t id = COUNT; id < 2 * COUNT; id++)
		if (has_any(&t, hash_u64(id)))
			wrong++;	/* 32 bits of the hash may agree by chance */
	tap(wrong < 3, "a hash that was not added finds nothing");
	for (uint32_t id = 0; id < COUNT; id += 1 + draw(2)) {
		table_remove(&t, hash_u64(id), id);
		removed[id] = true;
	}
	wrong = 0;
	for (uint32_t id = 0; id < COUNT; id++)
		wrong += is_there_once(&t, hash_u64(id), id) == removed[id];
	tap(wrong == 0, "what was removed is gone, the rest is there");
	table_release(&t);
	tap(!t.slot && !has_any(&t, hash_u64(1)), "after its release it is empty");

	/* All in one run of slots, past the last slot to the first. */
	wrong = 0;
	for (uint32_t id = 0; id < SAME; id++)
		table_add(&t, UINT64_MAX - 5, id);
	for (uint32_t id = 0; id < SAME; id++)
		wrong += !is_there_once(&t, UINT64_MAX - 5, id);
	tap(wrong == 0, "ids of the same hash are all found");
	tap(!has_any(&t, 0) && !has_any(&t, UINT64_MAX),
	    "those of a neighbour's slot are not taken for it");
	for (uint32_t id = 0; id < SAME; id += 2)
		table_remove(&t, UINT64_MAX - 5, id);
	for (uint32_t id = 0; id < SAME; id++)
		wrong += is_there_once(&t, UINT64_MAX - 5, id) != id % 2;
	tap(wrong == 0, "removing some leaves the others, across the last slot, too");
	table_release(&t);
}

static void test_hashes(void)
{
	uint8_t bytes[33] = { 0 };
	size_t same = 0, off = 0;

	for (size_t size = 0; size < sizeof(bytes); size++)
		for (size_t bit = 0; bit < 8 * size; bit++) {
			uint64_t before = hash_bytes(bytes, size);
			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			uint64_t changed = before ^ hash_bytes(bytes, size);
			same += changed == 0;
			off += __builtin_popcountll(changed) < 10;
			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	tap(same == 0 && off == 0, "one bit of the bytes changes many of the hash");
	tap(hash_bytes(bytes, 1) != hash_bytes(bytes, 2), "zeros more make another hash");
	tap(hash_more(hash_more(0, 1), 2) != hash_more(hash_more(0, 2), 1), "their order counts");
}

/* The number whose MurmurHash3, without a secret, is HASH: who made input would start here. */
static uint64_t unmix(uint64_t hash)
{
	hash ^= hash >> 33;
	hash *= 0x9cb4b2f8129337dbULL;	/* the inverse of its second factor, then of its first */
	hash ^= hash >> 33;
	hash *= 0x4f74430c22a54005ULL;
	return hash ^ hash >> 33;
}

/* How many of COUNT keys have the low bits of their hash in common with another one. */
static size_t meetings(uint64_t key(uint64_t), uint64_t hash(uint64_t))
{
	enum { COUNT = 20000, BITS = 20 };
	static uint32_t seen[1 << BITS];
	size_t met = 0;

	memset(seen, 0, sizeof(seen));
	for (uint64_t i = 0; i < COUNT; i++)
		met += seen[hash(key(i)) & ((1 << BITS) - 1)]++ > 0;
	return met;
}

static uint64_t flooding(uint64_t i) { return unmix((i + 1) << 32 | 0x1234567); }
static uint64_t in_low_bits(uint64_t i) { return i; }
static uint64_t in_high_bits(uint64_t i) { return i << 44; }
static uint64_t in_pages(uint64_t i) { return 0x7f0000000000 + (i << 12); }
static uint64_t without_secret(uint64_t x) { return digest_more(0, x); }
static uint64_t of_pair(uint64_t x) { return hash_more(x >> 7, x); }
static uint64_t of_bytes(uint64_t x) { return hash_bytes(&x, sizeof(x)); }
static uint64_t of_much(uint64_t x)
{
	uint64_t much[5] = { x, 0, x, 1, x >> 32 };

	return hash_bytes(much, sizeof(much));
}

/* Among 2^20 places 20,000 hashes meet 190 times by chance. */
static void test_secret(void)
{
	uint64_t (*const keys[])(uint64_t) = { flooding, in_low_bits, in_high_bits, in_pages };
	uint64_t (*const hashes[])(uint64_t) = { hash_u64, of_pair, of_bytes, of_much };
	struct hash_secret usual = hash_secret;
	size_t many = 0, same = 0;
	uint64_t last = 0;

	tap(meetings(flooding, without_secret) > 19000, "keys are made that meet without a secret");
	for (int round = 0; round < 10; round++) {
		hash_draw_secret();
		same += hash_u64(42) == last;
		last = hash_u64(42);
		for (int k = 0; k < 4; k++)
			for (int h = 0; h < 4; h++)
				many += meetings(keys[k], hashes[h]) > 400;
	}
	tap(many == 0, "under any secret these and others are spread as if by chance");
	tap(same == 0, "each secret makes other hashes");
	hash_secret = usual;
}

/* Write the text with this number: some are prefixes of others, lengths 0 to 40. */
static size_t make_text(uint32_t number, char text[64])
{
	size_t size = (size_t)snprintf(text, 64, "%u", number / 8);

	for (uint32_t i = 0; i < number % 8 * 4 && number >= 8; i++)
		text[size++] = 'x';
	text[size] = '\0';
	return size;
}

static void test_intern(void)
{
	enum { TEXTS = 5000, ROUNDS = 40000 };
	static const char *kept[TEXTS];
	static uint32_t id_of[TEXTS];	/* 0: not yet */
	struct intern in = { 0 };
	uint32_t next = 1;
	size_t wrong = 0, moved = 0;
	char text[64];

	tap(intern_text(&in, "") == 0 && in.count == 1, "the empty text is 0");
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t number = 8 + draw(TEXTS - 8);
		size_t size = make_text(number, text);
		/* exactly so many bytes, with no NUL after them */
		char *exact = memcpy(mem_resize(NULL, size), text, size);
		uint32_t id = intern_bytes(&in, exact, size);
		free(exact);
		if (!id_of[number]) {
			wrong += id != next++;
			id_of[number] = id;
			kept[number] = in.text[id];
		}
		wrong += id != id_of[number] || strcmp(in.text[id], text) != 0;
		wrong += intern_text(&in, text) != id;
	}
	for (uint32_t number = 0; number < TEXTS; number++)
		if (id_of[number])
			moved += in.text[id_of[number]] != kept[number];
	tap(wrong == 0 && in.count == next, "equal texts have one id, others the next one");
	tap(moved == 0, "a text stays where it is while the table grows");
	/* the table keeps 32 bits of the hash, and of these two they are the same */
	enum { SHORT = 68767, LONG = 94192 };
	char *x = memset(mem_resize(NULL, LONG), 'x', LONG);
	bool collide = (uint32_t)hash_bytes(x, SHORT) == (uint32_t)hash_bytes(x, LONG);
	uint32_t longer = intern_bytes(&in, x, LONG), shorter = intern_bytes(&in, x, SHORT);
	tap(collide && shorter != longer && shorter == intern_bytes(&in, x, SHORT) &&
	    longer == intern_bytes(&in, x, LONG), "a text is not the one that it begins");
	free(x);
	tap(intern_bytes(&in, "abc", 0) == 0, "no bytes are the empty text, too");
	intern_release(&in);
	tap(in.count == 0 && intern_text(&in, "first") == 1 && !strcmp(in.text[0], ""),
	    "after its release the first text gets 1, and 0 is empty");
	intern_release(&in);
}

static void test_pointers(void)
{
	enum { COUNT = 10000 };
	static char place[COUNT];
	static uint32_t model[COUNT];	/* the id plus 1; 0: not added */
	struct pointers p = { 0 };
	size_t wrong = 0;
	uint32_t id = 77;

	wrong += pointers_find(&p, place, &id) || id != 77;
	for (int i = 0; i < 4 * COUNT; i++) {
		uint32_t at = draw(COUNT);
		bool is_known = pointers_find(&p, &place[at], &id);
		wrong += is_known != (model[at] != 0) || (is_known && id != model[at] - 1);
		if (!is_known) {
			uint32_t new = draw(1000000);
			wrong += pointers_add(&p, &place[at], new) != new;
			model[at] = new + 1;
		}
	}
	tap(wrong == 0, "pointers are known by what was added, and no others");
	wrong = !pointers_add(&p, NULL, 5) || !pointers_find(&p, NULL, &id) || id != 5;
	tap(wrong == 0, "NULL is a pointer like others");
	const void *one = (void *)(uintptr_t)38287, *two = (void *)(uintptr_t)77901;
	bool collide = (uint32_t)hash_u64(38287) == (uint32_t)hash_u64(77901);
	pointers_add(&p, one, 1);
	tap(collide && !pointers_find(&p, two, &id), "nor one whose hash looks the same");
	pointers_release(&p);
	tap(!pointers_find(&p, &place[0], &id) && p.count == 0,
	    "after their release none is known");
}

static void test_arena(void)
{
	enum { COUNT = 3000, LARGE = 300 * 1024 };
	static struct { uint8_t *at; size_t size; } piece[COUNT];
	struct arena a = { 0 };
	size_t unaligned = 0, changed = 0, asked = 0;

	for (uint32_t i = 0; i < COUNT; i++) {
		piece[i].size = draw(10) ? draw(200) : draw(40000);
		piece[i].at = arena_alloc(&a, piece[i].size);
		memset(piece[i].at, (int)(i & 0xff), piece[i].size);
		unaligned += (uintptr_t)piece[i].at % 8 != 0;
		asked += piece[i].size;
	}
	for (uint32_t i = 0; i < COUNT; i++)
		for (size_t k = 0; k < piece[i].size; k++)
			changed += piece[i].at[k] != (i & 0xff);
	tap(unaligned == 0, "pieces are aligned to 8");
	tap(changed == 0, "pieces do not overlap");
	tap(a.size >= asked && a.size < asked + asked / 2, "little more is taken than asked for");
	uint8_t *before = arena_alloc(&a, 8), *large = arena_alloc(&a, LARGE);
	memset(large, 1, LARGE);
	tap((uint8_t *)arena_alloc(&a, 8) == before + 8,
	    "a large piece leaves the small ones' chunk");
	arena_release(&a);
	tap(!a.chunks && a.size == 0 && !a.at, "after its release it is empty");

	char *cut = arena_text(&a, "abcdef", 3), *whole = arena_text(&a, "ab\0cd", 5);
	tap(!strcmp(cut, "abc") && !strcmp(whole, "ab"), "a text ends at its size or its NUL");
	char *exact = memcpy(mem_resize(NULL, 4), "wxyz", 4);
	tap(!strcmp(arena_text(&a, exact, 4), "wxyz"), "a text needs no NUL");
	tap(!memcmp(arena_copy(&a, exact, 4), "wxyz", 4) && arena_copy(&a, NULL, 0),
	    "a copy of no bytes is a place, too");
	free(exact);
	arena_release(&a);
}

static void test_array(void)
{
	enum { COUNT = 5000 };
	uint32_t *number = NULL;
	size_t wrong = 0;

	for (uint32_t i = 0; i < COUNT; i++) {
		number = array_grow(number, i, sizeof(*number));
		number[i] = i * 7;
	}
	for (uint32_t i = 0; i < COUNT; i++)
		wrong += number[i] != i * 7;
	tap(wrong == 0, "an array that grows keeps its items");
	free(number);
}

int main(void)
{
	test_table();
	test_hashes();
	test_secret();
	test_intern();
	test_pointers();
	test_arena();
	test_array();
	return tap_done();
}
