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

/* Zero-initialised: nothing looked for yet. */
struct source {
	bool tried;		/* looked for, once; the rest is what was found */
	bool told;		/* that nothing was found */
	enum locate_result result;
	struct elf *elf;
	char *root;		/* what its path is below, "" for none; ours */
	const struct locate_options *where;	/* for the debug files */
	const struct cache *cache;	/* its directory NULL: none */
	struct report *report;
	bool no_calls, no_lines;	/* need not be found */
	const char *path;	/* of the object; lives as long as its */
	bool located;		/* DEBUG, ALTERNATE, PACKAGE were looked for, once */
	struct elf *debug, *alternate, *package;
	bool opened;		/* so were these */
	struct dwarf *dwarf;
	bool go_tried;		/* GO was looked for, once: where DWARF knows no function */
	struct gotable *go;	/* NULL: not looked for, or it is no Go program */
	struct go_answer *answer;	/* the last one of GO, in DWARF's shape */
	bool is_kept;		/* what is found goes into the cache */
	struct index *index;	/* what was known before; NULL: nothing */
	uint64_t *missed;	/* addresses that it does not have */
	uint32_t hits, misses;
	struct module_code *code;	/* of a kernel module */
	uint32_t codes;
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

/* Keep what was found, if there is a cache. */
void source_save(struct source *source);

void source_release(struct source *source);
