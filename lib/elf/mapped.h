/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapped - a file in memory that may shrink meanwhile.
 *
 * Reading a page behind the end of a mapped file raises SIGBUS.  It is caught
 * here: the rest of the mapping becomes zeros, and is_cut says so.  What reads
 * the bytes needs no more care than any untrusted bytes need, for it may at
 * any time find others than it checked before.  One more page of zeros
 * follows the file, so every string in it ends.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapped {
	const uint8_t *at;
	size_t size;		/* bytes of the file when it was mapped */
	int64_t modified;	/* when it was changed last, in ns */
	uid_t owner;
	volatile bool is_cut;	/* it has become shorter: the rest are zeros */
	struct mapped *next;	/* in the list that the signal handler walks */
};

/*
 * Map the regular file FD, which stays the caller's, for reading.  False: it
 * cannot be; or it claims to be large, and is all holes.
 */
bool mapped_open(struct mapped *m, int fd);

/* M must not move in between. */
void mapped_close(struct mapped *m);
