/* SPDX-License-Identifier: Apache-2.0 */
/* Names of places: from debug information, symbol tables, kallsyms and JIT compilers. */
#include "resolve/namer.h"
#include "resolve/place.h"

#include <stdlib.h>

uint32_t namer_string(struct namer *n, const char *text)
{
	uint32_t known = n->strings.count, id = intern_text(&n->strings, text);

	if (known == 0)		/* intern_text() has added "" as well */
		resolved_add_string(n->definitions, "", 0);
	if (id && id >= known)
		resolved_add_string(n->definitions, text, strlen(text));
	return id;
}

uint32_t namer_file_string(struct namer *n, const char *text)
{
	enum { SHORT = 256, LONG_NAMES_MAX = 128 << 20 };	/* bytes: one, all long ones */
	char cut[SHORT + 1];
	size_t length = strlen(text);

	if (length <= SHORT)
		return namer_string(n, text);
	uint64_t hash = hash_bytes(text, length);
	if (byte_ids_find(&n->long_seen, &hash, sizeof(hash)) != TABLE_NONE)
		return namer_string(n, text);
	if (length <= LONG_NAMES_MAX - n->long_names) {
		byte_ids_add(&n->long_seen, &hash, sizeof(hash));
		n->long_names += length;
		return namer_string(n, text);
	}
	report_rarely(n->report, "names of more than %d bytes take %d MiB: further ones are cut to "
		      "that length", SHORT, LONG_NAMES_MAX >> 20);
	memcpy(cut, text, SHORT);
	cut[SHORT] = '\0';
	return namer_string(n, cut);
}

/* Return the id of TEXT from a source, which stays at its address; 0 for NULL. */
static uint32_t source_string_id(struct namer *n, const char *text)
{
	uint32_t id = 0;

	return !text || pointers_find(n->source_strings, text, &id)
		? id : pointers_add(n->source_strings, text, namer_file_string(n, text));
}

/* Return the string of the readable form of NAME, which is string ID. */
static uint32_t readable_id(struct namer *n, uint32_t id, const char *name)
{
	struct arena scratch = { 0 };

	for (; n->readables <= id; n->readables++) {
		n->readable = array_grow(n->readable, n->readables, sizeof(*n->readable));
		n->readable[n->readables] = 0;
	}
	if (!n->readable[id])
		n->readable[id] = namer_string(n, demangle(&scratch, name, n->demangle));
	arena_release(&scratch);
	return n->readable[id];
}

/* Return a line of function F with linkage name MANGLED; NULL: its name is readable already. */
static struct resolved_line function_line(struct namer *n, struct resolved_function f,
					  const char *mangled)
{
	f.name = mangled ? readable_id(n, f.system_name, mangled) : f.system_name;
	return (struct resolved_line){
		.function = resolved_function_id(n->definitions, &n->functions, &f) };
}

/*
 * Return the line for a frame of debug information. SYMBOL replaces its name unless it is NULL. A
 * function without a linkage name (C) has its name in the source as its whole name.
 */
static struct resolved_line debug_line(struct namer *n, const struct dwarf_frame *frame,
				       const char *symbol)
{
	const struct dwarf_function *f = frame->function;
	const char *name = symbol ? symbol : dwarf_function_name(f);
	struct resolved_function function = { 0 };

	function.system_name = source_string_id(n, name);
	if (n->no_lines)
		return function_line(n, function, name);
	function.file = source_string_id(n, f && f->file ? f->file : frame->file);
	function.line = f ? f->line : 0;
	struct resolved_line line = function_line(n, function, name);
	line.file = source_string_id(n, frame->file);
	line.line = frame->line;
	line.column = frame->column;
	return line;
}

struct named_lines namer_fixed(struct namer *n, const char *name)
{
	struct resolved_function function = { .system_name = namer_string(n, name) };

	n->line[0] = function_line(n, function, NULL);
	return (struct named_lines){ n->line, 1, BY_NOTHING };
}

/* Return the line of a function of a JIT compiler. */
static struct named_lines jit_line(struct namer *n, const struct jit_symbol *found)
{
	struct resolved_function function = { 0 };

	if (!found->name)
		return (struct named_lines){ n->line, 0, BY_NOTHING };
	function.system_name = namer_string(n, found->name);
	if (found->file && !n->no_lines)
		function.file = namer_string(n, found->file);
	n->line[0] = function_line(n, function, NULL);
	if (function.file) {
		n->line[0].file = function.file;
		n->line[0].line = found->line;
	}
	return (struct named_lines){ n->line, 1, BY_JIT };
}

/* Return the line of SYMBOL, or none if it is NULL.  MANGLED: it may be mangled. */
static struct named_lines symbol_line(struct namer *n, const char *symbol, bool mangled,
				      enum name_source by)
{
	struct resolved_function function = { 0 };

	if (!symbol)
		return (struct named_lines){ n->line, 0, BY_NOTHING };
	function.system_name = source_string_id(n, symbol);
	n->line[0] = function_line(n, function, mangled ? symbol : NULL);
	return (struct named_lines){ n->line, 1, by };
}

uint32_t namer_variable(struct namer *n, const char *symbol)
{
	return symbol_line(n, symbol, true, BY_SYMBOLS).line->function;
}

/* Return whether n->line[AT], named NAME, is a wrapper of Go for the method inlined into it. */
static bool is_repeated(const struct namer *n, uint32_t at, const char *name)
{
	const struct resolved_function *function = n->definitions->function;

	return at > 0 && demangle_is_wrapper(name) &&
	       function[n->line[at].function].name == function[n->line[at - 1].function].name;
}

/* Return the lines of FOUND.  SYMBOL replaces the outermost frame's name unless it is NULL. */
static struct named_lines debug_lines(struct namer *n, const struct source_answer *found,
				      const char *symbol)
{
	size_t first = n->no_inlines ? found->frames - 1 : 0;	/* only the outermost */
	uint32_t lines = 0;

	for (size_t i = first; i < found->frames && lines < NAMER_LINES_MAX; i++) {
		const struct dwarf_frame *frame = &found->frame[i];
		const char *outermost = i == found->frames - 1 ? symbol : NULL;
		/* A frame without a name counts to its caller: debug information may be missing. */
		const char *name = outermost ?: dwarf_function_name(frame->function);
		if (!name)
			continue;
		n->line[lines] = debug_line(n, frame, outermost);
		lines += !is_repeated(n, lines, name);
	}
	return (struct named_lines){ n->line, lines, !lines ? BY_NOTHING
						   : found->is_go ? BY_GO : BY_DEBUG };
}

/*
 * Return the name in kallsyms of the code at PLACE in the kernel, or NULL.
 *
 * A module's symbol names only code of that module. It is used only if the kernel has not moved
 * since the recording, because modules do not move together with the kernel. The kernel's mapping
 * goes on after its last function. If the recording has no record of a module or a BPF program, its
 * code seems to be the kernel's.
 */
static const char *kernel_symbol(const struct namer *n, const struct place *place)
{
	const struct kernel_code *k = n->kernel;
	const struct object *o = place->kernel.object;
	uint64_t address = place->address + k->shift;
	const char *module, *name;

	if (!k->has_kallsyms || !o ||
	    (o->kind == OBJECT_KERNEL && kallsyms_is_beyond(k->kallsyms, address)))
		return NULL;
	name = kallsyms_find(k->kallsyms, address, &module);
	if (!name || (!module && o->kind == OBJECT_KERNEL))
		return name;
	return module && k->shift == 0 &&
	       (o->kind == OBJECT_KERNEL || locate_is_module(o->path, module)) ? name : NULL;
}

/* Return the name of RECORDED in the symbols of the stream, or NULL. */
static const char *stream_symbol(const struct namer *n, const struct recorded_place *recorded)
{
	return recorded->file == TABLE_NONE ? NULL
		: recorded_names_find(n->recorded, recorded->file, recorded->address);
}

/* Look up PLACE, which is in a file or the kernel: first in the file that was read. */
static struct named_lines source_lines(struct namer *n, const struct place *place)
{
	bool in_kernel = place->kind == PLACE_KERNEL;
	const struct source_place *in = in_kernel ? &place->kernel.in : &place->file;
	struct source_answer found = { 0 };

	if (in->source)
		source_find(in->source, in->address, &found);
	const char *symbol = found.symbol;
	if (in_kernel && !symbol && !answer_name(&found))
		symbol = kernel_symbol(n, place);
	if (found.frames)
		return debug_lines(n, &found, symbol);
	if (in_kernel && !symbol)
		symbol = stream_symbol(n, &place->kernel.recorded);
	return symbol_line(n, symbol, !in_kernel, in_kernel ? BY_KERNEL : BY_SYMBOLS);
}

struct named_lines namer_find(struct namer *n, const struct place *place)
{
	switch (place->kind) {
	case PLACE_FILE:
	case PLACE_KERNEL:
		return source_lines(n, place);
	case PLACE_JIT:
		return jit_line(n, &place->jit.function);
	case PLACE_RECORDED:
		return symbol_line(n, stream_symbol(n, &place->recorded), true, BY_SYMBOLS);
	case PLACE_UNKNOWN:
		break;
	}
	return (struct named_lines){ n->line, 0, BY_NOTHING };
}

void namer_restart(struct namer *n)
{
	intern_release(&n->strings);
	pointers_release(n->source_strings);
	table_release(&n->functions);
	free(n->readable);
	n->readable = NULL;
	n->readables = 0;
}

void namer_release(struct namer *n)
{
	namer_restart(n);
	byte_ids_release(&n->long_seen);
}
