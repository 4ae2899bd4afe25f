/* SPDX-License-Identifier: Apache-2.0 */
/* Names of places: from debug information, symbol tables, kallsyms and JIT compilers. */
#include "resolve/resolver-internal.h"
#include "elf/call.h"
#include "names/demangle.h"

uint32_t resolver_string_id(struct resolver *r, const char *text)
{
	uint32_t known = r->strings.count, id = intern_text(&r->strings, text);

	if (known == 0)		/* intern_text() has added "" as well */
		resolved_add_string(r->tables, "", 0);
	if (id && id >= known)
		resolved_add_string(r->tables, text, strlen(text));
	return id;
}

/*
 * Return the id of TEXT, a name from a file. Names in a file may overlap, so all names together
 * may be far longer than the file. Beyond a total of LONG_NAMES_MAX bytes long names are cut.
 * A name that is defined again after a restart counts once.
 */
static uint32_t bounded_string_id(struct resolver *r, const char *text)
{
	enum { SHORT = 256, LONG_NAMES_MAX = 128 << 20 };	/* bytes: one, all long ones */
	char cut[SHORT + 1];
	size_t length = strlen(text);

	if (length <= SHORT)
		return resolver_string_id(r, text);
	uint64_t hash = hash_bytes(text, length);
	if (byte_ids_find(&r->long_seen, &hash, sizeof(hash)) != TABLE_NONE)
		return resolver_string_id(r, text);
	if (length <= LONG_NAMES_MAX - r->long_names) {
		byte_ids_add(&r->long_seen, &hash, sizeof(hash));
		r->long_names += length;
		return resolver_string_id(r, text);
	}
	report_rarely(r->report, "names of more than %d bytes take %d MiB: further ones are cut to "
		      "that length", SHORT, LONG_NAMES_MAX >> 20);
	memcpy(cut, text, SHORT);
	cut[SHORT] = '\0';
	return resolver_string_id(r, cut);
}

/* Return the id of TEXT from a source, which stays at its address; 0 for NULL. */
static uint32_t source_string_id(struct resolver *r, const char *text)
{
	uint32_t id = 0;

	return !text || pointers_find(&r->sources.strings, text, &id)
		? id : pointers_add(&r->sources.strings, text, bounded_string_id(r, text));
}

/* Return the string of the readable form of NAME, which is string ID. */
static uint32_t readable_id(struct resolver *r, uint32_t id, const char *name)
{
	struct arena scratch = { 0 };

	for (; r->readables <= id; r->readables++) {
		r->readable = array_grow(r->readable, r->readables, sizeof(*r->readable));
		r->readable[r->readables] = 0;
	}
	if (!r->readable[id])
		r->readable[id] = resolver_string_id(r,
						     demangle(&scratch, name, r->options.demangle));
	arena_release(&scratch);
	return r->readable[id];
}

/* Return the name of a place's outermost frame by symbol tables; NULL: FOUND has the name. */
static const char *symbol_of(const struct resolver *r, const struct place *place,
			     const struct source_answer *found)
{
	if (found->symbol || !place->in_kernel ||
	    dwarf_function_name(dwarf_outermost(found->frame, found->frames)))
		return found->symbol;
	return resolver_kernel_symbol(r, place);
}

/* Return a line of function F with linkage name MANGLED; NULL: its name is readable already. */
static struct resolved_line function_line(struct resolver *r, struct resolved_function f,
					  const char *mangled)
{
	f.name = mangled ? readable_id(r, f.system_name, mangled) : f.system_name;
	return (struct resolved_line){
		.function = resolved_function_id(r->tables, &r->function_table, &f) };
}

/*
 * Return the line for a frame of debug information. SYMBOL replaces its name unless it is NULL. A
 * function without a linkage name (C) has its name in the source as its whole name.
 */
static struct resolved_line debug_line(struct resolver *r, const struct dwarf_frame *frame,
				       const char *symbol)
{
	const struct dwarf_function *f = frame->function;
	const char *name = symbol ? symbol : dwarf_function_name(f);
	struct resolved_function function = { 0 };

	function.system_name = source_string_id(r, name);
	if (r->options.no_lines)
		return function_line(r, function, name);
	function.file = source_string_id(r, f && f->file ? f->file : frame->file);
	function.line = f ? f->line : 0;
	struct resolved_line line = function_line(r, function, name);
	line.file = source_string_id(r, frame->file);
	line.line = frame->line;
	line.column = frame->column;
	return line;
}

bool resolver_is_before_function(struct resolver *r, const struct place *place)
{
	struct source *source = !place->in_kernel ? source_of(&r->sources, place->source) : NULL;
	uint64_t next = place->own_address + 1;

	return source && source->image.elf && !elf_follows_call(source->image.elf, next) &&
	       source_starts_function(source, next);
}

bool resolver_jit_knows(struct resolver *r, struct jitmap *map, uint64_t address,
			struct jit_place *found)
{
	return jitmap_find(map, address, r->time, found) ||
	       (resolver_jit_refresh(r, map) && jitmap_find(map, address, r->time, found));
}

uint32_t resolver_find_named_line(struct resolver *r, const char *name)
{
	struct resolved_function function = { .system_name = resolver_string_id(r, name) };

	r->from = FROM_NOTHING;
	r->line[0] = function_line(r, function, NULL);
	return 1;
}

static uint32_t find_jit_line(struct resolver *r, const struct place *place)
{
	struct resolved_function function = { 0 };
	struct jit_place found;

	r->from = FROM_NOTHING;
	if (!resolver_jit_knows(r, place->jit, place->address, &found)) {
		if (jitmap_is_empty(place->jit))
			resolver_jit_is_nameless(r, r->part[place->object].pid);
		return 0;
	}
	r->from = FROM_JIT;
	r->by_time = found.varies;
	function.system_name = resolver_string_id(r, found.name);
	if (found.file && !r->options.no_lines)
		function.file = resolver_string_id(r, found.file);
	r->line[0] = function_line(r, function, NULL);
	if (function.file) {
		r->line[0].file = function.file;
		r->line[0].line = found.line;
	}
	return 1;
}

/* Return whether r->line[AT], named NAME, is a wrapper of Go for the method inlined into it. */
static bool is_repeated(const struct resolver *r, uint32_t at, const char *name)
{
	const struct resolved_function *function = r->tables->function;

	return at > 0 && demangle_is_wrapper(name) &&
	       function[r->line[at].function].name == function[r->line[at - 1].function].name;
}

uint32_t resolver_find_lines(struct resolver *r, const struct place *place)
{
	struct source *source = source_of(&r->sources, place->source);
	struct source_answer found = { 0 };

	if (place->jit)
		return find_jit_line(r, place);
	if (source)
		source_find(source, place->own_address, &found);
	const char *symbol = symbol_of(r, place, &found);
	if (!symbol && place->recorded && found.frames == 0)
		symbol = recorded_names_find(&r->recorded, place->recorded - 1,
					     place->recorded_address);
	const struct dwarf_frame *frame = found.frame;
	size_t frames = found.frames;
	r->from = frames ? found.is_go ? FROM_GO : FROM_DEBUG
		: !symbol ? FROM_NOTHING : place->in_kernel ? FROM_KERNEL : FROM_SYMBOLS;
	if (frames == 0) {
		struct resolved_function function = { 0 };
		if (!symbol)
			return 0;
		function.system_name = source_string_id(r, symbol);
		r->line[0] = function_line(r, function, place->in_kernel ? NULL : symbol);
		return 1;
	}
	if (r->options.no_inlines) {
		frame += frames - 1;	/* the outermost */
		frames = 1;
	}
	uint32_t lines = 0;
	for (size_t i = 0; i < frames && lines < LINES_MAX; i++) {
		const char *outermost = i == frames - 1 ? symbol : NULL;
		/* A frame without a name counts to its caller: debug information may be missing. */
		const char *name = outermost ?: dwarf_function_name(frame[i].function);
		if (!name)
			continue;
		r->line[lines] = debug_line(r, &frame[i], outermost);
		lines += !is_repeated(r, lines, name);
	}
	if (!lines)
		r->from = FROM_NOTHING;
	return lines;
}
