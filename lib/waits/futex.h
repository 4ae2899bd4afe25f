/* SPDX-License-Identifier: Apache-2.0 */
/*
 * futex - the word in memory that a thread waits for, or wakes others at.
 *
 * A sample of a thread in a futex() call, at its switch out or at a wake, has its user registers:
 * one of them still has the first argument of the call, the address of the word.
 */
#pragma once
#include "resolved/resolved.h"
#include "stream/reader.h"
#include "waits/wait-stack.h"

/*
 * Return the address of the word for SAMPLE, whose frames in *OUT are defined in R; 0: there is
 * none.  Set *GUESSED if only names of the program say so.
 */
uint64_t futex_address(struct wait_names *names, const struct resolved *r,
		       const struct resolved_sample *out, const struct stream_reader *in,
		       const struct sample *sample, bool *guessed);

enum { FUTEX_TEXT = 512 };

/*
 * Return a number for the lock of S, whose word is its data address; 0: it has none.  Equal locks
 * have equal numbers, also in shared memory.  TEXT gets its name.  IS_PAIR: its object has two
 * words of 4 bytes next to each other.
 */
uint64_t futex_lock(const struct resolved *r, const struct resolved_sample *s, bool is_pair,
		    char text[FUTEX_TEXT]);

/* Return whether samples of an event with ATTR may have such a word. */
bool futex_has_samples(const struct perf_event_attr *attr);
