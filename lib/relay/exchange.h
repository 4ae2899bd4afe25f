/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange - passes records to another process, and its results back, through shared memory.
 *
 *	recorder			    helper
 *	exchange_put()	  --- records --->  exchange_next()
 *	exchange_take()	  <--- results ---  exchange_answer()
 *
 * Neither process ever waits for the other here.  The helper cannot write to the records, and the
 * recorder checks what the helper writes: a helper that is broken, or that a hostile file controls,
 * can only spoil its own results.
 *
 * A record that needs a result is a question, and has a number.  The state of a question is one
 * word: open, answered or withdrawn.  The recorder withdraws a question for which it no longer
 * waits.  So each question is either answered or withdrawn, whatever happens to the helper in
 * between.
 */
#pragma once
#include "record/record.h"

#include <stddef.h>

enum { EXCHANGE_QUESTIONS = 1 << 14 };	/* most open questions; a power of two */

#define EXCHANGE_NO_QUESTION UINT64_MAX

/* The header of each record in the shared memory. */
struct exchange_entry {
	uint64_t question;	/* number of the question, or EXCHANGE_NO_QUESTION */
	uint32_t event;		/* for a SAMPLE: index of its event */
	uint32_t size;		/* bytes of the record that follows, padded to a multiple of 8 */
};

/* Written by the recorder; the helper may only read it. */
struct exchange_records {
	uint64_t head;		/* bytes put so far */
	uint64_t results_tail;	/* bytes of results taken so far */
};

/* Written by the helper; the recorder also writes the states. */
struct exchange_results {
	uint64_t tail;		/* bytes of records that the helper has processed */
	uint64_t spares;	/* not 0: the helper needs to see only some questions from now on */
	uint64_t state[EXCHANGE_QUESTIONS];	/* 4 * number + enum of exchange.c */
	struct {
		uint64_t at;	/* position of the result; its header has its size */
		uint64_t size;	/* 0: the record stays as it is */
	} result[EXCHANGE_QUESTIONS];
};

struct exchange {
	struct exchange_records *records;
	struct exchange_results *results;
	/* each mapped twice in a row, so that nothing wraps: */
	uint8_t *record_bytes, *result_bytes;
	uint64_t size;		/* bytes of records, a power of two; results have a quarter */
	int fd;			/* descriptor of the records' memory, for exchange_enter(), or -1 */
	/* the recorder's own: */
	uint64_t head;		/* as in RECORDS */
	uint64_t free_from;	/* position of the oldest record that must stay */
	uint64_t asked, taken;	/* numbers of questions so far */
	/* the helper's own: */
	uint64_t tail, results_head;
};

/*
 * Map an exchange for SIZE bytes of records, a power of two from 512 KiB on.  False: errno is
 * set.
 */
bool exchange_open(struct exchange *x, size_t size);
void exchange_close(struct exchange *x);

/* In the helper, after fork(): give up the right to write records.  False: errno is set. */
bool exchange_enter(struct exchange *x);

/*
 * Recorder: return room for a record of SIZE bytes, or NULL if no room is free now.  IS_QUESTION
 * leaves a quarter of the room for other records.
 */
void *exchange_room(struct exchange *x, size_t size, bool is_question);

/*
 * Pass on the record of SIZE bytes that is in the room.  Returns the number of its question, or
 * EXCHANGE_NO_QUESTION.
 */
uint64_t exchange_put(struct exchange *x, size_t size, uint32_t event, bool is_question);

/* Return whether the question NUMBER is answered. */
bool exchange_is_answered(const struct exchange *x, uint64_t number);

/*
 * Copy the answer to question NUMBER to OUT (RECORD_MAX_SIZE bytes), or withdraw the question.
 * Returns the size of the answer; 0: the record stays as it is.  Questions must be taken in order.
 */
size_t exchange_take(struct exchange *x, uint64_t number, void *out);

/* Allow the records before POSITION to be overwritten, once the helper has processed them. */
static inline void exchange_release(struct exchange *x, uint64_t position)
{
	x->free_from = position;
}

/* Return the size of the shared memory, in bytes. */
uint64_t exchange_memory(const struct exchange *x);

/*
 * exchange_spare(), for the helper: say whether the recorder needs to ask only some questions.
 * exchange_spares(), for the recorder: return this.
 */
void exchange_spare(struct exchange *x, bool spares);
bool exchange_spares(const struct exchange *x);

/*
 * Return how many bytes of records the helper has processed.  If that stops growing, the helper
 * hangs.
 */
uint64_t exchange_progress(const struct exchange *x);

/* Helper: return the next record, or NULL.  It is valid until the next call, which consumes it. */
const struct exchange_entry *exchange_next(struct exchange *x);

/* Return room for an answer, RECORD_MAX_SIZE bytes, or NULL if no room is free now. */
void *exchange_answer_room(struct exchange *x);

/* Answer the question of ENTRY with the SIZE bytes in the room; 0: the record stays as it is. */
void exchange_answer(struct exchange *x, const struct exchange_entry *entry, size_t size);

/* Return whether ENTRY's question was withdrawn. */
bool exchange_is_withdrawn(const struct exchange *x, const struct exchange_entry *entry);
