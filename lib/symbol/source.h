/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source - all that tells names of an object's code: its file, the file with
 * its debug information, and that of several programs in common.
 */
#pragma once
#include "symbol/dwarf.h"
#include "symbol/elf.h"
#include "symbol/gotable.h"

enum { GO_FRAMES_MAX = 64 };	/* calls of Go that were inlined into each other */

/* Zero-initialised: nothing looked for yet. */
struct source {
	bool tried;		/* looked for, once; the rest is what was found */
	struct elf *elf;
	bool dwarf_tried;
	struct elf *debug, *alternate;
	struct dwarf *dwarf;
	struct gotable *go;	/* of a Go program without DWARF */
	struct dwarf_function go_function[GO_FRAMES_MAX];	/* the last answer of GO, */
	struct dwarf_frame go_frame[GO_FRAMES_MAX];		/* in DWARF's shape */
};

/*
 * The frames at ADDRESS as dwarf_find() gives them, from DWARF or a Go
 * program's own table.  Looks for the debug files at the first call.
 */
size_t source_frames(struct source *source, uint64_t address, const struct dwarf_frame **frames);

void source_release(struct source *source);
