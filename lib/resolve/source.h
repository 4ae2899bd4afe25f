/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source - all that tells names of an object's code: its file, the file with
 * its debug information, that of several programs in common; and what a run
 * before has found out about it.
 */
#pragma once
#include "base/report.h"
#include "dwarf/dwarf.h"
#include "elf/elf.h"
#include "locate/locate.h"
#include "resolve/cache.h"
#include "symbol/gotable.h"

/* A section of a kernel module's code. */
struct module_code {
	uint64_t start, size;	/* in the kernel's memory */
	uint64_t own;		/* START in the file */
};

/*
 * What was read of a file and of its debug files: the same for all names of the file that
 * lead to the same debug files.
 */
struct tables {
	struct tables *next;	/* of the same file */
	uint32_t further_users;	/* beside the first */
	const struct source *asker;	/* the one in hand, for parts in files of their own */
	struct elf *elf, *debug, *alternate, *package;
	const char *path;	/* the first user's */
	bool opened;		/* DWARF was, once */
	const char *refused;	/* why not; NULL: it may be */
	bool exceeded_told;	/* that DWARF is not read further */
	struct dwarf *dwarf;
	bool go_tried;		/* GO was looked for, once: where DWARF knows no function */
	struct gotable *go;	/* NULL: not looked for, or it is no Go program */
	struct go_answer *answer;	/* the last one of GO, in DWARF's shape */
	bool is_kept;		/* what is found goes into the cache */
	struct index *index;	/* what was known before; NULL: nothing */
	uint64_t *missed;	/* addresses that it does not have */
	uint32_t hits, misses;
	uint32_t saved;		/* of the misses, as of the last time */
};

/* Zero-initialised: nothing looked for yet. */
struct source {
	bool tried;		/* looked for, once; the rest is what was found */
	bool told;		/* that nothing was found */
	uint64_t used;		/* when, as its owner counts */
	uint32_t closed;	/* how many times it was, for others to be opened */
	enum locate_result result;
	struct elf *elf;
	char *root;		/* what its path is below, "" for none; ours */
	const struct locate_options *where;	/* for the debug files */
	const struct cache *cache;	/* its directory NULL: none */
	struct report *report;
	bool no_calls, no_lines;	/* need not be found */
	const char *path;	/* of the object; lives as long as its */
	struct module_code *code;	/* of a kernel module */
	uint32_t codes;
	struct tables *tables;	/* NULL: its debug files were not looked for yet */
};

/* What is known of an address. */
struct source_answer {
	const struct dwarf_frame *frame;	/* innermost first, as dwarf_find() has them */
	size_t frames;
	/*
	 * What the outermost frame is called by the symbol table; NULL: as DWARF says.  They
	 * differ for one function of several names, and for a part that was split off ("f.cold").
	 */
	const char *symbol;
	bool is_go;		/* the frames are from a Go program's own table */
};

/*
 * From DWARF; where that has no function, as it may be of parts of a program only,
 * from a Go program's own table; else from the symbol table of the file or its
 * debug file.  Looks for the debug files at the first call.  Valid until the
 * next one.
 */
void source_find(struct source *source, uint64_t address, struct source_answer *out);

/* Keep what was found since the last time, if there is a cache. */
void source_save(struct source *source);

void source_release(struct source *source);
