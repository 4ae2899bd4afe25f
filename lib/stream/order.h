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

/* Keep a copy of REC, whose time is TIME. */
void order_add(struct order *o, const struct record *rec, uint64_t time);

/* Count a record of TIME, which is not kept, because its order does not matter, as late or not. */
void order_pass(struct order *o, uint64_t time);

/*
 * End a round with the record MARK.  order_next() now returns the records that need not wait, then
 * MARK.
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

/* Return the number of records that came too late: newer ones had been returned already. */
uint64_t order_late(const struct order *o);

void order_free(struct order *o);
