/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source - all that tells names of an object's code: its file, the file with
 * its debug information, and that of several programs in common.
 */
#pragma once
#include "symbol/dwarf.h"
#include "symbol/elf.h"
#include "symbol/gotable.h"
#include "symbol/locate.h"

/* Zero-initialised: nothing looked for yet. */
struct source {
	bool tried;		/* looked for, once; the rest is what was found */
	bool told;		/* that nothing was found */
	enum locate_result result;
	struct elf *elf;
	char *root;		/* what its path is below, "" for none; ours */
	const struct locate_options *where;	/* for the debug files */
	const char *path;	/* of the object; lives as long as its */
	bool dwarf_tried;
	struct elf *debug, *alternate, *package;
	struct dwarf *dwarf;
	struct gotable *go;	/* of a Go program without DWARF */
	struct go_answer *answer;	/* the last one of GO, in DWARF's shape */
};

/*
 * The frames at ADDRESS as dwarf_find() gives them, from DWARF or a Go
 * program's own table.  Looks for the debug files at the first call.
 */
size_t source_frames(struct source *source, uint64_t address, const struct dwarf_frame **frames);

/* The symbol at ADDRESS, of the file or of its debug file. */
bool source_symbol(struct source *source, uint64_t address, struct elf_symbol *out);

void source_release(struct source *source);
