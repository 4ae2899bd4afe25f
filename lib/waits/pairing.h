/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairing - pairs the waits of threads with the wakes that ended them, and says who kept whom
 * waiting.
 *
 * A wait goes from the switch out of a thread to its wake.  The rest of the way, until the thread
 * runs again, is the scheduler's.  For a lock, the thread that woke the waiter is often only the
 * last in a queue, which held the lock for almost no time.  But while a thread queues, each unlock
 * wakes somebody.  So the wakes on the lock during the wait are the ends of the critical sections
 * in it, and each stretch of the wait, from one wake to the next, is due to the thread that made
 * the wake at its end.  Other waits are due to the thread that ended them.
 *
 * A timeout or a signal may interrupt a wait for a lock.  If the thread then waits for the same
 * lock at once, that is one wait.
 *
 * Records come in order of time.  If not, sums are still exact: a wake is never before an earlier
 * one on its lock, and a wait is never shorter than 0.
 *
 *	pairing_out(p, &out);			thread out.tid starts to wait
 *	pairing_wake(p, tid, &wake);		somebody wakes thread TID
 *	pairing_runs(p, tid, time);		thread TID runs
 *	pairing_end(p, time);
 *
 * The result are p->delays, by mode:
 *   PAIRING_BLOCK	the stack that waits, then DELAY_SCHEDULER
 *   PAIRING_MUTEX	the stack that ended a stretch; the stack that waits, then DELAY_SCHEDULER
 *   PAIRING_CAUSES	the stack that waits, DELAY_WAITS_FOR a stack, which DELAY_WAITED_IN another
 */
#pragma once
#include "base/report.h"
#include "waits/delays.h"
#include "waits/own-words.h"

#include <sys/types.h>

enum pairing_mode { PAIRING_NONE, PAIRING_BLOCK, PAIRING_MUTEX, PAIRING_CAUSES };

/* What ended a wait. */
enum pairing_ended {
	ENDED_UNKNOWN,		/* no wake was recorded: a timeout, or somebody outside */
	ENDED_THREAD,
	ENDED_PROCESS,		/* a thread of another process */
	ENDED_EXIT,		/* a thread or process that ended */
	ENDED_TIMER,
	ENDED_SIGNAL,
	ENDED_STOP,		/* all threads of the process were to stop, go on, or die */
	ENDED_DEVICE,		/* an interrupt */
};

/* How a wait is divided among the wakes on what it waits for. */
enum pairing_rule {
	RULE_UNLOCKS,		/* a lock: each stretch is due to the wake at its end */
	RULE_LAST,		/* a condition, or no lock: all is due to the last wake */
	RULE_PARKED,		/* the same, as the thread waits at a word of its own */
	RULE_NONE,		/* no thread ended it */
};

/*
 * What a thread waits for: a word in memory, or two next to each other.  Equal keys are one lock.
 */
struct pairing_lock {
	uint64_t key;		/* 0: none */
	uint32_t name;		/* of the caller */
	bool is_shared;		/* between processes */
};

/* A thread is switched out, and not because another took its CPU. */
struct pairing_out {
	pid_t pid, tid;
	uint64_t time;
	struct delay_place at;
	struct pairing_lock lock;
	enum pairing_rule rule;
	bool sleeps;		/* it waits for time to pass: a timer ends it */
	bool joins;		/* it waits for the end of a thread of PID, or a child of it */
	bool awaits_signal;	/* then who sends it ends the wait */
	bool sees_exits;	/* the end of a child of PID may end it, */
	bool reads_pipe;	/* or that of any other process */
	bool is_idle;		/* if nobody ends it, it had nothing to do */
	bool is_short;		/* AT only says that it was short */
	bool is_aside;		/* it is not shown, but may be the cause of another wait */
};

/* A thread wakes another. */
struct pairing_wake {
	uint64_t time;
	pid_t pid, tid;
	uint32_t name;		/* of the caller: who wakes */
	struct delay_place at;
	/* Keys of the word at which it wakes, and of the two words that this is in: only who waits
	   knows whether they are one lock.  0: none. */
	uint64_t word, pair;
	enum pairing_ended kind;	/* what it is; not ENDED_UNKNOWN, ENDED_PROCESS */
};

/* What labels say about a wait, or a stretch of it. */
struct pairing_about {
	uint32_t labels;	/* of the sample */
	uint32_t lock;		/* its name; 0: none */
	uint32_t waker;		/* name; TABLE_NONE: unknown */
	bool is_stretch;	/* of a stretch: then the next two fields are not set */
	pid_t waker_pid;
	enum pairing_ended ended;
	enum pairing_rule rule;
};

/* Limits of what is kept at a time: a stream may be hostile. */
enum {
	PAIRING_THREADS_MAX = 1 << 17,
	PAIRING_WAKES_MAX = 1 << 20,	/* wakes on locks that somebody waits for */
	PAIRING_PAST_MAX = 1 << 21,	/* waits that have ended, and their stretches, for causes */
	PAIRING_EXITS = 64,
};

struct pairing_kept_wake;	/* a wake on a lock, while somebody waits for it */
struct pairing_queue;		/* a lock that somebody waits for */
struct pairing_thread;

/* Sums over waits, in ns. */
struct pairing_sums {
	uint64_t waited;	/* until the wake */
	uint64_t scheduler;	/* from then until the threads ran */
	uint64_t timed;		/* of waits for locks that a timer, a signal or a device ended */
	uint64_t outside;	/* of waits that ended without a wake */
	uint64_t open;		/* of waits that did not end */
	/* The same of waits that no other thread could have ended, or that had nothing to do: */
	uint64_t outside_hidden, open_hidden;
	uint64_t slept;		/* of these, until time had passed */
	uint64_t charged;	/* part of WAITED that is due to somebody: all modes but BLOCK */
	uint64_t handover;	/* part of CHARGED until the next holder of the lock ran:
				   PAIRING_MUTEX only */
	uint64_t locked;	/* part of WAITED for locks: no semaphores, which are not always */
	uint64_t parked;	/* part of LOCKED by RULE_PARKED */
};

/* Zero-initialised except for the first fields: nothing waits. */
struct pairing {
	enum pairing_mode mode;
	bool all;		/* also waits that no thread ended, or could have */
	bool by_all;		/* wakes by all processes were recorded */
	uint32_t links;		/* PAIRING_CAUSES: how often a path goes on to the next thread */
	uint32_t (*labels)(void *context, const struct pairing_about *about);
	void *context;
	struct delays delays;
	struct pairing_sums sums;
	uint64_t refused;	/* waits that were not added because of the limits */
	uint64_t dropped;	/* wakes that were forgotten because of the limits */
	uint64_t unequal;	/* locks whose stretches are not as long as their waits: a bug */
	uint64_t shortened;	/* waits whose causes were not followed because of the limits */
	/* private: */
	struct pairing_thread *thread;
	uint32_t threads;
	struct table thread_table;
	uint32_t free_thread;
	uint32_t oldest, newest;	/* threads that wait, by the start of their waits */
	struct pairing_exited {
		struct pairing_wake as;	/* TIME 0: none */
		pid_t parent;
	} exited[PAIRING_EXITS];	/* the last threads that exited: a ring */
	uint32_t exits;
	struct pairing_queue *queue;
	uint32_t queues, free_queue;
	struct table queue_table;
	struct own_words own;		/* of semaphores and conditions */
	struct pairing_kept_wake *wake;
	uint32_t wakes, free_wake;
	uint32_t search;		/* queue to look at for a wake to forget */
	uint32_t past;			/* waits, and their stretches, that are kept for causes */
	uint64_t waits, steps;		/* waits that ended, and work for their causes */
	uint64_t swept;			/* WAITS when all old waits were forgotten */
};

void pairing_begin(struct pairing *p);
void pairing_out(struct pairing *p, const struct pairing_out *out);

/* The record of a switch says that TID was switched out at TIME, and whether it could run on. */
void pairing_switched(struct pairing *p, pid_t tid, uint64_t time, bool preempted);

/* Return the wait of TID, or NULL: it does not wait.  Valid until the next call. */
const struct pairing_out *pairing_find_wait(const struct pairing *p, pid_t tid);

void pairing_wake(struct pairing *p, pid_t tid, const struct pairing_wake *wake);
void pairing_runs(struct pairing *p, pid_t tid, uint64_t time);

/* The same, by a sample of TID: it may be one of the switch itself, before the thread waits. */
void pairing_sampled(struct pairing *p, pid_t tid, uint64_t time);

/* TID is a new thread. */
void pairing_new_thread(struct pairing *p, pid_t tid);

/*
 * The thread of LAST, a wake of kind ENDED_EXIT, runs for the last time; its process is a child of
 * PARENT.  Linux 6.16 and newer record no wake of whoever waits for that.
 */
void pairing_exit(struct pairing *p, const struct pairing_wake *last, pid_t parent);

/* TID has ended long ago. */
void pairing_forget(struct pairing *p, pid_t tid);

/* The stream ends at TIME: count the threads that still wait. */
void pairing_end(struct pairing *p, uint64_t time);

/* Label I is MOVED[I] now. */
void pairing_relabel(struct pairing *p, const uint32_t *moved);

/*
 * After pairing_end(): report how much is explained, and what the limits left out.  If sums differ
 * that must be equal, that is an error.
 */
void pairing_report(const struct pairing *p, struct report *report);

void pairing_release(struct pairing *p);
