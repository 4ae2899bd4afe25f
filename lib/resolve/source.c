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
	const struct source *source = ((const struct debug_files *)context)->asker;
	const char *slash = strrchr(path, '/');
	struct elf *elf = *path == '/' ? locate_elf(where_of(source), source->image.root, path)
				       : open_beside(source, path);

	if (!elf && *path == '/' && *source->image.root)
		elf = locate_elf(where_of(source), "", path);
	return elf || !slash ? elf : open_beside(source, slash + 1);
}

/* Return what another source has of the same files as F; NULL if none has. */
static struct debug_files *find_files(const struct source *source, const struct debug_files *f)
{
	struct elf *main = f->debug ? f->debug : f->elf;
	struct elf_section addresses;
	/* Split files are looked for next to the program, so its path must be the same too. */
	bool has_parts = elf_find_section(main, ".debug_addr", &addresses);
	struct debug_files *other = *elf_beside(f->elf);

	while (other && !(other->debug == f->debug && other->alternate == f->alternate &&
			  other->package == f->package &&
			  (!has_parts || !strcmp(other->path, source->image.path))))
		other = other->next;
	return other;
}

static void close_parts(const struct debug_files *f)
{
	elf_close(f->package);
	elf_close(f->alternate);
	elf_close(f->debug);
}

/*
 * Return why no debug information is read for SOURCE, or NULL if it may be read. Most files are
 * read once, for all their paths. A file that would be read too often is not read.
 */
static const char *why_refused(const struct source *source)
{
	enum { READ_MAX = 8, CLOSED_MAX = 8 };
	int count = 0;

	for (const struct debug_files *f = *elf_beside(source->image.elf); f; f = f->next)
		count++;
	if (count >= READ_MAX)
		return "the file has too many names";
	return source->image.closed > CLOSED_MAX ? "it was closed for others too many times" : NULL;
}

static void locate_parts(struct source *source)
{
	const struct locate_options *where = where_of(source);
	const struct cache *cache = &source_sources(source)->cache;
	struct image *image = &source->image;
	struct debug_files found = { .elf = image->elf }, *f;
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
	source->files = f = find_files(source, &found);
	if (f) {
		close_parts(&found);
		f->further_users++;
		return;
	}
	source->files = f = mem_zeroed(1, sizeof(*f));
	*f = found;
	f->path = mem_text(image->path);
	f->refused = why_refused(source);
	f->next = *elf_beside(f->elf);
	*elf_beside(f->elf) = f;
	f->is_kept = !f->refused && cache->directory && source_key(f, &key);
	if (f->is_kept)
		f->index = cache_open(cache, &key);
}

static void open_dwarf(struct source *source)
{
	struct debug_files *f = source->files;
	const struct dwarf_inputs inputs = {
		.elf = f->elf, .debug = f->debug, .alternate = f->alternate,
		.package = f->package, .open_split = open_split, .context = f,
	};

	f->opened = true;
	if (f->refused) {
		report_note(report_of(source), "'%s': its debug information is not read: %s",
			    source->image.path, f->refused);
		return;
	}
	f->dwarf = dwarf_open(&inputs);
	if (elf_has_refused(f->elf) || elf_has_refused(f->debug) ||
	    elf_has_refused(f->alternate) || elf_has_refused(f->package)) {
		report_note(report_of(source), "'%s': some of its debug information overlaps, or "
			    "is compressed too well to be true; it is not read",
			    source->image.path);
		f->exceeded_reported = true;	/* one message for each file is enough */
	}
	const struct sources *s = source_sources(source);
	if (f->dwarf)
		dwarf_leave_out(f->dwarf, s->no_calls, s->no_lines);
}

static void open_go(struct debug_files *f)
{
	f->go_tried = true;
	f->go = gotable_open(f->elf);
	if (f->go)
		f->answer = mem_zeroed(1, sizeof(*f->answer));
}

/*
 * Look up ADDRESS in the Go table. Returns false if it is not Go code, and shrinks SAME to a range
 * around ADDRESS without Go code.
 */
static bool find_go(struct source *source, uint64_t address, struct source_answer *out,
		    struct extent *same)
{
	const struct go_frame *frame;
	struct debug_files *f = source->files;

	if (!f->go_tried)
		open_go(f);
	struct go_answer *answer = f->answer;
	size_t count = gotable_find(f->go, address, &frame);
	if (count == 0) {
		gotable_narrow(f->go, address, same);
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
	struct elf *debug = source->files->debug;
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
	if (!name || (symbol.address == dwarf_function_start(source->files->dwarf) &&
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
	struct debug_files *f = source->files;
	struct elf_damage damage;

	if (dwarf_unread_version(f->dwarf) && report_first(&f->version_reported))
		report_note(report_of(source), "'%s': some of its debug information is DWARF %u, "
			    "which is not read; some of its names and lines are missing",
			    source->image.path, dwarf_unread_version(f->dwarf));
	while (!f->exceeded_reported && dwarf_next_damage(f->dwarf, &damage))
		report_damaged(source, &damage);
	while (elf_next_damage(f->debug, &damage) || elf_next_damage(f->elf, &damage))
		report_damaged(source, &damage);
	if (gotable_damage(f->go, &damage) && report_first(&f->go_damage_reported))
		report_damaged(source, &damage);
}

/* Report if the last lookup found that DWARF is not read completely. */
static void report_exceeded(const struct source *source)
{
	struct debug_files *f = source->files;

	if (f->dwarf && dwarf_has_exceeded(f->dwarf) && report_first(&f->exceeded_reported))
		report_note(report_of(source), "'%s': its debug information refers to the same "
			    "bytes again and again; not all of it is read", source->image.path);
}

/* The pages of all files of F are needed. */
static void wake(const struct debug_files *f)
{
	elf_pool_wake(f->elf);
	elf_pool_wake(f->debug);
	elf_pool_wake(f->alternate);
	elf_pool_wake(f->package);
}

bool source_variable(struct source *source, uint64_t address, struct elf_variable *out)
{
	if (!source->files)
		locate_parts(source);
	wake(source->files);
	struct elf *debug = source->files->debug;
	return (debug && elf_variable(debug, address, out)) ||
	       elf_variable(source->image.elf, address, out);
}

const char *source_member(struct source *source, uint64_t variable, uint64_t offset)
{
	struct debug_files *f = source->files;

	wake(f);
	f->asker = source;
	if (!f->opened)
		open_dwarf(source);
	const char *member = dwarf_member(f->dwarf, variable, offset);
	report_exceeded(source);
	report_damaged_sections(source);
	return member;
}

struct extent source_read(struct source *source, uint64_t address, struct source_answer *out)
{
	struct extent same = { 0, UINT64_MAX };
	struct debug_files *f = source->files;

	*out = (struct source_answer){ 0 };
	wake(f);
	f->asker = source;
	if (!f->opened)
		open_dwarf(source);
	if (f->dwarf) {
		out->frames = dwarf_find(f->dwarf, address, &out->frame);
		same = dwarf_extent(f->dwarf);
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
	if (!source->files)
		locate_parts(source);
	struct debug_files *f = source->files;
	if (f->index && index_find(f->index, address, out)) {
		f->hits++;
		return;
	}
	source_read(source, address, out);
	if (!f->is_kept || out->is_go)	/* Go's table is as fast as the index */
		return;
	f->missed = array_grow(f->missed, f->misses, sizeof(*f->missed));
	f->missed[f->misses++] = address;
}

struct extent source_find_range(struct source *source, uint64_t address,
				struct source_answer *out)
{
	if (!source->files)
		locate_parts(source);
	return source_read(source, address, out);
}

struct extent source_go_function(struct source *source, uint64_t address)
{
	struct debug_files *f = source->files;

	if (f && !f->go_tried)
		open_go(f);
	return gotable_function(f ? f->go : NULL, address);
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

/* Remove F from the list of what was read for its program. */
static void forget_files(struct debug_files *f)
{
	struct debug_files *before = *elf_beside(f->elf);

	if (before == f) {
		*elf_beside(f->elf) = f->next;
		return;
	}
	while (before->next != f)
		before = before->next;
	before->next = f->next;
}

static void release_files(struct debug_files *f)
{
	if (!f)
		return;
	if (f->further_users) {
		f->further_users--;
		return;
	}
	forget_files(f);
	index_close(f->index);
	free(f->missed);
	if (f->dwarf)
		dwarf_close(f->dwarf);
	if (f->go)
		gotable_close(f->go);
	free(f->answer);
	free(f->path);
	close_parts(f);
	free(f);
}

/* Release what was read from IMAGE's file. */
static void forget(struct image *image)
{
	struct source *source = (struct source *)image;

	source_save(source);
	free(source->code);
	release_files(source->files);
	pointers_release(&((struct sources *)image->images)->strings);
	*source = (struct source){ .image = *image };
}

void sources_begin(struct sources *s)
{
	s->images.forget = forget;
	images_begin(&s->images);
}
