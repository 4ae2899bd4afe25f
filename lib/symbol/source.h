/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source - all that tells names of an object's code: its file, the file with
 * its debug information, and that of several programs in common.
 */
#pragma once
#include "symbol/dwarf.h"
#include "symbol/elf.h"

/* Zero-initialised: nothing looked for yet. */
struct source {
	bool tried;		/* looked for, once; the rest is what was found */
	struct elf *elf;
	bool dwarf_tried;
	struct elf *debug, *alternate;
	struct dwarf *dwarf;
};

/* The frames at ADDRESS as dwarf_find() gives them; looks for the debug files at the first call. */
size_t source_frames(struct source *source, uint64_t address, const struct dwarf_frame **frames);

void source_release(struct source *source);
