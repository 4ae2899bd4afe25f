/* SPDX-License-Identifier: Apache-2.0 */
/* The header of a line table (DWARF 5 §6.2.4): its directories and files. */
#include "dwarf/constants.h"
#include "dwarf/internal.h"

#include <limits.h>

enum {
	ENTRIES_MAX = 1 << 20,	/* directories and files in one table */
	LENGTH_MAX = 12,	/* bytes of the length of a table */
};

/*
 * Pay for an entry, which may take twice its size in a growing array.  The file may claim any
 * number of entries.  False: not enough fuel is left, or the table is full: rows need fuel, too.
 */
static bool pay(struct lines *l)
{
	struct dwarf_file *f = l->unit->file;

	if (l->directories + l->files < ENTRIES_MAX)
		return dwarf_pay(f, 2 * sizeof(struct file_entry));
	f->dwarf->exceeded = true;
	return false;
}

static void add_directory(struct lines *l, struct value name)
{
	l->directory = array_grow(l->directory, l->directories, sizeof(name));
	l->directory[l->directories++] = name;
}

static void add_file(struct lines *l, struct file_entry entry)
{
	l->file = array_grow(l->file, l->files, sizeof(entry));
	l->file[l->files++] = entry;
}

/* Versions 2 to 4: two lists that end with an empty string: directories, then files. */
static void read_old_tables(struct lines *l, struct cursor *c)
{
	const char *text;

	while (*(text = cursor_string(c)) && pay(l))
		add_directory(l, (struct value){ .number = (uintptr_t)text, .kind = V_STRING });
	if (*text)
		return;
	while (*(text = cursor_string(c)) && pay(l)) {
		struct file_entry entry = { .name = { .number = (uintptr_t)text,
							  .kind = V_STRING } };
		entry.directory = cursor_uleb(c);
		cursor_uleb(c);		/* time */
		cursor_uleb(c);		/* size */
		if (c->failed)
			return;
		add_file(l, entry);
	}
}

/* The content (DW_LNCT_*) and form of each field of an entry. */
struct entry_format {
	uint64_t content[256];
	struct form form[256];
	unsigned count;
};

static void read_format(const struct unit *shape, struct cursor *c, struct entry_format *format)
{
	format->count = cursor_u8(c);
	for (unsigned i = 0; i < format->count; i++) {
		format->content[i] = cursor_uleb(c);
		form_find(shape, cursor_uleb(c), &format->form[i]);
	}
}

/* Read an entry.  False: damage, or an entry without bytes. */
static bool read_entry(const struct unit *shape, struct cursor *c,
		       const struct entry_format *format, struct file_entry *entry)
{
	const uint8_t *start = c->at;

	*entry = (struct file_entry){ 0 };
	for (unsigned i = 0; i < format->count; i++) {
		struct value v;
		if (!form_read(shape, c, format->form[i], 0, &v))
			return false;
		if (format->content[i] == DW_LNCT_path)
			entry->name = v;
		else if (format->content[i] == DW_LNCT_directory_index)
			entry->directory = v.number;
	}
	return !c->failed && c->at > start;
}

/* Version 5: read the format of the entries, then the entries.  False: damage, or a limit. */
static bool read_table(struct lines *l, struct cursor *c, bool of_files)
{
	struct unit shape = *l->unit;
	struct entry_format format;
	struct file_entry entry;

	shape.offset_size = l->offset_size;
	shape.address_size = l->address_size;
	read_format(&shape, c, &format);
	for (uint64_t n = format.count ? cursor_uleb(c) : 0; n > 0; n--) {
		if (!pay(l) || !read_entry(&shape, c, &format, &entry))
			return false;
		if (of_files)
			add_file(l, entry);
		else
			add_directory(l, entry.name);
	}
	return true;
}

static void read_tables(struct lines *l, struct cursor *c)
{
	if (l->version < 5)
		read_old_tables(l, c);
	else if (read_table(l, c, false))
		read_table(l, c, true);
	dwarf_charge(l->unit->file->dwarf, l->directories * sizeof(*l->directory) +
		     l->files * sizeof(*l->file));
}

/* Read the header of L.  False: damage, an unknown version, or a limit. */
static bool read_header(struct lines *l)
{
	struct dwarf_file *f = l->unit->file;
	struct cursor c = section_cursor(f, S_LINE, l->offset);

	dwarf_need(f, &c, LENGTH_MAX);
	uint64_t length = form_length(&c, &l->offset_size);
	if (c.failed || length > cursor_left(&c))
		return false;
	c.end = c.at + length;
	dwarf_need(f, &c, length);
	l->end = (uint64_t)(c.end - f->section[S_LINE].at);
	l->version = cursor_u16(&c);
	l->address_size = l->unit->address_size;
	if (l->version >= 5) {
		l->address_size = cursor_u8(&c);
		cursor_u8(&c);		/* segment selectors */
	}
	uint64_t header = form_number(&c, l->offset_size);
	if (c.failed || !dwarf_is_read(l->version) || header > cursor_left(&c) ||
	    !dwarf_pay(f, header))	/* headers may overlap */
		return false;
	l->program = (uint64_t)(c.at - f->section[S_LINE].at) + header;
	c.end = c.at + header;
	l->min_length = cursor_u8(&c);
	l->max_operations = l->version >= 4 ? cursor_u8(&c) : 1;
	cursor_u8(&c);			/* default_is_stmt */
	l->line_base = (int8_t)cursor_u8(&c);
	l->line_range = cursor_u8(&c);
	l->opcode_base = cursor_u8(&c);
	if (c.failed || l->line_range == 0 || l->opcode_base == 0)
		return false;
	l->line_scale = 65536U / l->line_range + 1;
	l->operands = cursor_bytes(&c, l->opcode_base - 1U);
	if (!l->operands)
		return false;
	read_tables(l, &c);
	if (c.failed)
		dwarf_damaged(f, S_LINE, l->offset);
	return true;
}

void lines_read_header(struct lines *l)
{
	l->is_bad = !read_header(l);
	if (!l->is_bad)
		return;
	if (!l->version || dwarf_is_read(l->version))
		dwarf_damaged(l->unit->file, S_LINE, l->offset);
	else
		dwarf_unread(l->unit->file->dwarf, l->version);
}

static const char *directory_of(const struct lines *l, uint64_t directory)
{
	return directory < l->directories ? form_string(l->unit, &l->directory[directory]) : NULL;
}

/*
 * Return the directory where the unit was compiled, or NULL.  Version 5 repeats the
 * directory as directory 0: if both are relative, they must not be joined.
 */
static const char *compiled_in(const struct lines *l)
{
	const char *own = form_string(l->unit, &l->unit->comp_dir);
	const char *first = l->version >= 5 ? directory_of(l, 0) : NULL;

	return first && (*first == '/' || !own || !*own) ? first : own;
}

/*
 * Return directory DIRECTORY, which may be relative to compiled_in(); NULL for directory 0, which
 * is compiled_in(), or if it is unknown.
 */
static const char *included_from(const struct lines *l, uint64_t directory)
{
	if (directory == 0)
		return NULL;
	return directory_of(l, l->version >= 5 ? directory : directory - 1);
}

/* Join the parts (NULL: none) to a path.  NULL: the path is too long, or the fuel is used up. */
static const char *join(struct dwarf_file *f, const char *const part[3])
{
	char path[PATH_MAX];
	size_t used = 0;

	for (int i = 0; i < 3; i++) {
		if (!part[i] || !*part[i])
			continue;
		if (*part[i] == '/')
			used = 0;
		const char *slash = used && path[used - 1] != '/' ? "/" : "";
		size_t length = strlen(slash) + strlen(part[i]);
		if (length >= sizeof(path) - used) {
			dwarf_pay(f, sizeof(path));	/* it was read, too */
			return NULL;
		}
		snprintf(path + used, sizeof(path) - used, "%s%s", slash, part[i]);
		used += length;
	}
	if (!dwarf_pay(f, used + 1))
		return NULL;
	dwarf_charge(f->dwarf, used + 1);
	return arena_text(&f->dwarf->arena, path, used);
}

const char *lines_path(struct lines *l, uint64_t file)
{
	if (!l || (l->version < 5 && file-- == 0) || file >= l->files)
		return NULL;
	struct file_entry *entry = &l->file[file];
	if (!entry->path) {
		const char *const part[3] = {
			compiled_in(l), included_from(l, entry->directory),
			form_string(l->unit, &entry->name),
		};
		if (part[2])
			entry->path = join(l->unit->file, part);
		if (!entry->path)
			entry->path = "";
	}
	return *entry->path ? entry->path : NULL;
}
