/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitmap's inside: shared by the list of functions (jitmap.c), the files
 * (jit-file.c), jitdump (jitdump.c) and who was where when (jit-history.c).
 */
#pragma once
#include "base/intern.h"
#include "symbol/jit-history.h"
#include "symbol/jitmap.h"

enum {
	JIT_FUNCTIONS_MAX = 1 << 22,	/* of all files; then they are not read further */
	JIT_STRINGS_MAX = 256 << 20,	/* bytes of all names; the same */
	JIT_LINES_MAX = 1 << 23,	/* further ones are dropped */
	JIT_LEVELS = 32,
	JIT_STUCK = 64,			/* bytes */
	JIT_NAME_MAX = 4096,		/* bytes; longer names are cut */
	JIT_PIECE = 1 << 20,		/* bytes of a file looked at at once */
	JIT_LINES_RECORD_MAX = 64 << 20, /* bytes of a function's lines; larger ones are left out */
};

struct jit_line {
	uint64_t address;
	uint32_t file;			/* in the strings */
	uint32_t line;
};

struct jit_function {
	uint64_t start, size;
	uint64_t time;			/* it is there since; 0: not known */
	uint64_t index;			/* jitdump's number of it */
	uint32_t latest;		/* of those of one index: in the first, the last one told */
	uint64_t moved;			/* added to the addresses of its lines */
	uint32_t name;			/* in the strings */
	uint32_t first_line, lines;	/* in the array of lines, by address */
};

/* A file that is read as it grows. */
struct jit_file {
	int fd;				/* -1: none */
	uint64_t device, inode;
	char *name;
	uint64_t at;			/* bytes taken in */
	uint64_t skip;			/* of those that follow, which are of no use */
	size_t wants;			/* bytes it takes to go on; 0: as many as there are */
	uint64_t stuck_size;		/* of the file, when nothing could be taken in; 0: never */
	char stuck[JIT_STUCK];		/* what was at AT then */
	bool is_bad;			/* nothing behind AT can be understood */
	bool was_told;			/* the trouble */
	const char *trouble;		/* the first one; NULL: none */
	uint64_t trouble_at;		/* bytes from the file's start */
	char *refused;			/* a file that is another user's; NULL: there was none */
	uid_t refused_owner;
	bool refusal_was_told;
};

/* A history of functions that were told one after the other. */
struct jit_level {
	struct jit_history history;
	uint32_t first, count;		/* functions */
};

struct jitmap {
	uint32_t further_users;		/* beside the first */
	struct jit_budget *budget, own_budget;
	size_t counted;			/* bytes of the strings, in the budget */
	struct jit_file map, dump;
	uid_t trusted;			/* whose files are read, too */
	struct jit_function *function;
	struct jit_line *line;
	uint32_t functions, lines;
	uint32_t pending, pendings;	/* lines of the function that comes next in the dump */
	uint64_t pending_start;		/* its address */
	struct table by_index;		/* of the dump's functions, the first of each index */
	struct intern strings;
	/* The history of all: each level is much smaller than the one before. */
	struct jit_level level[JIT_LEVELS];
	uint32_t levels, known;		/* KNOWN: functions in them */
	bool swap;			/* the dump is of the other byte order */
	bool header_read;
	bool has_times;			/* the dump's are ns, not the CPU's own count */
	uint64_t first_time;		/* of all functions that have one; 0: none has */
};

/* Add a function that is there since TIME (0: not known); returns it, NULL: no room. */
struct jit_function *jitmap_add(struct jitmap *j, uint64_t start, uint64_t size, uint64_t time,
				const char *name, size_t length);

/* Forget all functions: the file that told of them is written anew. */
void jitmap_forget(struct jitmap *j);

/* There is no room for more functions: then F, read AHEAD bytes further, ends. */
void jitmap_end_if_full(struct jitmap *j, struct jit_file *f, size_t ahead);

/* What is AHEAD bytes behind what F has taken in is damaged, as WHY says. */
void jit_file_damaged(struct jit_file *f, size_t ahead, const char *why);

/* The same, and so that nothing behind it can be understood. */
void jit_file_ends(struct jit_file *f, size_t ahead, const char *why);

/*
 * Open FILE, a regular one of root, ourselves or TRUSTED, in place of what F was;
 * false: F is as before, but may have a refusal to tell.
 */
bool jit_file_open(struct jitmap *j, struct jit_file *f, const char *file);

/*
 * Give to ADD what has been added to F since, as jitmap_add_map() takes it.
 * Returns whether it took anything.
 */
bool jit_file_read(struct jitmap *j, struct jit_file *f,
		   size_t (*add)(struct jitmap *, const void *, size_t));

void jit_file_close(struct jitmap *j, struct jit_file *f);
