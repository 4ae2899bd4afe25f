/* SPDX-License-Identifier: Apache-2.0 */
#include "branch/branch-objects.h"

#include "base/arena.h"
#include "elf/section.h"
#include "names/object-name.h"

#include <elf.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	USERS_MAX = 1 << 20,	/* pairs of an object and a process; beyond, none are counted */
	FILES_MAX = 1000,	/* that are open at a time */
};

static bool ids_agree(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
	static const uint8_t zeros[BUILD_ID_MAX];
	size_t shorter = a_size < b_size ? a_size : b_size;
	const uint8_t *longer = a_size < b_size ? b : a;
	size_t rest = (a_size < b_size ? b_size : a_size) - shorter;

	return shorter && !memcmp(a, b, shorter) && !memcmp(longer + shorter, zeros, rest);
}

static const char *basename_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Store the build ID of OBJECT, which may have come after its mapping; return its size, or 0. */
static size_t id_of(const struct branch_objects *o, const struct object *object,
		    uint8_t id[BUILD_ID_MAX])
{
	if (!object->build_id_size)
		return objects_recorded_id(&o->spaces->objects, object->path, id);
	memcpy(id, object->build_id, BUILD_ID_MAX);
	return object->build_id_size;
}

enum match { MATCH_NOT, MATCH_OTHER_BUILD, MATCH_UNKNOWN, MATCH_NAME, MATCH_ID };

/* Return whether OBJECT is what is asked for, as far as it is known now. */
static enum match match(const struct branch_objects *o, const struct object *object)
{
	const struct branch_wanted *w = &o->wanted;
	uint8_t id[BUILD_ID_MAX];
	size_t size = id_of(o, object, id);
	bool is_named = w->file && !strcmp(basename_of(object->path), basename_of(w->file));

	if (!w->file && !w->id_size)
		return MATCH_ID;
	if (!w->file && size)	/* the first digits of a build ID are enough */
		return w->id_size <= size && !memcmp(w->id, id, w->id_size) ? MATCH_ID : MATCH_NOT;
	if (size && w->id_size && ids_agree(id, size, w->id, w->id_size))
		return MATCH_ID;
	if (size && w->id_size)
		return is_named ? MATCH_OTHER_BUILD : MATCH_NOT;
	return is_named ? MATCH_NAME : MATCH_UNKNOWN;
}

static int by_start(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int by_size(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;
	uint64_t p = x->end - x->start, q = y->end - y->start;

	return p > q ? -1 : p < q;
}

/*
 * Join sections that follow each other: no stub fits between them.  So many sections that are apart
 * that each look-up would take long are in no real program: then all of the file is code.
 */
static void join_code(struct branch_object *o)
{
	enum { GAP = 16, SECTIONS_MAX = 64 };
	uint32_t kept = 0;

	qsort(o->code, o->codes, sizeof(*o->code), by_start);
	for (uint32_t i = 1; i < o->codes; i++) {
		struct extent *last = &o->code[kept], *next = &o->code[i];
		if (next->start > last->end && next->start - last->end >= GAP)
			o->code[++kept] = *next;
		else if (next->end > last->end)
			last->end = next->end;
	}
	o->codes = kept + 1 > SECTIONS_MAX ? 0 : kept + 1;
	qsort(o->code, o->codes, sizeof(*o->code), by_size);
}

/* Find the sections of O's file with code, the largest first.  Stubs (PLT) belong to nobody. */
static void find_code(struct branch_object *o)
{
	uint32_t sections = o->elf ? elf_sections(o->elf) : 0;

	for (uint32_t i = 1; i < sections; i++) {
		struct elf_section s = elf_section_at(o->elf, i);
		const char *name = elf_section_name(o->elf, &s);
		if (s.type != SHT_PROGBITS || !(s.flags & SHF_EXECINSTR) ||
		    s.size > UINT64_MAX - s.offset || (name && !strncmp(name, ".plt", 4)))
			continue;
		o->code = array_grow(o->code, o->codes, sizeof(*o->code));
		o->code[o->codes++] = (struct extent){ s.offset, s.offset + s.size };
	}
	if (o->codes)
		join_code(o);
}

/*
 * Return whether the file that the user named can be what M maps.  A file without a build ID is
 * recognized by its name, and may be too small.
 */
static bool may_be_mapped(const struct branch_wanted *w, const struct mapping *m)
{
	return elf_may_map(w->elf, m->file_offset, m->end - m->start,
			   (uint64_t)sysconf(_SC_PAGESIZE));
}

static void look(struct branch_objects *o, struct branch_object *out, const struct mapping *m,
		 pid_t pid, uint64_t time)
{
	const struct object *object = &o->spaces->objects.object[m->object];
	enum match found = match(o, object);

	out->is_known = true;
	out->is_counted = found >= MATCH_UNKNOWN && m->object < PLACE_OBJECTS_MAX &&
			  object->kind == OBJECT_FILE;
	if (!out->is_counted || (o->wanted.file && found < MATCH_NAME))
		return;
	if (!o->wanted.file && o->files < FILES_MAX) {
		out->elf = image_use(&o->sources->images, m->object, object, m, pid, time)->elf;
		o->files += out->elf != NULL;
	} else if (!o->wanted.file) {
		report_once(o->report, "more than %d files have branches: the others are not read",
			    FILES_MAX);
	} else if (found == MATCH_ID || may_be_mapped(&o->wanted, m)) {
		out->elf = o->wanted.elf;
	}
	find_code(out);
}

struct branch_object *branch_objects_at(struct branch_objects *o, const struct mapping *m,
					pid_t pid, uint64_t time)
{
	while (o->count <= m->object) {
		o->object = array_grow(o->object, o->count, sizeof(*o->object));
		o->object[o->count++] = (struct branch_object){ 0 };
	}
	struct branch_object *out = &o->object[m->object];
	if (!out->is_known)
		look(o, out, m, pid, time);
	return out;
}

void branch_objects_count(struct branch_objects *o, uint32_t id, pid_t pid)
{
	struct branch_object *object = &o->object[id];
	uint64_t hash = hash_more(hash_u64(id), (uint64_t)pid);

	object->entries++;
	if (object->last_pid == pid)
		return;
	object->last_pid = pid;
	if (o->users == USERS_MAX || TABLE_FIND(&o->user_table, hash, i, o->user[i].object == id &&
						o->user[i].pid == pid) != TABLE_NONE)
		return;
	o->user = array_grow(o->user, o->users, sizeof(*o->user));
	o->user[o->users] = (struct branch_user){ id, pid };
	table_add(&o->user_table, hash, o->users++);
}

void branch_objects_sweep(struct branch_objects *o)
{
	struct objects *objects = &o->spaces->objects;

	if (!objects_are_many(objects))
		return;
	bool *live = mem_zeroed(objects->count, sizeof(*live));
	spaces_mark_objects(o->spaces, live);
	for (uint32_t id = 0; id < o->count; id++) {
		live[id] |= o->object[id].entries > 0;
		if (live[id])
			continue;
		free(o->object[id].code);
		o->files -= o->object[id].elf && o->object[id].elf != o->wanted.elf;
		o->object[id] = (struct branch_object){ 0 };
	}
	images_remove(&o->sources->images, objects, live);
	free(live);
}

const char *branch_objects_path(const struct branch_objects *o)
{
	return o->spaces->objects.object[o->binary].path;
}

/* Report that FILE has another build ID than OBJECT. */
static void refuse_build(const struct branch_objects *o, const struct object *object)
{
	char wanted[BUILD_ID_HEX], recorded[BUILD_ID_HEX];
	uint8_t id[BUILD_ID_MAX];
	size_t size = id_of(o, object, id);

	record_build_id_hex(o->wanted.id, o->wanted.id_size, wanted);
	record_build_id_hex(id, size, recorded);
	report_error(o->report, "'%s' is another build than the one recorded: its build ID is %s, "
		     "and the build ID of '%s' is %s", o->wanted.file, wanted, object->path,
		     recorded);
}

/* Report why no object is the binary. */
static void refuse(const struct branch_objects *o, uint64_t in_all)
{
	const struct branch_wanted *w = &o->wanted;
	char hex[BUILD_ID_HEX];

	for (uint32_t id = 0; w->file && id < o->count; id++)
		if (o->object[id].is_known &&
		    match(o, &o->spaces->objects.object[id]) == MATCH_OTHER_BUILD) {
			refuse_build(o, &o->spaces->objects.object[id]);
			return;
		}
	record_build_id_hex(w->id, w->id_size, hex);
	if (w->file)
		report_error(o->report, "none of the %llu branches is in '%s': no object with "
			     "branches has its build ID or name", (unsigned long long)in_all,
			     w->file);
	else if (w->id_size)
		report_error(o->report, "none of the %llu branches is in an object with the build "
			     "ID %s", (unsigned long long)in_all, hex);
	else
		report_error(o->report, "none of the %llu branches is in a mapped file of a "
			     "process: the kernel's code is not supported",
			     (unsigned long long)in_all);
}

/*
 * Return whether objects A and B are one binary.  Linux records no build ID of a file whose first
 * page is not in memory just then: so one of them may have none.
 */
static bool are_same(const struct branch_objects *o, const struct object *a,
		     const struct object *b)
{
	uint8_t x[BUILD_ID_MAX], y[BUILD_ID_MAX];
	size_t x_size = id_of(o, a, x), y_size = id_of(o, b, y);

	if (x_size && y_size)
		return ids_agree(x, x_size, y, y_size);
	return !strcmp(a->path, b->path);
}

/* Return the object with the most branches among those with the best match, or UINT32_MAX. */
static uint32_t best_object(const struct branch_objects *o, enum match *best)
{
	uint32_t found = UINT32_MAX;

	*best = MATCH_NAME;
	for (uint32_t id = 0; id < o->count; id++) {
		const struct branch_object *b = &o->object[id];
		if (!b->is_counted || !b->entries)
			continue;
		enum match this = match(o, &o->spaces->objects.object[id]);
		if (this > *best || (this == *best && (found == UINT32_MAX ||
						       b->entries > o->object[found].entries))) {
			found = id;
			*best = this;
		}
	}
	return found;
}

static int by_pid(const void *a, const void *b)
{
	const struct branch_user *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Count the processes that had branches in the chosen objects.  This sorts the users. */
static void count_processes(struct branch_objects *o)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < o->users; i++)
		if (o->object[o->user[i].object].is_chosen)
			o->user[kept++] = o->user[i];
	if (kept)
		qsort(o->user, kept, sizeof(*o->user), by_pid);
	for (uint32_t i = 0; i < kept; i++)
		o->processes += i == 0 || o->user[i].pid != o->user[i - 1].pid;
}

struct source *branch_objects_source(struct branch_objects *o, uint32_t id)
{
	const struct branch_wanted *w = &o->wanted;

	if (!o->object[id].elf)
		return NULL;
	if (w->elf && !o->has_given) {	/* one object stands for all that are chosen */
		o->has_given = true;
		return (struct source *)image_set(&o->sources->images, id, w->file, w->elf);
	}
	return source_of(o->sources, id);
}

/* The binary was found by its name: say so, and make sure that its file fits. */
static bool check_named(struct branch_objects *o)
{
	const struct branch_object *b = &o->object[o->binary];

	if (!b->elf) {
		report_error(o->report, "'%s' is another build than the one recorded: it is "
			     "smaller than what processes mapped of '%s'", o->wanted.file,
			     branch_objects_path(o));
		return false;
	}
	report_note(o->report, "'%s' is recognized by its name alone: %s has no build ID",
		    o->wanted.file, o->wanted.id_size ? "the recording" : "the file");
	return true;
}

/* Return whether OBJECT, with branches, is the binary, if that was found by the match BEST. */
static bool is_chosen(const struct branch_objects *o, const struct branch_object *b,
		      const struct object *object, enum match best)
{
	if (o->are_all)
		return true;
	if (!o->wanted.file)
		return are_same(o, object, &o->spaces->objects.object[o->binary]);
	enum match this = match(o, object);
	return this == best || (this == MATCH_NAME && b->elf);
}

bool branch_objects_choose(struct branch_objects *o, uint64_t in_all)
{
	enum match best;

	o->binary = best_object(o, &best);
	if (o->binary == UINT32_MAX) {
		refuse(o, in_all);
		return false;
	}
	const struct object *object = o->spaces->objects.object;
	bool by_name = o->wanted.file && best == MATCH_NAME, is_named = false;
	o->are_all = o->wants_all && !o->wanted.file && !o->wanted.id_size;
	for (uint32_t id = 0; id < o->count; id++) {
		struct branch_object *b = &o->object[id];
		b->is_chosen = b->is_counted && b->entries && is_chosen(o, b, &object[id], best);
		o->chosen += b->is_chosen;
		is_named |= b->is_chosen && o->wanted.file && match(o, &object[id]) == MATCH_NAME;
	}
	if (is_named && !by_name)
		report_note(o->report, "'%s' is recognized by its name alone where the recording "
			    "has no build ID", o->wanted.file);
	struct branch_object *b = &o->object[o->binary];
	if (o->wanted.file && !by_name && !b->elf) {	/* its build ID came late */
		b->elf = o->wanted.elf;
		find_code(b);
	}
	count_processes(o);
	return !by_name || check_named(o);
}

void branch_objects_release(struct branch_objects *o)
{
	for (uint32_t id = 0; id < o->count; id++)
		free(o->object[id].code);
	free(o->object);
	free(o->user);
	table_release(&o->user_table);
}
