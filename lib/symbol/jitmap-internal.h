/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of jitmap, shared by the list of functions (jitmap.c), the reader of growing files
 * (jit-file.c), the jitdump parser (jitdump.c) and the history of addresses (jit-history.c).
 */
#pragma once
#include "base/intern.h"
#include "symbol/jit-history.h"
#include "symbol/jitmap.h"

enum {
	JIT_FUNCTIONS_MAX = 1 << 22,	/* of all files; then no file is read further */
	JIT_STRINGS_MAX = 256 << 20,	/* bytes of all names; then no file is read further */
	JIT_LINES_MAX = 1 << 23,	/* further lines are dropped */
	JIT_LEVELS = 32,		/* levels of the history of a map */
	JIT_STUCK = 64,			/* bytes compared to see whether a file has changed */
	JIT_NAME_MAX = 4096,		/* bytes; longer names are cut */
	JIT_PIECE = 1 << 20,		/* bytes read from a file at once */
	JIT_LINES_RECORD_MAX = 64 << 20, /* bytes of a DEBUG_INFO record; larger ones are skipped */
};

struct jit_line {
	uint64_t address;
	uint32_t file;			/* id in STRINGS of the jitmap */
	uint32_t line;
};

struct jit_function {
	uint64_t start, size;
	uint64_t time;			/* when its code was put at START; 0: unknown */
	uint64_t index;			/* its number in the jitdump file (code_index) */
	/* in the first function of an index: the function that last got this index */
	uint32_t latest;
	uint64_t moved;			/* bytes to add to the addresses of its lines */
	uint32_t name;			/* id in STRINGS */
	uint32_t first_line, lines;	/* its part of the array of lines, sorted by address */
};

/* A file that is read as it grows. */
struct jit_file {
	int fd;				/* -1: none */
	uint64_t device, inode;
	char *name;
	uint64_t at;			/* offset up to which the file has been parsed */
	uint64_t skip;			/* bytes after AT to skip unread */
	size_t wants;			/* bytes needed after AT to continue; 0: any number */
	uint64_t stuck_size;		/* file size when nothing could be parsed; 0: never */
	char stuck[JIT_STUCK];		/* the bytes at AT then */
	char parsed[JIT_STUCK];		/* of a map: its last bytes before AT, up to as many */
	bool is_bad;			/* nothing after AT can be parsed */
	bool trouble_reported;		/* TROUBLE was reported */
	const char *trouble;		/* the first trouble; NULL: none */
	uint64_t trouble_at;		/* offset of TROUBLE in the file */
	char *refused;			/* path of a file owned by an untrusted user; NULL: none */
	uid_t refused_owner;
	bool refusal_reported;		/* REFUSED was reported */
};

/* A history of functions that were added one after the other. */
struct jit_level {
	struct jit_history history;
	uint32_t first, count;		/* range of the jitmap's functions */
};

struct jitmap {
	uint32_t further_users;		/* users besides the first */
	struct jit_budget *budget, own_budget;
	size_t counted;			/* bytes of STRINGS that the budget has counted */
	struct jit_file map, dump;
	uid_t trusted;			/* user whose files are read besides root's and our own */
	int64_t oldest;			/* seconds since 1970: older maps are refused */
	struct jit_function *function;
	struct jit_line *line;
	uint32_t functions, lines;
	uint32_t pending, pendings;	/* first and number of the next dump function's lines */
	uint64_t pending_start;		/* address of that function */
	struct table by_index;		/* the first function of each index in the dump */
	struct intern strings;
	/* the history of all functions; each level is much smaller than the one before */
	struct jit_level level[JIT_LEVELS];
	uint32_t levels, known;		/* KNOWN: number of functions in all levels */
	bool swap;			/* the dump has the other byte order */
	bool header_read;		/* the dump's header was parsed */
	bool has_times;			/* the dump's times are ns, not a CPU counter */
	uint64_t first_time;		/* earliest time of a function; 0: no function has one */
};

/*
 * Add a function that has been at START since TIME (0: unknown). Returns the function, valid
 * until the next one is added; NULL if it has no valid range or there is no room.
 */
struct jit_function *jitmap_add(struct jitmap *j, uint64_t start, uint64_t size, uint64_t time,
				const char *name, size_t length);

/* Forget all functions, because their file was written anew. */
void jitmap_forget(struct jitmap *j);

/* Stop reading F, AHEAD bytes after F->AT, if there is no room for more functions. */
void jitmap_end_if_full(struct jitmap *j, struct jit_file *f, size_t ahead);

/* Note that F is damaged AHEAD bytes after F->AT; WHY says how. Only the first call counts. */
void jit_file_damaged(struct jit_file *f, size_t ahead, const char *why);

/* Note damage like jit_file_damaged(), and do not read F any further. */
void jit_file_ends(struct jit_file *f, size_t ahead, const char *why);

/*
 * Open FILE in F, instead of the file that F had. FILE must be a regular file owned by root,
 * by us or by J->TRUSTED. Returns false if FILE cannot or must not be opened: F keeps its file,
 * but may have a refusal to report.
 */
bool jit_file_open(struct jitmap *j, struct jit_file *f, const char *file);

/*
 * Pass what was appended to F since the last call to ADD, which works like jitmap_add_map().
 * Returns whether ADD parsed anything.
 */
bool jit_file_read(struct jitmap *j, struct jit_file *f,
		   size_t (*add)(struct jitmap *, const void *, size_t));

void jit_file_close(struct jitmap *j, struct jit_file *f);
