/* SPDX-License-Identifier: Apache-2.0 */
/* Records of several CPUs come out in order of their time, round by round. */
#include "stream/order.h"
#include "tests/unit/tap.h"

#include <linux/perf_event.h>
#include <stdlib.h>

enum { COMES_MAX = 16 };

static uint64_t state = 1;

static uint32_t draw(uint32_t limit)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(state >> 33) % limit;
}

/* A record without a body whose offset identifies it. */
static struct record record(uint8_t bytes[8], uint32_t type, uint64_t offset)
{
	const uint16_t head[2] = { 0, RECORD_HEADER_SIZE };	/* misc, size */

	memcpy(bytes, &type, 4);
	memcpy(bytes + 4, head, 4);
	return (struct record){ .type = type, .offset = offset,
				.body = { .at = bytes + 8, .end = bytes + 8 } };
}

static void add_at(struct order *o, uint64_t time, uint64_t offset)
{
	uint8_t bytes[8];
	struct record rec = record(bytes, PERF_RECORD_EXIT, offset);

	order_add(o, &rec, time);
}

static void add(struct order *o, uint64_t time)
{
	add_at(o, time, time);
}

static void end_round(struct order *o)
{
	uint8_t bytes[8];
	struct record rec = record(bytes, RECORD_FINISHED_ROUND, 1000);

	order_round(o, &rec);
}

/* Return whether exactly the records of these times, ended by 0, come out. */
static bool comes(struct order *o, const uint64_t times[COMES_MAX])
{
	struct record rec;
	int n = 0;

	while (order_next(o, &rec))
		if (rec.offset != times[n++])
			return false;
	return times[n] == 0;
}

/* Records of one type come in a run, all valid until the next that is asked for by order_next(). */
static void test_run_of_type(void)
{
	struct order *o = order_new();
	struct record rec[3];

	add(o, 3);
	add(o, 2);
	end_round(o);
	tap(order_next(o, &rec[0]) && !order_has_next(o) && !order_next(o, &rec[0]),
	    "a mark alone has none after it");
	end_round(o);
	tap(order_next(o, &rec[0]) && order_next_of(o, PERF_RECORD_EXIT, &rec[1]) &&
	    rec[0].offset == 2 && rec[1].offset == 3 &&
	    record_bytes(&rec[1]) != record_bytes(&rec[0]) &&
	    !memcmp(record_bytes(&rec[0]), record_bytes(&rec[1]), RECORD_HEADER_SIZE),
	    "two of a type come in a run, and both are there");
	tap(order_has_next(o) && !order_next_of(o, PERF_RECORD_EXIT, &rec[2]),
	    "one of another type does not come in it");
	tap(order_next(o, &rec[2]) && rec[2].type == RECORD_FINISHED_ROUND && !order_next(o, rec),
	    "but after it");
	order_free(o);
}

static void test_passed(void)
{
	struct order *o = order_new();
	struct record rec;

	order_pass(o, 5);
	end_round(o);
	tap(order_next(o, &rec) && !order_next(o, &rec), "what is passed is not kept");
	order_pass(o, 3);
	end_round(o);
	order_next(o, &rec);
	order_pass(o, 5);
	tap(order_late(o) == 0, "none that was passed in its round is late");
	order_pass(o, 4);
	tap(order_late(o) == 1, "one that was passed later is");
	order_free(o);
}

static void test_equal_times(void)
{
	struct order *o = order_new();

	add_at(o, 5, 1);
	add_at(o, 7, 2);
	add_at(o, 5, 3);
	add_at(o, 7, 4);
	add_at(o, 3, 5);
	add_at(o, 5, 6);
	order_end(o);
	tap(comes(o, (uint64_t[COMES_MAX]){ 5, 1, 3, 6, 2, 4, 0 }),
	    "records of equal time keep the order in which they came");
	order_free(o);
}

/* Add records of the largest size, at times from 1 on, until some come out.  Return how many. */
static uint64_t add_until_too_many(struct order *o)
{
	enum { SIZE = 65528 };
	uint8_t *bytes = calloc(1, SIZE);
	const uint16_t size = SIZE;
	uint64_t time = 0;

	while (!order_has_next(o)) {
		struct record rec = record(bytes, PERF_RECORD_EXIT, ++time);
		memcpy(bytes + 6, &size, sizeof(size));
		rec.body.end = bytes + SIZE;
		order_add(o, &rec, time);
	}
	free(bytes);
	return time;
}

static void test_too_many(void)
{
	struct order *o = order_new();
	struct record rec;
	uint64_t added = add_until_too_many(o), came = 0;
	bool sorted = true;

	while (order_next(o, &rec))
		sorted &= rec.offset == ++came;
	tap(added > 1000 && sorted && came == added / 2,
	    "beyond 64 MiB the older half comes without a mark");
	add(o, came);
	tap(order_late(o) == 0, "a record as old as the newest of these is not late");
	end_round(o);
	tap(comes(o, (uint64_t[COMES_MAX]){ came, came + 1, 1000, 0 }),
	    "the next mark lets those come that were the oldest to wait");
	end_round(o);
	for (came += 2; came <= added; came++)
		sorted &= order_next(o, &rec) && rec.offset == came;
	tap(sorted && comes(o, (uint64_t[COMES_MAX]){ 1000, 0 }), "and the mark after it, all");
	order_free(o);
}

/* Records of random sizes, one after another, with the times that they have. */
struct batch {
	uint8_t bytes[ORDER_ITEMS * 64];
	struct order_item item[ORDER_ITEMS];
	size_t count, size;
};

/* Make a batch like those of several CPUs: times rise, and start again; some are equal. */
static void make_batch(struct batch *b, uint64_t *time)
{
	b->count = 1 + draw(draw(2) ? ORDER_ITEMS : 3);
	b->size = 0;
	for (size_t i = 0; i < b->count; i++) {
		uint16_t size = (uint16_t)(8 + 8 * draw(8));
		uint8_t *at = b->bytes + b->size;
		uint8_t bytes[8];
		struct record rec = record(bytes, PERF_RECORD_SAMPLE, 0);
		memcpy(at, record_bytes(&rec), RECORD_HEADER_SIZE);
		memcpy(at + 6, &size, sizeof(size));
		for (uint16_t k = RECORD_HEADER_SIZE; k < size; k++)
			at[k] = (uint8_t)draw(256);
		*time = draw(9) ? *time + draw(3) : *time - draw(*time < 50 ? 1 : 50);
		b->item[i] = (struct order_item){ *time, size };
		b->size += size;
	}
}

/* Add the records of B, the first of which is at OFFSET, one by one. */
static void add_each(struct order *o, const struct batch *b, uint64_t offset)
{
	const uint8_t *at = b->bytes;

	for (size_t i = 0; i < b->count; i++) {
		struct record rec;
		at += record_frame(&rec, at, false);
		rec.offset = offset;
		offset += b->item[i].size;
		order_add(o, &rec, b->item[i].time);
	}
}

/* Return whether the same records come out of both, up to the last; count them. */
static bool come_alike(struct order *one, struct order *all, size_t *count)
{
	struct record a, b;

	while (order_next(one, &a)) {
		size_t size = record_size(&a);
		if (!order_next(all, &b) || a.type != b.type || a.offset != b.offset ||
		    record_size(&b) != size ||
		    memcmp(record_bytes(&a), record_bytes(&b), size) != 0)
			return false;
		++*count;
	}
	return !order_next(all, &b) && order_late(one) == order_late(all);
}

static void test_batches(void)
{
	enum { BATCHES = 3000 };
	struct order *one = order_new(), *all = order_new();
	uint64_t time = 100, offset = 0;
	size_t added = 0, rounds = 0, came = 0;
	struct batch b;
	bool good = true;

	for (int i = 0; good && i < BATCHES; i++) {
		make_batch(&b, &time);
		uint8_t *exact = malloc(b.size);	/* exactly as many bytes, for ASan */
		memcpy(exact, b.bytes, b.size);
		order_add_all(all, exact, offset, b.item, b.count);
		free(exact);
		add_each(one, &b, offset);
		added += b.count;
		offset += b.size;
		if (draw(8))
			continue;
		end_round(one);
		end_round(all);
		rounds++;
		good = come_alike(one, all, &came);
	}
	tap(good && rounds > 100 && came > added / 2,
	    "records that are added together come in each round as those added one by one");
	order_end(one);
	order_end(all);
	tap(come_alike(one, all, &came) && came == added + rounds, "and so do the last ones");
	tap(order_late(one) > 0, "(some were late)");
	order_free(one);
	order_free(all);
}

int main(void)
{
	struct order *o = order_new();

	add(o, 5);
	add(o, 3);
	tap(comes(o, (uint64_t[COMES_MAX]){ 0 }), "nothing comes before a round has ended");
	end_round(o);
	tap(comes(o, (uint64_t[COMES_MAX]){ 1000, 0 }), "after the first, its mark alone");
	add(o, 9);
	add(o, 4);
	add(o, 7);
	end_round(o);
	tap(comes(o, (uint64_t[COMES_MAX]){ 3, 4, 5, 1000, 0 }),
	    "then all up to the newest of the round before, sorted, and the mark");
	tap(order_late(o) == 0, "none was late");
	add(o, 2);
	tap(order_late(o) == 1, "one older than what has come is late, and counted");
	order_end(o);
	tap(comes(o, (uint64_t[COMES_MAX]){ 2, 7, 9, 0 }), "at the end comes the rest, sorted");
	tap(comes(o, (uint64_t[COMES_MAX]){ 0 }), "and then nothing");
	order_free(o);
	test_run_of_type();
	test_passed();
	test_equal_times();
	test_too_many();
	test_batches();
	return tap_done();
}
