/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source - everything that names the code of an object: its file, the file with its debug
 * information, the debug information that it shares with other programs, and the index of
 * earlier runs.
 */
#pragma once
#include "base/pointers.h"
#include "dwarf/dwarf.h"
#include "elf/data-symbols.h"
#include "locate/image.h"
#include "resolve/cache.h"
#include "symbol/gotable.h"

/* A section of a kernel module's code. */
struct module_code {
	uint64_t start, size;	/* in the kernel's memory; SIZE in bytes */
	uint64_t own;		/* address in the file that corresponds to START */
};

/*
 * What was read from a file and its debug files. All paths of a file that lead to the same debug
 * files share it.
 */
struct debug_files {
	struct debug_files *next;	/* what was read for other paths of ELF */
	uint32_t further_users;	/* users besides the first */
	const struct source *asker;	/* the user of the current lookup, to find split files */
	struct elf *elf, *debug, *alternate, *package;	/* all but ELF may be NULL */
	char *path;		/* path of the first user */
	bool opened;		/* open_dwarf() was called */
	const char *refused;	/* why debug information is not read; NULL: it may be read */
	bool exceeded_reported;	/* it was reported that DWARF is not read completely */
	bool version_reported;	/* it was reported that a version of DWARF is not read */
	struct dwarf *dwarf;	/* NULL: not opened, or none */
	bool go_damage_reported;	/* damage of GO was reported */
	bool go_tried;		/* GO was looked for, because DWARF had no function */
	struct gotable *go;	/* NULL: not looked for, or not a Go program */
	struct go_answer *answer;	/* the last answer of GO, as DWARF's structures */
	bool is_kept;		/* save the answers in the cache */
	struct index *index;	/* answers of earlier runs; NULL: none */
	uint64_t *missed;	/* addresses that INDEX does not have */
	uint32_t hits, misses;	/* addresses found in INDEX; elements of MISSED */
	uint32_t saved;		/* MISSES at the last save */
};

struct source {
	struct image image;	/* its file; IMAGES is in a struct sources */
	struct module_code *code;	/* sections of a kernel module's code; NULL: none */
	uint32_t codes;		/* elements of CODE */
	struct debug_files *files;	/* NULL: its debug files were not looked for yet */
};

/* The sources of all objects. */
struct sources {
	struct images images;	/* for sources_begin(), the owner sets WHERE, REPORT and SIZE */
	struct cache cache;	/* with a NULL directory: no cache */
	bool no_calls, no_lines;	/* answers need no inlined calls, no lines */
	/* ids that the owner gave to strings of answers; emptied when some of these are freed */
	struct pointers strings;
};

void sources_begin(struct sources *s);

/* Return the source of object ID; NULL: its file was not needed yet. */
static inline struct source *source_of(const struct sources *s, uint32_t id)
{
	return (struct source *)image_find(&s->images, id);
}

/* Return the source of object ID.  Its file may not have been looked for yet. */
static inline struct source *source_at(struct sources *s, uint32_t id)
{
	return (struct source *)image_at(&s->images, id);
}

/*
 * Look up ADDRESS: in the index of earlier runs, or else in DWARF. If DWARF has no function there
 * (it may cover only parts of a program), in a Go program's own table. If that has no function
 * either, in the symbol table of the file or its debug file. The first call looks for the debug
 * files. *OUT is valid until the next call.
 */
void source_find(struct source *source, uint64_t address, struct source_answer *out);

/*
 * The same, without the index: return the range around ADDRESS with the same answer.  SOURCE must
 * have a file.
 */
struct extent source_find_range(struct source *source, uint64_t address,
				struct source_answer *out);

/*
 * Find the symbol at ADDRESS: in the debug file, which has all symbols, or else in the file itself,
 * which alone has stubs (PLT). source_find() must have been called.
 */
bool source_symbol(struct source *source, uint64_t address, struct elf_symbol *out);

/* Find the variable that contains ADDRESS: in the debug file, or else in the file itself. */
bool source_variable(struct source *source, uint64_t address, struct elf_variable *out);

/*
 * Return the name of the member at OFFSET of the variable that starts at the address VARIABLE, as
 * dwarf_member() does.  source_variable() must have found it.  Valid until the next call.
 */
const char *source_member(struct source *source, uint64_t variable, uint64_t offset);

/*
 * Return the addresses of the function that contains ADDRESS, by a Go program's own table. An empty
 * range: the table has no such function. source_find() must have been called.
 */
struct extent source_go_function(struct source *source, uint64_t address);

/* Return whether a function starts at ADDRESS, by a symbol table or a Go program's own table. */
bool source_starts_function(struct source *source, uint64_t address);
