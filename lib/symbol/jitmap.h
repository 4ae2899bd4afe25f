/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitmap - the functions that one process's JIT compilers tell of.
 *
 * They come from /tmp/perf-PID.map, a line "START SIZE NAME" for each, and
 * from jitdump files, with lines (tools/perf/Documentation/jit-interface.txt
 * and jitdump-specification.txt).  Both grow while they are read.  A jitdump
 * file tells since when a function is where it is: of those that were at one
 * place, the one counts that was there at the time asked for.  Functions of a
 * map have been there for ever, the last one told on top.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define JIT_ANYONE ((uid_t)-1)	/* a user: whoever it is */
#define JIT_LATEST UINT64_MAX	/* a time: after all others, or not known */

struct jitmap;

struct jit_place {
	const char *name;	/* of the function; these live until jitmap_free() */
	const char *file;	/* NULL: not known */
	uint32_t line;		/* 0: not known */
	bool by_time;		/* at another time it may be another function's */
};

struct jit_trouble {
	const char *file, *why;	/* they live until the next call of any of these functions */
	uint64_t offset;	/* bytes from the file's start */
	uid_t owner;		/* if WHY is NULL: the file is not read because it is this user's */
};

/* What all files may take together.  Zero-initialised: nothing is taken. */
struct jit_budget {
	uint64_t functions, lines, strings;	/* STRINGS in bytes */
	uint32_t files;			/* that are open */
	uint32_t files_max;		/* 0: any number */
	uint64_t files_refused;		/* for there were so many */
};

/* BUDGET, which outlives the result, or NULL: it has one of its own. */
struct jitmap *jitmap_new(struct jit_budget *budget);

/* J has one more user: jitmap_free() takes effect after as many calls as it has users. */
struct jitmap *jitmap_share(struct jitmap *j);
bool jitmap_is_shared(const struct jitmap *j);

/* Device and inode of its map, if that is its only file; false: it has no map, or a dump, too. */
bool jitmap_only_map(const struct jitmap *j, uint64_t id[2]);

/*
 * Files are read if they are OWNER's, too, beside root's and our own: anyone may
 * put a file of any name into /tmp.
 */
void jitmap_trust(struct jitmap *j, uid_t owner);

/*
 * Read FILE, a regular one of a user who is trusted, from now on; false: it cannot
 * be opened, or must not.
 */
bool jitmap_open_map(struct jitmap *j, const char *file);
bool jitmap_open_dump(struct jitmap *j, const char *file);

bool jitmap_has_map(const struct jitmap *j);

/* Whether no file of functions is open, and none has told of any. */
bool jitmap_is_empty(const struct jitmap *j);

/* A function that is told otherwise. */
void jitmap_add_function(struct jitmap *j, uint64_t start, uint64_t size, const char *name);

/* Read what has been added to the files since.  Returns whether there was anything. */
bool jitmap_refresh(struct jitmap *j);

/*
 * The function that covers ADDRESS at TIME (ns of CLOCK_MONOTONIC, as in
 * jitdump files); false: there is none.
 */
bool jitmap_find(struct jitmap *j, uint64_t address, uint64_t time, struct jit_place *out);

/* Why a file is not read, or not all of it, the first of each, once; false: there is nothing. */
bool jitmap_trouble(struct jitmap *j, struct jit_trouble *out);

/*
 * Take in the SIZE bytes of a file's end at BYTES, which has been read so far
 * up to there.  Returns how many are done with: the others should come again,
 * with more.
 */
size_t jitmap_add_map(struct jitmap *j, const void *bytes, size_t size);
size_t jitmap_add_dump(struct jitmap *j, const void *bytes, size_t size);

void jitmap_free(struct jitmap *j);
