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
	if (!source->dwarf)
		source->go = gotable_open(source->elf);
}

static size_t go_frames(struct source *source, uint64_t address, const struct dwarf_frame **frames)
{
	const struct go_frame *frame;
	size_t count = gotable_find(source->go, address, &frame);

	if (count > GO_FRAMES_MAX)
		count = GO_FRAMES_MAX;
	for (size_t i = 0; i < count; i++) {
		source->go_function[i] = (struct dwarf_function){
			.name = frame[i].function, .file = frame[i].file,
			.line = frame[i].start_line,
		};
		source->go_frame[i] = (struct dwarf_frame){
			.function = &source->go_function[i], .file = frame[i].file,
			.line = frame[i].line,
		};
	}
	*frames = source->go_frame;
	return count;
}

size_t source_frames(struct source *source, uint64_t address, const struct dwarf_frame **frames)
{
	if (!source->elf)
		return 0;
	if (!source->dwarf_tried)
		open_dwarf(source);
	if (source->go)
		return go_frames(source, address, frames);
	return source->dwarf ? dwarf_find(source->dwarf, address, frames) : 0;
}

void source_release(struct source *source)
{
	if (source->dwarf)
		dwarf_close(source->dwarf);
	if (source->go)
		gotable_close(source->go);
	elf_close(source->alternate);
	elf_close(source->debug);
	elf_close(source->elf);
	*source = (struct source){ 0 };
}
