/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf/internal.h"
#include "elf/section.h"

#include <stdlib.h>

const char *const dwarf_section_names[SECTIONS] = {
	".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_line_str",
	".debug_ranges", ".debug_rnglists", ".debug_addr", ".debug_str_offsets",
	".debug_cu_index",
};

void dwarf_damaged(struct dwarf_file *f, enum dwarf_section s, uint64_t offset)
{
	struct dwarf *d = f->dwarf;

	if (d->exceeded || f->section[s].size == 0 || d->damage[s].is_damaged)
		return;
	d->damage[s].is_damaged = d->new_damage = true;
	d->damage[s].offset = offset;
}

void dwarf_unread(struct dwarf *d, uint16_t version)
{
	if (!d->unread_version)
		d->unread_version = version;
}

uint16_t dwarf_unread_version(const struct dwarf *d)
{
	return d ? d->unread_version : 0;
}

bool dwarf_next_damage(struct dwarf *d, struct elf_damage *out)
{
	if (!d || !d->new_damage)
		return false;
	for (int s = 0; s < SECTIONS; s++) {
		if (!d->damage[s].is_damaged || d->damage[s].is_returned)
			continue;
		d->damage[s].is_returned = true;
		*out = (struct elf_damage){ dwarf_section_names[s], d->damage[s].offset };
		return true;
	}
	d->new_damage = false;
	return false;
}

/* Open the separate debug file if it has DWARF, or else the program.  NULL: neither has DWARF. */
static struct dwarf_file *open_main(struct dwarf *d)
{
	struct elf_bytes info;

	if (d->inputs.debug && elf_section(d->inputs.debug, ".debug_info", &info))
		return dwarf_file_open(d, d->inputs.debug, "");
	if (elf_section(d->inputs.elf, ".debug_info", &info))
		return dwarf_file_open(d, d->inputs.elf, "");
	if (!elf_section(d->inputs.elf, ".debug", &info))
		return NULL;
	dwarf_unread(d, 1);
	return dwarf_file_open(d, d->inputs.elf, "");	/* it has no units */
}

struct dwarf *dwarf_open(const struct dwarf_inputs *inputs)
{
	struct dwarf *d = mem_zeroed(1, sizeof(*d));

	d->inputs = *inputs;
	elf_text(inputs->elf, &d->text_start, &d->text_end);
	d->main = open_main(d);
	if (!d->main || (d->main->units == 0 && !d->new_damage && !d->unread_version)) {
		dwarf_close(d);
		return NULL;
	}
	if (inputs->alternate)
		d->alternate = dwarf_file_open(d, inputs->alternate, "");
	if (inputs->package)
		d->package = dwarf_file_open(d, inputs->package, ".dwo");
	units_index(d);
	return d;
}

void dwarf_close(struct dwarf *d)
{
	if (!d)
		return;
	dwarf_charge(d, -d->memory);
	dwarf_file_close(d->main);
	dwarf_file_close(d->alternate);
	dwarf_file_close(d->package);
	dwarf_file_close(d->types);
	while (d->split) {
		struct dwarf_file *next = d->split->next;
		dwarf_file_close(d->split);
		d->split = next;
	}
	call_reader_free(d->call_reader);
	variables_free(d->variables);
	free(d->frame);
	free(d->named);
	table_release(&d->function_table);
	arena_release(&d->arena);
	free(d);
}

static struct dwarf_frame *add_frame(struct dwarf *d, size_t *count)
{
	d->frame = array_grow(d->frame, *count, sizeof(*d->frame));
	d->frame[*count] = (struct dwarf_frame){ 0 };
	return &d->frame[(*count)++];
}

/*
 * Add frames for the inlined calls at ADDRESS, innermost first, and for the function CODE; return
 * their number.  The place where an inlined function is called is the line of the next frame.
 */
static size_t add_frames(struct dwarf *d, struct unit *u, struct dwarf_code *code, uint64_t address)
{
	size_t count = 0;
	uint32_t at = SPAN_NONE;

	if (!d->no_calls) {
		if (!code->calls_read)
			inline_read_calls(u, code);
		at = flats_narrow(&code->flat, address, &d->same);
	}
	struct dwarf_frame *frame = add_frame(d, &count);
	while (at != SPAN_NONE) {
		const struct call *call = &code->call[at];
		if (call->file)
			frame->function = function_at(call->file, call->origin);
		frame = add_frame(d, &count);
		frame->file = lines_path(unit_lines(u), call->call_file);
		frame->line = call->call_line;
		frame->column = call->call_column;
		at = call->parent;
	}
	if (!code->function)
		code->function = function_at(u->file, code->die);
	frame->function = code->function;
	return count;
}

static struct unit *unit_of_address(struct dwarf *d, uint64_t address)
{
	d->same = (struct extent){ 0, UINT64_MAX };
	uint32_t id = flats_narrow(&d->units, address, &d->same);

	if (id == SPAN_NONE && !d->rangeless_read) {
		/* Now read the functions of the units without address ranges, too. */
		d->rangeless_read = true;
		units_index(d);
		d->same = (struct extent){ 0, UINT64_MAX };
		id = flats_narrow(&d->units, address, &d->same);
	}
	return id == SPAN_NONE ? NULL : &d->main->unit[id];
}

static bool is_cut(const struct dwarf *d)
{
	const struct dwarf_inputs *in = &d->inputs;

	return elf_is_cut(in->elf) || elf_is_cut(in->debug) || elf_is_cut(in->alternate) ||
	       elf_is_cut(in->package);
}

size_t dwarf_find(struct dwarf *d, uint64_t address, const struct dwarf_frame **frames)
{
	struct unit *unit = d && !is_cut(d) ? unit_of_address(d, address) : NULL;
	struct row row;
	size_t count = 0;

	*frames = NULL;
	if (!unit)
		return 0;
	struct unit *u = unit_with_code(unit);
	if (!u->functions_read)
		unit_read_functions(u);
	struct extent function = { 0, UINT64_MAX };
	uint32_t code = flats_narrow(&u->functions, address, &function);
	extent_narrow(&d->same, function.start, function.end);
	d->function_start = function.start;
	if (code != SPAN_NONE)
		count = add_frames(d, u, &u->code[code], address);
	if (!d->no_lines && lines_find(unit_lines(unit), address, &row, &d->same)) {
		struct dwarf_frame *leaf = count ? &d->frame[0] : add_frame(d, &count);
		leaf->file = lines_path(unit_lines(unit), row.file);
		leaf->line = row.line;
		leaf->column = row.column;
	}
	*frames = d->frame;
	return is_cut(d) || elf_is_cut(u->file->elf) ? 0 : count;
}

void dwarf_leave_out(struct dwarf *d, bool calls, bool lines)
{
	d->no_calls = calls;
	d->no_lines = lines;
}

struct extent dwarf_extent(const struct dwarf *d)
{
	return d->same;
}

uint64_t dwarf_function_start(const struct dwarf *d)
{
	return d->function_start;
}

bool dwarf_has_exceeded(const struct dwarf *d)
{
	return d->exceeded;
}

bool dwarf_has_parts(const struct dwarf *d)
{
	return d->has_parts;
}
