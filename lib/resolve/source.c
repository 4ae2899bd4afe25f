/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/source-internal.h"
#include "base/arena.h"

#include <limits.h>
#include <stdlib.h>

struct go_answer {
	struct dwarf_function function[GO_FRAMES_MAX];
	struct dwarf_frame frame[GO_FRAMES_MAX];
};

/* NAME in the program's directory. */
static struct elf *open_beside(const struct source *source, const char *name)
{
	const char *slash = strrchr(source->path, '/');
	char path[PATH_MAX];

	if (!slash || snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - source->path),
			       source->path, name) >= (int)sizeof(path))
		return NULL;
	return locate_elf(source->root, path);
}

/*
 * A .dwo file: where the compiler put it, or, of a program that was moved
 * with its parts, beside the program.
 */
static struct elf *open_split(void *context, const char *path)
{
	const struct source *source = context;
	const char *slash = strrchr(path, '/');
	struct elf *elf = *path == '/' ? locate_elf(source->root, path)
				       : open_beside(source, path);

	if (!elf && *path == '/' && *source->root)
		elf = locate_elf("", path);
	return elf || !slash ? elf : open_beside(source, slash + 1);
}

static void locate_parts(struct source *source)
{
	struct cache_key key;
	const char *shared;

	source->located = true;
	source->debug = locate_debug(source->where, source->elf, source->path, source->root);
	source->alternate = locate_alternate(source->where,
					     source->debug ? source->debug : source->elf,
					     source->root, &shared);
	if (shared && !source->alternate)
		report_note(source->report, "names of inlined calls in '%s' are missing: '%s', "
			    "with the debug information that it shares, is not here", source->path,
			    shared);
	source->package = locate_package(source->path, source->root);
	source->is_kept = source->cache->directory && source_key(source, &key);
	if (source->is_kept)
		source->index = cache_open(source->cache, &key);
}

static void open_tables(struct source *source)
{
	source->opened = true;
	const struct dwarf_inputs inputs = {
		.elf = source->elf, .debug = source->debug, .alternate = source->alternate,
		.package = source->package, .open_split = open_split, .context = source,
	};
	source->dwarf = dwarf_open(&inputs);
	if (elf_has_refused(source->elf) || elf_has_refused(source->debug) ||
	    elf_has_refused(source->alternate) || elf_has_refused(source->package))
		report_note(source->report, "'%s': some of its debug information is packed too "
			    "densely to be true; it is not read", source->path);
	if (source->dwarf)
		dwarf_leave_out(source->dwarf, source->no_calls, source->no_lines);
}

static void open_go(struct source *source)
{
	source->go_tried = true;
	source->go = gotable_open(source->elf);
	if (source->go)
		source->answer = mem_zeroed(1, sizeof(*source->answer));
}

/* False: it is no Go code.  Then SAME shrinks to what is none around ADDRESS. */
static bool find_go(struct source *source, uint64_t address, struct source_answer *out,
		    struct extent *same)
{
	const struct go_frame *frame;

	if (!source->go_tried)
		open_go(source);
	struct go_answer *answer = source->answer;
	size_t count = gotable_find(source->go, address, &frame);
	if (count == 0) {
		gotable_narrow(source->go, address, same);
		return false;
	}
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
	*out = (struct source_answer){ .frame = answer->frame, .frames = count, .is_go = true };
	return true;
}

/* The debug file has them all; stubs are in the program only. */
static bool find_symbol(struct source *source, uint64_t address, struct elf_symbol *out)
{
	struct extent other = { 0, UINT64_MAX };

	if (source->debug && elf_symbol(source->debug, address, out))
		return true;
	if (source->debug)
		other = out->same;
	bool found = elf_symbol(source->elf, address, out);
	extent_narrow(&out->same, other.start, other.end);
	return found;
}

/*
 * The symbol's name counts where DWARF has none, and for code that begins with
 * the symbol: that is what perf, too, calls it.
 */
static struct extent add_symbol(struct source *source, uint64_t address,
				struct source_answer *out)
{
	const char *name = dwarf_function_name(dwarf_outermost(out->frame, out->frames));
	struct elf_symbol symbol;

	if (!find_symbol(source, address, &symbol)) {
		if (name)
			return symbol.same;
		if (out->frames == 1)
			out->frames = 0;	/* a line of no function: padding between them */
		return (struct extent){ address, address + 1 };
	}
	if (!name || (symbol.address == dwarf_function_start(source->dwarf) &&
		      strcmp(symbol.name, name)))
		out->symbol = symbol.name;
	return symbol.same;
}

struct extent source_read(struct source *source, uint64_t address, struct source_answer *out)
{
	struct extent same = { 0, UINT64_MAX };

	*out = (struct source_answer){ 0 };
	if (!source->opened)
		open_tables(source);
	if (source->dwarf) {
		out->frames = dwarf_find(source->dwarf, address, &out->frame);
		same = dwarf_extent(source->dwarf);
	}
	/* C code in a Go program may have DWARF although that of Go was left out. */
	if (!dwarf_outermost(out->frame, out->frames) && find_go(source, address, out, &same))
		return (struct extent){ address, address + 1 };
	struct extent symbol = add_symbol(source, address, out);
	extent_narrow(&same, symbol.start, symbol.end);
	return same;
}

/* False: the index does not have it. */
static bool find_known(struct source *source, uint64_t address, struct source_answer *out)
{
	struct index_answer known;

	if (!source->index || !index_find(source->index, address, &known))
		return false;
	source->hits++;
	*out = (struct source_answer){ 0 };
	if (known.kind == INDEX_SYMBOL) {
		out->symbol = known.frame[0].function->linkage_name;
	} else {
		out->frame = known.frame;
		out->frames = known.frames;
	}
	return true;
}

void source_find(struct source *source, uint64_t address, struct source_answer *out)
{
	*out = (struct source_answer){ 0 };
	if (!source->elf)
		return;
	if (!source->located)
		locate_parts(source);
	if (find_known(source, address, out))
		return;
	source_read(source, address, out);
	if (!source->is_kept || out->is_go)	/* Go's table is as fast as what is kept */
		return;
	source->missed = array_grow(source->missed, source->misses, sizeof(*source->missed));
	source->missed[source->misses++] = address;
}

void source_release(struct source *source)
{
	index_close(source->index);
	free(source->missed);
	free(source->code);
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
