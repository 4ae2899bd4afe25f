/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapped - maps a file that others may truncate or change at any time.
 *
 * Reading a page after the end of a mapped file raises SIGBUS.  This module handles the
 * signal: it replaces the rest of the mapping with zeros and sets is_cut.  Bytes may change
 * between a check and a use, so a reader must check each value that it has read, not the
 * mapped bytes.  A page of zeros follows the file, so every string in it ends.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapped {
	const uint8_t *at;	/* NULL: nothing is mapped */
	size_t size;		/* bytes of the file when it was mapped */
	int64_t modified;	/* modification time, in ns since 1970 */
	uid_t owner;
	volatile bool is_cut;	/* the file was truncated; zeros replace the rest */
	struct mapped *next;	/* in the list that the signal handler walks */
};

/*
 * Map the regular file FD for reading.  The caller still closes FD.  M must stay in place
 * until mapped_close().  Return false if FD cannot be mapped, or is large and almost all holes.
 */
bool mapped_open(struct mapped *m, int fd);

/* Unmap M.  Does nothing if M has no mapping. */
void mapped_close(struct mapped *m);
