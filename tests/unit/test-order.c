/* SPDX-License-Identifier: Apache-2.0 */
/* Records of several CPUs come out in order of their time, round by round. */
#include "stream/order.h"
#include "tests/unit/tap.h"

#include <linux/perf_event.h>

enum { COMES_MAX = 16 };

/* A record without a body whose offset identifies it. */
static struct record record(uint8_t bytes[8], uint32_t type, uint64_t offset)
{
	const uint16_t head[2] = { 0, RECORD_HEADER_SIZE };	/* misc, size */

	memcpy(bytes, &type, 4);
	memcpy(bytes + 4, head, 4);
	return (struct record){ .type = type, .offset = offset,
				.body = { .at = bytes + 8, .end = bytes + 8 } };
}

static void add(struct order *o, uint64_t time)
{
	uint8_t bytes[8];
	struct record rec = record(bytes, PERF_RECORD_EXIT, time);

	order_add(o, &rec, time);
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
	return tap_done();
}
