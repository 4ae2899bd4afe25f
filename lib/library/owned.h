/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owned - a descriptor that the library keeps between two calls.
 *
 * The program may close it meanwhile, as closefrom(3) does, and open a file of its own, which gets
 * the same number.  So the library remembers which file it opened, and compares before it uses or
 * closes the descriptor.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* What tells an open file from all others. */
struct owned_identity {
	uint64_t inode;
	uint32_t major, minor;	/* device of the file system */
	uint32_t born_ns;	/* when the file was made: the number of an inode is used again */
	int64_t born;		/* the same in s since 1970; 0: unknown */
	int tag;		/* see owned.c */
};

struct owned {
	int fd;			/* -1: none */
	bool is_lost;		/* the program has closed it */
	struct owned_identity identity;
};

#define OWNED_NONE ((struct owned){ .fd = -1 })

/* What the error PMUKIT_BROKEN says if a descriptor is lost. */
#define OWNED_LOST "the program has closed descriptors of the library"

/*
 * Let *O have FD, which is not noted in a room any more; -1 stays -1.  If FD is 0, 1 or 2, it gets
 * another number, as by room_own().  Return the descriptor, or -1 (errno is set).
 */
int owned_set(struct owned *o, int fd);

/* In a work function: the same, and note *O in the room. */
int owned_take(struct owned *o, int fd);

/* Return the descriptor of *O, or -1 if there is none or the program has closed it. */
int owned_fd(struct owned *o);

/* Return whether *O had a descriptor, which the program has closed. */
bool owned_is_lost(struct owned *o);

/* Close the descriptor of *O, unless the program did so, and forget it.  errno stays. */
void owned_close(struct owned *o);
