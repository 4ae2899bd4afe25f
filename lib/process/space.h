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
 */
#pragma once
#include "process/object.h"
#include "stream/reader.h"

struct mapping {
	uint64_t start, end;	/* addresses in the process; END is the first behind it */
	uint64_t file_offset;	/* of START's byte in the object */
	uint32_t object;	/* id in spaces.objects */
	bool is_main;		/* of the executable that the process runs */
	bool is_jit;		/* simpleperf's: its symbols are at addresses of the process */
	/*
	 * Anonymous memory has come here: either OBJECT's text was moved there, or
	 * OBJECT is no longer mapped, and other code is there.
	 */
	bool is_covered;
	uint32_t cover;		/* id of that memory, if IS_COVERED */
};

struct mappings {
	struct mapping *mapping;
	size_t count;
};

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
	struct intern names;	/* of threads */
	bool all_is_code;	/* the recorder (simpleperf) does not say what is executable */
	/* the rest is the implementation's */
	struct table process_table, thread_table;
	struct process {
		pid_t pid;
		bool ended;	/* pid may be used again */
		struct space space;
	} *process;
	struct thread {
		pid_t tid;
		uint32_t name;	/* in NAMES */
	} *thread;
	uint32_t processes, threads;
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

/* The mapping of code that covers ADDRESS, or NULL. */
const struct mapping *space_find(const struct space *space, uint64_t address);

/* The mapping of data that covers ADDRESS, where none of code does, or NULL. */
const struct mapping *space_find_data(const struct space *space, uint64_t address);

/* The name of thread TID, as an id in s->names; 0 ("") where none was told. */
uint32_t spaces_thread_name(const struct spaces *s, pid_t tid);
