/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/source.h"
#include "symbol/locate.h"

static void open_dwarf(struct source *source)
{
	source->dwarf_tried = true;
	source->debug = locate_debug(source->elf);
	source->alternate = locate_alternate(source->debug ? source->debug : source->elf);
	const struct dwarf_inputs inputs = { .elf = source->elf, .debug = source->debug,
					     .alternate = source->alternate };
	source->dwarf = dwarf_open(&inputs);
}

size_t source_frames(struct source *source, uint64_t address, const struct dwarf_frame **frames)
{
	if (!source->elf)
		return 0;
	if (!source->dwarf_tried)
		open_dwarf(source);
	return source->dwarf ? dwarf_find(source->dwarf, address, frames) : 0;
}

void source_release(struct source *source)
{
	if (source->dwarf)
		dwarf_close(source->dwarf);
	elf_close(source->alternate);
	elf_close(source->debug);
	elf_close(source->elf);
	*source = (struct source){ 0 };
}
