/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spaces - which object was mapped at an address of a process, and what its
 * threads were called, as of the records seen so far.
 *
 * A space is the mappings of one process, sorted by address, never
 * overlapping: a new mapping cuts those it covers.  Each change gives the
 * space a new generation number, unique among all spaces, so that a cache
 * keyed by (generation, address) is never stale.
 *
 * Mappings that are not for code are kept apart: the address of a sample may lie in
 * them all the same, as its recorder may not know of an mprotect(); but an address that
 * an unwinder found there is no caller.  They come and go without a new generation,
 * unless they take the place of code.
 *
 * What a process has mapped goes some rounds after its last thread has ended.
 */
#pragma once
#include "process/mappings.h"
#include "process/object.h"
#include "stream/reader.h"
#include "stream/tasks.h"

struct space {
	uint64_t generation;
	struct mappings code;
	struct mappings data;	/* not executable; may lie below code, which then counts */
	bool has_main;		/* its first executable mapping was seen */
	pid_t parent;		/* the process it was copied from; 0: it runs its own program */
};

struct spaces {
	struct objects objects;
	struct space kernel;
	struct space guest;	/* the kernel of a virtual machine */
	struct tasks tasks;	/* the threads */
	bool has_image;		/* the kernel image was mapped, and */
	uint64_t image;		/* that is where, at the lowest */
	bool all_is_code;	/* the recorder (simpleperf) does not say what is executable */
	/* the rest is the implementation's */
	struct table process_table;
	struct process {
		pid_t pid;
		bool ended;	/* its first thread has: PID may be used again */
		struct space space;
	} *process;
	uint32_t processes;
	uint64_t generation;	/* the last one given */
	uint32_t last;		/* process found last: samples come in runs */
};

/* Zero-initialised spaces are empty. */
void spaces_release(struct spaces *s);

/*
 * Take in a record of any type: MMAP, MMAP2, KSYMBOL, COMM, FORK, EXIT and
 * BUILD_ID change the spaces.  False where it is damaged.
 */
bool spaces_follow(struct spaces *s, const struct record *rec);

/* The space of process PID; empty for one never heard of. Valid until the next record. */
const struct space *spaces_find(struct spaces *s, pid_t pid);

/* Whether process PID is known: its records came, and it is not gone. */
bool spaces_has(const struct spaces *s, pid_t pid);

/* The mapping of code that covers ADDRESS, or NULL. */
const struct mapping *space_find(const struct space *space, uint64_t address);

/* The mapping of data that covers ADDRESS, where none of code does, or NULL. */
const struct mapping *space_find_data(const struct space *space, uint64_t address);
