/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spaces - follows which object is mapped at an address of a process, and the names of its
 * threads, according to the records seen so far.
 *
 * A space holds the mappings of one process, sorted by address and never overlapping: a new
 * mapping cuts the mappings that it covers.  Each change gives the space a new generation number,
 * unique among all spaces, so that a cache keyed by (generation, address) is never stale.
 * Programs that are run again and again, and children of a process, have equal mappings.  For code
 * in files, a cache may use the number that these spaces share (SHARED) as the key.
 *
 * Mappings that are not executable are kept apart.  A sample's address may still lie in
 * one, because the recorder may have missed an mprotect().  An address that an unwinder
 * found in one is not a caller.  Such mappings change without a new generation, unless they
 * replace code.
 *
 * The mappings of a process are freed a few rounds after its last thread has ended; or, if the
 * records of its end were lost, by spaces_forget_ended().  Mappings of code that the kernel
 * generated (KSYMBOL) are freed after the kernel has removed more such code.
 */
#pragma once
#include "process/mappings.h"
#include "process/object.h"
#include "stream/reader.h"
#include "stream/tasks.h"

struct space {
	uint64_t birth;		/* differs between processes, and changes with exec */
	uint64_t generation;	/* replaced by each change, see above */
	/*
	 * A number that spaces have in common if the same files are mapped as code at the same
	 * addresses; GENERATION if other code than files and the vdso is mapped.  0: not set yet.
	 */
	uint64_t shared;
	struct mappings code;	/* executable */
	struct mappings data;	/* not executable; where code overlaps, code wins */
	bool has_main;		/* a mapping with is_main was found */
	pid_t parent;		/* process it was copied from; 0: it runs its own program */
	bool is_new;		/* it was created, or has run exec, since the stream began */
};

struct spaces {
	struct objects objects;
	struct space kernel;
	struct space guest;	/* the kernel of a virtual machine */
	struct tasks tasks;	/* threads and their names */
	bool has_image;		/* a mapping of the kernel image was seen */
	uint64_t image;		/* lowest address of the kernel image, if HAS_IMAGE */
	bool all_is_code;	/* the recorder (simpleperf) does not say what is executable */
	/* Called for each mapping of code in a file, which it may rename.  NULL: none. */
	void (*rename)(void *context, struct mmap_record *m);
	void *rename_context;
	uint64_t silenced;	/* processes forgotten because of PROCESSES_MAX */
	uint64_t generated_dropped;	/* pieces of generated code beyond GENERATED_MAX */
	/* private: */
	struct table process_table;
	struct process {
		pid_t pid;
		bool ended;	/* its main thread has exited: PID may be reused */
		uint64_t missed;	/* ns: when we found that it had ended; 0: we have not */
		uint64_t used;	/* USES at the last record or sample */
		struct space space;
	} *process;
	uint32_t processes;
	uint64_t uses;		/* uses of processes so far */
	uint64_t generation;	/* the number assigned last, also to a SHARED */
	struct alike_spaces {
		uint64_t hash;		/* of the files mapped as code */
		uint64_t shared;	/* the SHARED of spaces with that hash */
	} *alike;		/* by HASH % ALIKE_MAX */
	uint32_t rounds;	/* calls of spaces_mark_objects() */
	uint32_t last;		/* index of the process found last: often the next sample's */
	uint32_t generated;	/* mappings of code that the kernel generated */
	uint32_t generations;	/* number of the newest of them */
	struct removed_code {
		uint64_t start;
		uint32_t number;	/* as in struct mapping */
	} *removed;		/* the last REMOVED_MAX pieces that the kernel removed; a ring */
	uint64_t removals;	/* pieces so far */
	uint64_t looked;	/* NOW of the last spaces_forget_ended() that checked them */
};

enum {
	/* processes at a time; beyond this number, those unused for longest are forgotten */
	PROCESSES_MAX = 1 << 15,
	GENERATED_MAX = 1 << 16,	/* pieces of generated code that are mapped at a time */
	ALIKE_MAX = 1 << 12,		/* hashes of spaces that are remembered */
	REMOVED_MAX = 1 << 10,		/* pieces that stay mapped after the kernel removed them */
};

/* What to report, with PROCESSES_MAX, when SILENCED has grown. */
#define SPACES_SILENCED \
	"more than %d processes have no recorded end; those silent for longest lose their " \
	"mappings"

/* Zero-initialised spaces are empty. */
void spaces_release(struct spaces *s);

/*
 * Follow REC, a record of any type: MMAP, MMAP2, KSYMBOL, COMM, FORK, EXIT and
 * BUILD_ID change the spaces.  Return false if REC is damaged.
 */
bool spaces_follow(struct spaces *s, const struct record *rec);

/*
 * EXIT records may be lost.  So for a stream that is recorded here and now, check every few seconds
 * which processes still exist, and forget the others once all records of their lives were followed.
 * NOW: CLOCK_MONOTONIC in ns; FOLLOWED: time, by the same clock, before which all records were
 * followed.  Does nothing in another PID namespace, that is, if this process is not in the stream.
 */
void spaces_forget_ended(struct spaces *s, uint64_t now, uint64_t followed);

/* Return the space of process PID, an empty one if PID is unknown.  Valid until the next record. */
const struct space *spaces_find(struct spaces *s, pid_t pid);

/*
 * Return the mapping that REC, an MMAP record just followed, gave process *PID, if the code of its
 * object can be read only while the process lives: a file, which may be deleted soon, a memfd, or
 * the vdso of 32-bit processes.  Otherwise return NULL.
 */
const struct mapping *spaces_file_mapped(struct spaces *s, const struct record *rec, pid_t *pid);

/* Return whether process PID is known: it had records, and it has not been freed. */
bool spaces_has(const struct spaces *s, pid_t pid);

/* Set LIVE[id] for each of s->objects that is mapped in any space. */
void spaces_mark_objects(struct spaces *s, bool *live);

/* Return the code mapping that contains ADDRESS, or NULL. */
const struct mapping *space_find(const struct space *space, uint64_t address);

/* Return the data mapping that contains ADDRESS, or NULL; NULL also if code contains it. */
const struct mapping *space_find_data(const struct space *space, uint64_t address);
