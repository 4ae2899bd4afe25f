/* SPDX-License-Identifier: Apache-2.0 */
/* Arranges source lines and instructions for printing. */
#include "base/hex.h"
#include "base/text.h"
#include "compare/top.h"
#include "show/annotate.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE_SIZE = 1024 };	/* bytes of a line; the rest is cut */

struct annotate_showing {
	struct annotate *a;
	const struct annotate_sink *sink;
	const struct annotate_function *f;
};

__attribute__((format(printf, 2, 3)))
static void note(const struct annotate_showing *s, const char *format, ...)
{
	char text[1200];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	text_make_safe(text);	/* a cut may be inside a character */
	s->sink->note(s->sink->context, text);
}

/* Return whether ROW has at least a tenth of the function's cumulative cost. */
static bool is_hot(const struct annotate_showing *s, uint32_t row)
{
	const struct annotate_row *rows = s->a->row;
	uint64_t all = top_size(rows[s->f->row].value[BARS_CUMULATIVE]);
	uint64_t own = row ? top_size(rows[row].value[BARS_CUMULATIVE]) : 0;

	return own > 0 && (double)own * 10 >= (double)all;
}

/* --- source lines --- */

/* Say why TEXT has no lines, or that they may not be those of the program. */
static void check_text(const struct annotate_showing *s, const struct source_text *text)
{
	const struct annotate_function *f = s->f;
	int64_t program = f->first == TABLE_NONE ? 0 : code_files_modified(s->a->code, f->first);
	const char *what = "the program";

	if (program == 0 && s->a->d->time) {
		program = s->a->d->time;
		what = "the profile";
	}
	if (!*f->file)
		note(s, "the profile has no source lines of it; --show asm shows instructions");
	else if (text->why_not)
		note(s, "no source text of '%.500s': %s", f->file, text->why_not);
	else if (program && text->modified > program)
		note(s, "'%.500s' is newer than %s: its lines may be others now", text->found,
		     what);
	if (!text->why_not && f->numbers && f->number[f->numbers - 1].line > text->lines)
		note(s, "'%.500s' has only %" PRIu32 " lines: it is not what the program was "
		     "made from", text->found, text->lines);
}

static void show_line(const struct annotate_showing *s, const struct source_text *text,
		      uint64_t line, uint32_t row, const char *file)
{
	char room[LINE_SIZE];

	source_text_line(text, line, room, sizeof(room));
	s->sink->line(s->sink->context, &(struct annotate_line){
		.is_hot = is_hot(s, row), .number = line, .row = row, .text = room, .file = file });
}

/* Show the lines from FROM up to END, which have no samples. */
static void show_lines(const struct annotate_showing *s, const struct source_text *text,
		       uint64_t from, uint64_t end)
{
	for (; from < end; from++)
		show_line(s, text, from, 0, NULL);
}

/* Return the first line of the context before LINE, if AFTER is the first line not yet shown. */
static uint64_t context_before(const struct annotate *a, uint64_t line, uint64_t after)
{
	uint64_t from = line > a->context ? line - a->context : 0;

	return from > after ? from : after;
}

/* Return the line after the context of LINE, if LIMIT comes after the last line. */
static uint64_t context_after(const struct annotate *a, uint64_t line, uint64_t limit)
{
	return limit > line && limit - line - 1 > a->context ? line + a->context + 1 : limit;
}

static void show_source(const struct annotate_showing *s)
{
	const struct annotate_function *f = s->f;
	const struct source_text *text = source_texts_find(s->a->texts, f->file);
	uint64_t limit = (uint64_t)text->lines + 1, next = 1;	/* NEXT: first line not shown */

	s->sink->begin(s->sink->context, *f->file ? f->file : "(no file)", false);
	check_text(s, text);
	for (uint32_t i = 0; i < f->numbers; i++) {
		uint64_t line = (uint64_t)f->number[i].line;
		if (line == 0 || line >= limit) {	/* a negative line is large here */
			show_line(s, text, line, f->number[i].row, NULL);
			continue;
		}
		uint64_t from = context_before(s->a, line, next);
		if (from > next && next > 1)
			s->sink->gap(s->sink->context);
		show_lines(s, text, from, line);
		show_line(s, text, line, f->number[i].row, NULL);
		next = context_after(s->a, line, limit);
		if (i + 1 < f->numbers && (uint64_t)f->number[i + 1].line < next)
			next = (uint64_t)f->number[i + 1].line;
		show_lines(s, text, line + 1, next);
	}
	s->sink->end(s->sink->context);
}

/* --- instructions --- */

/* The source line that was shown last among instructions. */
struct last_line {
	const char *file;
	uint32_t line;
};

/* Show the source line of the instruction at ADDRESS, if it is another than the last. */
static void show_line_of(const struct annotate_showing *s, const struct code_block *block,
			 uint64_t address, struct last_line *last)
{
	struct last_line here;

	if (!code_block_line(block, address, &here.file, &here.line) ||
	    (last->file && here.line == last->line && !strcmp(here.file, last->file)))
		return;
	*last = here;
	const char *slash = strrchr(here.file, '/');
	char name[256];
	snprintf(name, sizeof(name), "%s", slash ? slash + 1 : here.file);
	text_make_safe(name);
	show_line(s, source_texts_find(s->a->texts, here.file), here.line, 0, name);
}

/*
 * If TEXT ends with an address ("call 0x401136"), write its name to NAME.  Addresses of data,
 * and numbers after '$' or '#', have no name.
 */
static bool find_target(const struct annotate_block *b, const char *text, char *name, size_t size)
{
	const char *last = strrchr(text, 'x'), *end;
	const struct code_block *of = &b->block;
	uint64_t address;

	if (!last || last < text + 2 || last[-1] != '0' || (last[-2] != ' ' && last[-2] != ',') ||
	    *(end = hex_number(last + 1, last + strlen(last), &address)) || end == last + 1)
		return false;
	if (address >= of->start && address < of->end)
		snprintf(name, size, "+0x%" PRIx64, address - of->start);
	else if (!code_block_symbol(of, address, name, size))
		return false;
	return true;
}

static void show_instruction(const struct annotate_showing *s, const struct annotate_block *b,
			     uint32_t i, struct last_line *last)
{
	const struct instruction *in = &b->code.item[i];
	const char *text = b->code.text + in->text;
	char room[LINE_SIZE], name[512];

	if (s->a->what == ANNOTATE_BOTH)
		show_line_of(s, &b->block, in->address, last);
	if (find_target(b, text, name, sizeof(name)))
		snprintf(room, sizeof(room), "%.400s <%s>", text, name);
	else
		snprintf(room, sizeof(room), "%.1000s", text);
	s->sink->line(s->sink->context, &(struct annotate_line){
		.is_code = true, .is_hot = is_hot(s, b->row[i]),
		.number = in->address, .row = b->row[i], .text = room });
}

/* Return which instructions are within the context of one with samples.  The caller frees. */
static bool *near_samples(const struct annotate *a, const struct annotate_block *b)
{
	bool *is_near = mem_zeroed(b->code.count, sizeof(*is_near));
	uint64_t next = 0;

	for (uint32_t i = 0; i < b->code.count; i++) {
		if (!b->row[i])
			continue;
		uint64_t k = context_before(a, i, next);
		next = context_after(a, i, b->code.count);
		for (; k < next; k++)
			is_near[k] = true;
	}
	return is_near;
}

static void show_block(const struct annotate_showing *s, const struct annotate_block *b)
{
	bool *is_near = near_samples(s->a, b);
	uint32_t shown = 0;		/* after the last one shown; 0: none was shown */
	struct last_line last = { NULL, 0 };

	s->sink->begin(s->sink->context, code_block_path(&b->block), true);
	if (b->block.is_cut)
		note(s, "the function is larger than %d KiB: the rest is left out",
		     CODE_BLOCK_MAX >> 10);
	for (uint32_t i = 0; i < b->code.count && !is_stopped(s->a->disassembler.stop); i++) {
		if (!is_near[i])
			continue;
		if (shown && shown < i)
			s->sink->gap(s->sink->context);
		show_instruction(s, b, i, &last);
		shown = i + 1;
	}
	s->sink->end(s->sink->context);
	free(is_near);
}

static void show_code(const struct annotate_showing *s)
{
	const struct annotate *a = s->a;
	const struct annotate_function *f = s->f;
	bool is_shown = false;

	for (uint32_t i = 0; i < f->blocks; i++) {
		if (f->block[i].code.count == 0)
			continue;
		show_block(s, &f->block[i]);
		is_shown = true;
	}
	if (is_shown)
		return;
	s->sink->begin(s->sink->context, *f->file ? f->file : "(no file)", false);
	if (f->first == TABLE_NONE && f->inlined_into != TABLE_NONE)
		note(s, "it has no instructions of its own: it is inlined, for example into '%s'",
		     decoded_string(a->d, decoded_function(a->d, f->inlined_into).name));
	else
		note(s, "its instructions are not known here");
	s->sink->end(s->sink->context);
}

/* --- all --- */

void annotate_show(struct annotate *a, const struct annotate_sink *sink)
{
	struct annotate_showing s = { .a = a, .sink = sink };

	for (uint32_t i = 0; i < a->functions && !is_stopped(a->disassembler.stop); i++) {
		s.f = &a->function[i];
		sink->function(sink->context, s.f);
		if (a->what == ANNOTATE_SOURCE)
			show_source(&s);
		else
			show_code(&s);
	}
}
