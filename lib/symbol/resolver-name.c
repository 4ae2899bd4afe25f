/* SPDX-License-Identifier: Apache-2.0 */
/* What a place is called: from debug information, symbol tables, the kernel's list. */
#include "symbol/demangle.h"
#include "symbol/resolver-internal.h"

uint32_t string_id(struct resolver *r, const char *text)
{
	uint32_t known = r->strings.count, id = intern_text(&r->strings, text);

	if (known == 0)		/* the intern has made "" as well */
		resolved_add_string(r->tables, "", 0);
	if (id && id >= known)
		resolved_add_string(r->tables, text, strlen(text));
	return id;
}

static uint32_t function_id(struct resolver *r, const struct resolved_function *f)
{
	uint64_t hash = hash_more(hash_more((uint64_t)f->name << 32 | f->system_name, f->file),
				  f->line);
	struct table_probe probe = table_probe(&r->function_table, hash);
	uint32_t id;

	while ((id = table_next(&r->function_table, &probe)) != TABLE_NONE)
		if (!memcmp(&r->tables->function[id], f, sizeof(*f)))
			return id;
	id = resolved_add_function(r->tables, f);
	table_add(&r->function_table, hash, id);
	return id;
}

/* The name of a place by symbol tables; NULL: it has none. */
static const char *symbol_of(struct resolver *r, const struct place *place)
{
	struct elf_symbol symbol;

	if (place->in_kernel && r->kallsyms && !kallsyms_trouble(r->kallsyms))
		return kallsyms_find(r->kallsyms, place->address + r->kernel_shift);
	if (place->source == TABLE_NONE)
		return NULL;
	return source_symbol(r->source[place->source], place->own_address, &symbol) ? symbol.name
										: NULL;
}

/* The line of a function called NAME, as linkers have it. */
static struct resolved_line named_line(struct resolver *r, const char *name, bool is_mangled,
				       const char *file, uint32_t line)
{
	struct resolved_function f = { .system_name = string_id(r, name), .line = line };
	struct arena scratch = { 0 };

	f.name = is_mangled ? string_id(r, demangle(&scratch, name, r->options.demangle))
			    : f.system_name;
	f.file = file ? string_id(r, file) : 0;
	arena_release(&scratch);
	return (struct resolved_line){ .function = function_id(r, &f) };
}

/*
 * One frame of debug information.  Without a linkage name the source's name
 * is the whole name (C), or the symbol's is better (SYMBOL, of the outermost
 * frame: scopes are not in the source's name).
 */
static struct resolved_line debug_line(struct resolver *r, const struct dwarf_frame *frame,
				       const char *symbol)
{
	const struct dwarf_function *f = frame->function;
	const char *name = f && f->linkage_name ? f->linkage_name : f && f->name ? f->name : symbol;
	const char *file = f && f->file ? f->file : frame->file;
	bool lines = !r->options.no_lines;
	struct resolved_line line = named_line(r, name ? name : "?", true, lines ? file : NULL,
					       f && lines ? f->line : 0);

	if (!lines)
		return line;
	line.file = frame->file ? string_id(r, frame->file) : 0;
	line.line = frame->line;
	line.column = frame->column;
	return line;
}

static uint32_t find_jit_line(struct resolver *r, const struct place *place)
{
	bool lines = !r->options.no_lines;
	struct jit_place found;

	r->from = FROM_NOTHING;
	if (!jitmap_find(place->jit, place->address, r->time, &found) &&
	    !(refresh_jit(r, place->jit) &&
	      jitmap_find(place->jit, place->address, r->time, &found)))
		return 0;
	r->from = FROM_JIT;
	r->by_time = found.by_time;
	r->line[0] = named_line(r, found.name, false, lines ? found.file : NULL, 0);
	if (lines && found.file) {
		r->line[0].file = string_id(r, found.file);
		r->line[0].line = found.line;
	}
	return 1;
}

uint32_t find_lines(struct resolver *r, const struct place *place)
{
	struct source *source = place->source == TABLE_NONE ? NULL : r->source[place->source];
	const struct dwarf_frame *frame;

	if (place->jit)
		return find_jit_line(r, place);
	const char *symbol = symbol_of(r, place);
	size_t frames = source ? source_frames(source, place->own_address, &frame) : 0;
	r->from = frames ? source->go ? FROM_GO : FROM_DEBUG
		: !symbol ? FROM_NOTHING : place->in_kernel ? FROM_KERNEL : FROM_SYMBOLS;
	if (frames == 0) {
		if (symbol)
			r->line[0] = named_line(r, symbol, !place->in_kernel, NULL, 0);
		return symbol != NULL;
	}
	if (r->options.no_inlines) {
		frame += frames - 1;	/* the outermost */
		frames = 1;
	}
	if (frames > LINES_MAX)
		frames = LINES_MAX;
	for (size_t i = 0; i < frames; i++)
		r->line[i] = debug_line(r, &frame[i], i == frames - 1 ? symbol : NULL);
	return (uint32_t)frames;
}
