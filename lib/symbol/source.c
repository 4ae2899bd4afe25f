/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/source.h"
#include "base/arena.h"

#include <limits.h>
#include <stdlib.h>

enum { GO_FRAMES_MAX = 64 };	/* calls of Go that were inlined into each other */

struct go_answer {
	struct dwarf_function function[GO_FRAMES_MAX];
	struct dwarf_frame frame[GO_FRAMES_MAX];
};

/*
 * A .dwo file: where the compiler put it, or, of a program that was moved
 * with its parts, beside the program.
 */
static struct elf *open_split(void *context, const char *path)
{
	const struct source *source = context;
	const char *name = strrchr(path, '/'), *slash = strrchr(source->path, '/');
	struct elf *elf = *path == '/' ? locate_elf(source->root, path) : NULL;
	char beside[PATH_MAX];

	if (!elf && *path == '/' && *source->root)
		elf = locate_elf("", path);
	name = name ? name + 1 : path;
	if (!elf && slash && snprintf(beside, sizeof(beside), "%.*s/%s",
				      (int)(slash - source->path), source->path,
				      name) < (int)sizeof(beside))
		elf = locate_elf(source->root, beside);
	return elf;
}

static void open_dwarf(struct source *source)
{
	source->dwarf_tried = true;
	source->debug = locate_debug(source->where, source->elf, source->path, source->root);
	source->alternate = locate_alternate(source->where,
					     source->debug ? source->debug : source->elf,
					     source->root);
	source->package = locate_package(source->path, source->root);
	const struct dwarf_inputs inputs = {
		.elf = source->elf, .debug = source->debug, .alternate = source->alternate,
		.package = source->package, .open_split = open_split, .context = source,
	};
	source->dwarf = dwarf_open(&inputs);
	if (!source->dwarf)
		source->go = gotable_open(source->elf);
	if (source->go)
		source->answer = mem_zeroed(1, sizeof(*source->answer));
}

static size_t go_frames(struct source *source, uint64_t address, const struct dwarf_frame **frames)
{
	struct go_answer *answer = source->answer;
	const struct go_frame *frame;
	size_t count = gotable_find(source->go, address, &frame);

	if (count > GO_FRAMES_MAX)
		count = GO_FRAMES_MAX;
	for (size_t i = 0; i < count; i++) {
		answer->function[i] = (struct dwarf_function){
			.name = frame[i].function, .file = frame[i].file,
			.line = frame[i].start_line,
		};
		answer->frame[i] = (struct dwarf_frame){
			.function = &answer->function[i], .file = frame[i].file,
			.line = frame[i].line,
		};
	}
	*frames = answer->frame;
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

bool source_symbol(struct source *source, uint64_t address, struct elf_symbol *out)
{
	if (!source->elf)
		return false;
	if (!source->dwarf_tried)
		open_dwarf(source);
	return elf_symbol(source->elf, address, out) ||
	       (source->debug && elf_symbol(source->debug, address, out));
}

void source_release(struct source *source)
{
	if (source->dwarf)
		dwarf_close(source->dwarf);
	if (source->go)
		gotable_close(source->go);
	free(source->answer);
	elf_close(source->package);
	elf_close(source->alternate);
	elf_close(source->debug);
	elf_close(source->elf);
	free(source->root);
	*source = (struct source){ 0 };
}
