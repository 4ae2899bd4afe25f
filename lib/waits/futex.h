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

/*
 * Return whether the thread of SAMPLE, of an event with ATTR on a machine of kind ARCH, may be in a
 * futex call: the first argument of its call may be the address of a word.  Of most calls it is a
 * descriptor.
 */
bool futex_is_likely(const struct perf_event_attr *attr, const char *arch,
		     const struct sample *sample);

enum { FUTEX_TEXT = 512 };

/*
 * Return a number for the word of S, its data address in the memory of process PID; 0: it has none.
 * Equal words have equal numbers, also in shared memory.  IS_PAIR: for the aligned 8 bytes that it
 * is in.
 */
uint64_t futex_key(const struct resolved *r, const struct resolved_sample *s, pid_t pid,
		   bool is_pair);

/* Return whether that word is in a file that processes share. */
bool futex_is_shared(const struct resolved *r, const struct resolved_sample *s);

/* Set TEXT to the name of that word, or these 8 bytes. */
void futex_text(const struct resolved *r, const struct resolved_sample *s, bool is_pair,
		char text[FUTEX_TEXT]);

/* Return whether samples of an event with ATTR may have such a word. */
bool futex_has_samples(const struct perf_event_attr *attr);
