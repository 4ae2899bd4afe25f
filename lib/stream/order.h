/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order - records of several CPUs, put in order of their time.
 *
 * A recorder that reads one CPU's ring after the other writes their records
 * in that order.  It marks rounds: what comes behind a FINISHED_ROUND is not
 * older than what stood before the last one.  So at each mark all records up
 * to the newest time of the round before can go, sorted; the rest waits.
 */
#pragma once
#include "record/record.h"

struct order;

struct order *order_new(void);

/* Keep a copy of REC, which is of TIME. */
void order_add(struct order *o, const struct record *rec, uint64_t time);

/* A round has ended with the record MARK: what can go comes out now, MARK last. */
void order_round(struct order *o, const struct record *mark);

/* The end: everything comes out. */
void order_end(struct order *o);

/* The next record that comes out; false: no more before another round has ended. */
bool order_next(struct order *o, struct record *rec);

/* Records that came too late to be put in order: younger ones had gone. */
uint64_t order_late(const struct order *o);

void order_free(struct order *o);
