/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitmap - the functions that the JIT compilers of one process report in files.
 *
 * There are two kinds of files: /tmp/perf-PID.map, with a line "START SIZE NAME" for each
 * function, and jitdump files, which have source lines too (see jit-interface.txt and
 * jitdump-specification.txt in tools/perf/Documentation of Linux). Both grow while they are read.
 *
 * A jitdump file says since when a function has been at its address. A lookup returns the
 * function that was at the address at the given time. Functions of a map have no time: they
 * count as there from the start, and the last line for an address wins.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define JIT_ANYONE ((uid_t)-1)	/* as a user: every user */
#define JIT_LATEST UINT64_MAX	/* as a time: after all others, or unknown */

struct jitmap;

/* The function at an address, and the line of its source there. */
struct jit_symbol {
	/* NAME is the function's; the strings live until the jitmap reads on or is freed */
	const char *name;
	const char *file;	/* NULL: unknown */
	uint32_t line;		/* 0: unknown */
	bool varies;		/* another function may be there at another time */
};

struct jit_trouble {
	const char *file, *why;	/* valid until the next call of a function of this module */
	uint64_t offset;	/* where in FILE, in bytes */
	uid_t owner;		/* if WHY is NULL: the untrusted owner, so FILE is not read */
};

/* What all jitmaps with this budget use together. Zero-initialised: nothing is used. */
struct jit_budget {
	uint64_t functions, lines, strings;	/* in use; STRINGS in bytes */
	uint32_t files;			/* number of open files */
	uint32_t files_max;		/* limit of FILES; 0: no limit */
	uint64_t files_refused;		/* files not opened because of FILES_MAX */
};

/* Return an empty jitmap. BUDGET must outlive it; NULL: the jitmap has a budget of its own. */
struct jitmap *jitmap_new(struct jit_budget *budget);

/* Return J with one more user. The last of its users' calls of jitmap_free() frees it. */
struct jitmap *jitmap_share(struct jitmap *j);
bool jitmap_is_shared(const struct jitmap *j);

/* Set ID to device and inode of the map. Returns false if J has no map, or has a dump too. */
bool jitmap_only_map(const struct jitmap *j, uint64_t id[2]);

/*
 * Read OWNER's files too, besides root's and our own. Other users' files are refused, because
 * anyone may put a file of any name into /tmp.
 */
void jitmap_trust(struct jitmap *j, uid_t owner);

/*
 * Refuse a map that was last written before TIME, seconds since 1970: it is that of an earlier
 * process with the same id.
 */
void jitmap_refuse_older(struct jitmap *j, int64_t time);

/*
 * Open FILE, for jitmap_refresh() to read. Returns false if FILE cannot be opened, is not a
 * regular file, or belongs to an untrusted user.
 */
bool jitmap_open_map(struct jitmap *j, const char *file);
bool jitmap_open_dump(struct jitmap *j, const char *file);

bool jitmap_has_map(const struct jitmap *j);

/* Return whether J has no open file and no function. */
bool jitmap_is_empty(const struct jitmap *j);

/* Add a function that does not come from a file. */
void jitmap_add_function(struct jitmap *j, uint64_t start, uint64_t size, const char *name);

/* Read what was appended to the files since the last call. Returns whether there was anything. */
bool jitmap_refresh(struct jitmap *j);

/*
 * Find the function that covered ADDRESS at TIME (ns of CLOCK_MONOTONIC, as in jitdump files).
 * Returns false if no function covered it.
 */
bool jitmap_find(struct jitmap *j, uint64_t address, uint64_t time, struct jit_symbol *out);

/*
 * Get the next reason why a file is not read or not read completely. The first trouble of each
 * file is returned once. Returns false if there is nothing to report.
 */
bool jitmap_trouble(struct jitmap *j, struct jit_trouble *out);

/*
 * Parse the SIZE bytes at BYTES, the part of a file that has not been parsed yet. Returns the
 * number of bytes parsed. Pass the rest again, together with more bytes.
 */
size_t jitmap_add_map(struct jitmap *j, const void *bytes, size_t size);
size_t jitmap_add_dump(struct jitmap *j, const void *bytes, size_t size);

void jitmap_free(struct jitmap *j);
