/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order - sorts the records of several CPUs by time.
 *
 * A recorder that reads the rings of all CPUs in turn writes the records of one
 * CPU after the records of another CPU.  It marks the end of each round by FINISHED_ROUND: a
 * record after the mark is not older than any record before the previous mark.  So
 * at each mark, all records up to the newest time of the previous round can be
 * returned, sorted; the rest wait.
 */
#pragma once
#include "record/record.h"

struct order;

struct order *order_new(void);

/* At most BYTES of records may wait (64 MiB at first); beyond, the older half is returned. */
void order_limit(struct order *o, size_t bytes);

/* Keep a copy of REC, whose time is TIME. */
void order_add(struct order *o, const struct record *rec, uint64_t time);

/* One of several adjacent records.  SIZE in bytes is a multiple of 8. */
struct order_item {
	uint64_t time;
	uint32_t size;
};

enum { ORDER_ITEMS = 64, ORDER_BYTES = 64 * 1024 };	/* the most that order_add_all() takes */

/*
 * Keep a copy of the COUNT records in ITEM, at least one.  The first is at AT, and at OFFSET in the
 * stream.  order_add() checks the limit of memory after each record, but this function only after
 * the last: beyond the limit, the two may return records in different orders.
 */
void order_add_all(struct order *o, const uint8_t *at, uint64_t offset,
		   const struct order_item *item, size_t count);

/* A record of TIME is not kept, because its order does not matter: count it if it is late. */
void order_pass(struct order *o, uint64_t time);

/*
 * End a round with the record MARK.  Call it when order_next() has nothing to return.  order_next()
 * then returns the records that need not wait, then MARK.
 */
void order_round(struct order *o, const struct record *mark);

/* End the input: order_next() now returns all records. */
void order_end(struct order *o);

/* Return the next record in *REC, valid until the next call; false: all others must wait. */
bool order_next(struct order *o, struct record *rec);

/* Return whether order_next() has a record to return. */
bool order_has_next(const struct order *o);

/*
 * Return the next record in *REC, if it is of TYPE.  Earlier records stay valid until
 * order_next().
 */
bool order_next_of(struct order *o, uint32_t type, struct record *rec);

/* Return the number of records that came too late, after newer records had been returned. */
uint64_t order_late(const struct order *o);

void order_free(struct order *o);
