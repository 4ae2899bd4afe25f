/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/source-internal.h"
#include "base/arena.h"
#include "elf/pool.h"
#include "elf/section.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

struct go_answer {
	struct dwarf_function function[GO_FRAMES_MAX];
	struct dwarf_frame frame[GO_FRAMES_MAX];
};

static const struct locate_options *where_of(const struct source *source)
{
	return &source->image.images->where;
}

static struct report *report_of(const struct source *source)
{
	return source->image.images->report;
}

/* Open NAME in the program's directory. Returns NULL on failure. */
static struct elf *open_beside(const struct source *source, const char *name)
{
	const char *own = source->image.path, *slash = strrchr(own, '/');

	return slash ? locate_printed(where_of(source), source->image.root, "%.*s/%s",
				      (int)(slash - own), own, name) : NULL;
}

/* Open a .dwo file: where the compiler put it, or next to the program, if both were moved. */
static struct elf *open_split(void *context, const char *path)
{
	const struct source *source = ((const struct tables *)context)->asker;
	const char *slash = strrchr(path, '/');
	struct elf *elf = *path == '/' ? locate_elf(where_of(source), source->image.root, path)
				       : open_beside(source, path);

	if (!elf && *path == '/' && *source->image.root)
		elf = locate_elf(where_of(source), "", path);
	return elf || !slash ? elf : open_beside(source, slash + 1);
}

/* Return existing tables for the same files as T; NULL if no source has such tables. */
static struct tables *find_tables(const struct source *source, const struct tables *t)
{
	struct elf *main = t->debug ? t->debug : t->elf;
	struct elf_section addresses;
	/* Split files are looked for next to the program, so its path must be the same too. */
	bool has_parts = elf_find_section(main, ".debug_addr", &addresses);
	struct tables *other = *elf_beside(t->elf);

	while (other && !(other->debug == t->debug && other->alternate == t->alternate &&
			  other->package == t->package &&
			  (!has_parts || !strcmp(other->path, source->image.path))))
		other = other->next;
	return other;
}

static void close_parts(const struct tables *t)
{
	elf_close(t->package);
	elf_close(t->alternate);
	elf_close(t->debug);
}

/*
 * Return why no debug information is read for SOURCE, or NULL if it may be read. Most files need
 * tables once, for all their paths. A file that needs new tables too often gets none.
 */
static const char *why_refused(const struct source *source)
{
	enum { TABLES_MAX = 8, CLOSED_MAX = 8 };
	int count = 0;

	for (const struct tables *t = *elf_beside(source->image.elf); t; t = t->next)
		count++;
	if (count >= TABLES_MAX)
		return "the file has too many names";
	return source->image.closed > CLOSED_MAX ? "it was closed for others too many times" : NULL;
}

static void locate_parts(struct source *source)
{
	const struct locate_options *where = where_of(source);
	const struct cache *cache = &source_sources(source)->cache;
	struct image *image = &source->image;
	struct tables found = { .elf = image->elf }, *t;
	struct cache_key key;
	const char *shared;

	image->is_read = true;
	found.debug = locate_debug(where, image->elf, image->path, image->root);
	found.alternate = locate_alternate(where, found.debug ? found.debug : found.elf,
					   image->root, &shared);
	if (shared && !found.alternate)
		report_note(report_of(source), "names of inlined calls in '%s' are missing: '%s', "
			    "with the debug information that it shares, is not here", image->path,
			    shared);
	found.package = locate_package(where, image->path, image->root);
	source->tables = t = find_tables(source, &found);
	if (t) {
		close_parts(&found);
		t->further_users++;
		return;
	}
	source->tables = t = mem_zeroed(1, sizeof(*t));
	*t = found;
	t->path = mem_text(image->path);
	t->refused = why_refused(source);
	t->next = *elf_beside(t->elf);
	*elf_beside(t->elf) = t;
	t->is_kept = !t->refused && cache->directory && source_key(t, &key);
	if (t->is_kept)
		t->index = cache_open(cache, &key);
}

static void open_tables(struct source *source)
{
	struct tables *t = source->tables;
	const struct dwarf_inputs inputs = {
		.elf = t->elf, .debug = t->debug, .alternate = t->alternate,
		.package = t->package, .open_split = open_split, .context = t,
	};

	t->opened = true;
	if (t->refused) {
		report_note(report_of(source), "'%s': its debug information is not read: %s",
			    source->image.path, t->refused);
		return;
	}
	t->dwarf = dwarf_open(&inputs);
	if (elf_has_refused(t->elf) || elf_has_refused(t->debug) ||
	    elf_has_refused(t->alternate) || elf_has_refused(t->package)) {
		report_note(report_of(source), "'%s': some of its debug information overlaps, or "
			    "is compressed too well to be true; it is not read",
			    source->image.path);
		t->exceeded_reported = true;	/* one message for each file is enough */
	}
	const struct sources *s = source_sources(source);
	if (t->dwarf)
		dwarf_leave_out(t->dwarf, s->no_calls, s->no_lines);
}

static void open_go(struct tables *t)
{
	t->go_tried = true;
	t->go = gotable_open(t->elf);
	if (t->go)
		t->answer = mem_zeroed(1, sizeof(*t->answer));
}

/*
 * Look up ADDRESS in the Go table. Returns false if it is not Go code, and shrinks SAME to a range
 * around ADDRESS without Go code.
 */
static bool find_go(struct source *source, uint64_t address, struct source_answer *out,
		    struct extent *same)
{
	const struct go_frame *frame;
	struct tables *t = source->tables;

	if (!t->go_tried)
		open_go(t);
	struct go_answer *answer = t->answer;
	size_t count = gotable_find(t->go, address, &frame);
	if (count == 0) {
		gotable_narrow(t->go, address, same);
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

bool source_symbol(struct source *source, uint64_t address, struct elf_symbol *out)
{
	struct elf *debug = source->tables->debug;
	struct extent other = { 0, UINT64_MAX };

	if (debug && elf_symbol(debug, address, out))
		return true;
	if (debug)
		other = out->same;
	bool found = elf_symbol(source->image.elf, address, out);
	extent_narrow(&out->same, other.start, other.end);
	return found;
}

/*
 * Add the symbol at ADDRESS to OUT. Its name is used if DWARF has no name, and if the symbol
 * starts where DWARF's code does but has another name: perf uses that name, too. Returns the range
 * around ADDRESS with the same symbol.
 */
static struct extent add_symbol(struct source *source, uint64_t address,
				struct source_answer *out)
{
	const char *name = answer_name(out);
	struct elf_symbol symbol;

	if (!source_symbol(source, address, &symbol)) {
		if (name)
			return symbol.same;
		if (out->frames == 1)
			out->frames = 0;	/* a line without a function: padding */
		return (struct extent){ address, address + 1 };
	}
	if (!name || (symbol.address == dwarf_function_start(source->tables->dwarf) &&
		      strcmp(symbol.name, name)))
		out->symbol = symbol.name;
	return symbol.same;
}

static void report_damaged(const struct source *source, const struct elf_damage *damage)
{
	report_note(report_of(source), "'%s': %s is damaged at 0x%" PRIx64 "; some of its names "
		    "and lines are missing", source->image.path, damage->section, damage->offset);
}

/* Report the damage that the last lookup found; in DWARF, only if no limit has left parts out. */
static void report_damaged_sections(const struct source *source)
{
	struct tables *t = source->tables;
	struct elf_damage damage;

	if (dwarf_unread_version(t->dwarf) && report_first(&t->version_reported))
		report_note(report_of(source), "'%s': some of its debug information is DWARF %u, "
			    "which is not read; some of its names and lines are missing",
			    source->image.path, dwarf_unread_version(t->dwarf));
	while (!t->exceeded_reported && dwarf_next_damage(t->dwarf, &damage))
		report_damaged(source, &damage);
	while (elf_next_damage(t->debug, &damage) || elf_next_damage(t->elf, &damage))
		report_damaged(source, &damage);
	if (gotable_damage(t->go, &damage) && report_first(&t->go_damage_reported))
		report_damaged(source, &damage);
}

/* Report if the last lookup found that DWARF is not read completely. */
static void report_exceeded(const struct source *source)
{
	struct tables *t = source->tables;

	if (t->dwarf && dwarf_has_exceeded(t->dwarf) && report_first(&t->exceeded_reported))
		report_note(report_of(source), "'%s': its debug information refers to the same "
			    "bytes again and again; not all of it is read", source->image.path);
}

/* The pages of all files of T are needed. */
static void wake(const struct tables *t)
{
	elf_pool_wake(t->elf);
	elf_pool_wake(t->debug);
	elf_pool_wake(t->alternate);
	elf_pool_wake(t->package);
}

struct extent source_read(struct source *source, uint64_t address, struct source_answer *out)
{
	struct extent same = { 0, UINT64_MAX };
	struct tables *t = source->tables;

	*out = (struct source_answer){ 0 };
	wake(t);
	t->asker = source;
	if (!t->opened)
		open_tables(source);
	if (t->dwarf) {
		out->frames = dwarf_find(t->dwarf, address, &out->frame);
		same = dwarf_extent(t->dwarf);
	}
	report_exceeded(source);
	/* C code in a Go program may have DWARF even if Go's own DWARF was left out. */
	if (!dwarf_outermost(out->frame, out->frames) && find_go(source, address, out, &same)) {
		same = (struct extent){ address, address + 1 };
	} else {
		struct extent symbol = add_symbol(source, address, out);
		extent_narrow(&same, symbol.start, symbol.end);
	}
	report_damaged_sections(source);
	return same;
}

void source_find(struct source *source, uint64_t address, struct source_answer *out)
{
	*out = (struct source_answer){ 0 };
	if (!source->image.elf)
		return;
	if (!source->tables)
		locate_parts(source);
	struct tables *t = source->tables;
	if (t->index && index_find(t->index, address, out)) {
		t->hits++;
		return;
	}
	source_read(source, address, out);
	if (!t->is_kept || out->is_go)	/* Go's table is as fast as the index */
		return;
	t->missed = array_grow(t->missed, t->misses, sizeof(*t->missed));
	t->missed[t->misses++] = address;
}

struct extent source_go_function(struct source *source, uint64_t address)
{
	struct tables *t = source->tables;

	if (t && !t->go_tried)
		open_go(t);
	return gotable_function(t ? t->go : NULL, address);
}

bool source_starts_function(struct source *source, uint64_t address)
{
	struct source_answer unused;
	struct elf_symbol symbol;

	source_find(source, address, &unused);	/* finds the debug file */
	if (source_symbol(source, address, &symbol))
		return symbol.address == address;
	struct extent go = source_go_function(source, address);
	return go.end > go.start && go.start == address;
}

/* Remove T from the list of its file's tables. */
static void forget_tables(struct tables *t)
{
	struct tables *before = *elf_beside(t->elf);

	if (before == t) {
		*elf_beside(t->elf) = t->next;
		return;
	}
	while (before->next != t)
		before = before->next;
	before->next = t->next;
}

static void release_tables(struct tables *t)
{
	if (!t)
		return;
	if (t->further_users) {
		t->further_users--;
		return;
	}
	forget_tables(t);
	index_close(t->index);
	free(t->missed);
	if (t->dwarf)
		dwarf_close(t->dwarf);
	if (t->go)
		gotable_close(t->go);
	free(t->answer);
	free(t->path);
	close_parts(t);
	free(t);
}

/* Release what was read from IMAGE's file. */
static void forget(struct image *image)
{
	struct source *source = (struct source *)image;

	source_save(source);
	free(source->code);
	release_tables(source->tables);
	pointers_release(&((struct sources *)image->images)->strings);
	*source = (struct source){ .image = *image };
}

void sources_begin(struct sources *s)
{
	s->images.forget = forget;
	images_begin(&s->images);
}
