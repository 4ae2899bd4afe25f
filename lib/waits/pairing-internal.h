/* SPDX-License-Identifier: Apache-2.0 */
/* Shared inside pairing: threads, the locks that they wait for, and wakes on these. */
#pragma once
#include "waits/pairing.h"

#define NONE TABLE_NONE

/* A wait that has ended, or its part that one wake ended. */
struct past_stretch {
	uint64_t end;
	pid_t tid;		/* who made the wake at the end */
	uint32_t stack;
};

struct past_wait {
	uint64_t since, until;	/* switched out, runs again */
	uint64_t from;		/* start of its first stretch that is kept */
	uint32_t stack;
	uint32_t first, stretches;	/* of the thread's STRETCH, by time */
};

struct pairing_thread {
	pid_t tid;
	bool exited;
	bool waits;		/* OUT is its wait; SINCE its start */
	bool is_out;		/* the record of the switch came */
	bool woken;		/* it is woken, at WOKEN_AT by BY, but does not run yet */
	bool pauses;		/* it is interrupted, at WOKEN_AT by PAUSED_BY, and ran from RESUMED
				   on: perhaps it goes on to wait */
	bool went_on;		/* it did */
	struct pairing_out out;
	uint64_t since, woken_at;
	uint64_t piece;		/* start of the wait, or of its last piece if it went on */
	uint64_t resumed;	/* 0: it was preempted, and does not run yet */
	struct pairing_wake paused_by;	/* TIME 0: unknown */
	struct pairing_wake by;	/* or, while it runs, the last wake; TIME 0: none */
	uint32_t root;		/* in the delays, if it is woken; NONE: not shown */
	uint32_t older, newer;	/* threads that wait */
	uint32_t queue;		/* that it is in; NONE: none */
	uint32_t ahead, behind;	/* the threads before and after it in that queue; or NONE */
	uint32_t after;		/* the wake on its lock before the wait; NONE: none */
	uint64_t after_number;
	uint32_t by_kept;	/* the wake on its lock that ended its last wait; or NONE */
	/* of a thread whose waits may be causes: */
	struct past_wait *past;
	uint32_t pasts;
	struct past_stretch *stretch;
	uint32_t stretches;
	uint32_t pending;	/* the last of these: of the wait that has not ended yet */
	uint64_t from;		/* start of the first of them */
};

static inline bool is_by_somebody(enum pairing_ended ended)
{
	return ended == ENDED_THREAD || ended == ENDED_PROCESS || ended == ENDED_EXIT;
}

struct pairing_kept_wake {
	struct pairing_wake is;
	uint64_t number;	/* of the wakes on its lock, from 1 */
	uint64_t ran;		/* when the thread that it woke, WOKEN, ran; 0: unknown */
	uint32_t woken;		/* NONE: one that waited for something else */
	uint32_t next;		/* of its lock, or free */
	uint32_t opens, closes;	/* waits for which the stretch to this wake is the first whole
				   one, or the last */
};

struct pairing_queue {
	struct pairing_lock lock;
	uint32_t head, tail;	/* threads that wait, by the start of their waits */
	uint32_t first, last;	/* wakes */
	uint64_t numbers;	/* wakes so far */
	uint64_t newest;	/* time of the last wait or wake */
	uint64_t settled;	/* time of the last wake that is no longer kept ... */
	uint64_t ran;		/* ... and when the thread that it woke ran; 0: unknown */
	uint64_t dropped;	/* the same, of one that was dropped because of the limit */
	uint64_t whole;		/* waits that have all of the next stretch */
	uint64_t due, charged;	/* ns of waits that ended by RULE_UNLOCKS, and of its stretches */
};

/* pairing-queue.c: thread T starts to wait for OUT's lock, or stops. */
void queue_enter(struct pairing *p, uint32_t t);
void queue_leave(struct pairing *p, uint32_t t);

/*
 * Keep WAKE if somebody waits for the lock KEY.  Its time may be set to a later one.  WOKEN: the
 * thread whose wait for that lock it ends; or NONE.
 */
void queue_wake(struct pairing *p, uint64_t key, struct pairing_wake *wake, uint32_t woken);

/* Thread T, which was woken, runs from TIME on. */
void queue_runs(struct pairing *p, uint32_t t, uint64_t time);

/* Thread T, which waits in a queue, is woken by the last wake there: charge each stretch. */
void queue_charge(struct pairing *p, uint32_t t);

/* Return the first wake during the wait of T. */
uint32_t queue_first_wake(const struct pairing *p, uint32_t t);

/* Charge COUNT stretches, of NS in all, to the wake BY. */
void pairing_charge(struct pairing *p, const struct pairing_wake *by, uint32_t lock,
		    enum pairing_rule rule, uint64_t count, uint64_t ns);

/* Charge NS of the wait at ROOT to unlocks that were dropped because of the limits. */
void pairing_charge_earlier(struct pairing *p, uint32_t root, uint64_t ns);

/* pairing-causes.c: T is woken: add its causes.  BY_UNLOCKS: all wakes on its lock ended it. */
void causes_add(struct pairing *p, uint32_t t, bool by_unlocks);

/* Keep the wait of T, which ends at TIME, as a cause of others.  Forget those of T. */
void causes_keep(struct pairing *p, uint32_t t, uint64_t time);
void causes_forget(struct pairing *p, uint32_t t);

/* Thread T pauses, and it is TIME now: if that is too long, its wait has ended.  Return whether. */
bool pairing_expire(struct pairing *p, uint32_t t, uint64_t time);

uint32_t pairing_find_thread(const struct pairing *p, pid_t tid);
