/* SPDX-License-Identifier: Apache-2.0 */
#include "process/object.h"
#include "record/words.h"

#include <stdlib.h>

enum {
	FEW = 4096,		/* objects; each takes about 500 bytes of memory */
	RECORDED_LITTLE = 2 << 20,	/* bytes of build IDs of paths that are always kept */
};

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static const char host_kernel[] = WORD_KERNEL, guest_kernel[] = WORD_GUEST_KERNEL;

/* The kernel's own mapping names are in brackets; those of perf and of VMs start with "//". */
static enum object_kind kind_of(const char *path, bool in_kernel)
{
	if (starts_with(path, host_kernel))
		return OBJECT_KERNEL;
	if (in_kernel)
		return OBJECT_MODULE;
	if (word_starts(path, WORD_VDSO))
		return OBJECT_VDSO;
	if (*path == '[' || starts_with(path, "//") || starts_with(path, "/memfd:") ||
	    starts_with(path, "/anon_hugepage") || starts_with(path, "/dev/zero") ||
	    starts_with(path, "/SYSV") || starts_with(path, "anon_inode:") || !*path)
		return OBJECT_ANONYMOUS;
	return OBJECT_FILE;
}

/* Return the build ID that a BUILD_ID record gave for PATH, or NULL. */
static const struct recorded_build_id *find_recorded(const struct objects *objects, uint32_t path)
{
	uint32_t id = TABLE_FIND(&objects->recorded, hash_u64(path), i,
				 objects->recorded_id[i].path == path);

	return id == TABLE_NONE ? NULL : &objects->recorded_id[id];
}

size_t objects_recorded_id(const struct objects *objects, const char *path,
			   uint8_t id[BUILD_ID_MAX])
{
	uint32_t text = intern_find(&objects->paths, path);
	const struct recorded_build_id *recorded =
		text == TABLE_NONE ? NULL : find_recorded(objects, text);

	if (!recorded)
		return 0;
	memcpy(id, recorded->build_id, BUILD_ID_MAX);
	return recorded->size;
}

bool object_may_be_hugepages(const struct object *o)
{
	return o->kind == OBJECT_ANONYMOUS && (!*o->path || !strcmp(o->path, WORD_ANON_FILE) ||
					       !strcmp(o->path, "/anon_hugepage"));
}

/* A 32-bit process has a vdso of its own, which perf also calls [vdso32]. */
static bool is_vdso32(const struct object *o, const struct mmap_record *m)
{
	return o->kind == OBJECT_VDSO && m->start < UINT32_MAX && m->size < UINT32_MAX;
}

bool object_is_vdso32(const struct object *o)
{
	return o->kind == OBJECT_VDSO && !strcmp(o->path, WORD_VDSO32);
}

bool object_is_memfd(const struct object *o)
{
	return starts_with(o->path, "/memfd:");
}

static bool is_same_file(const struct object *a, const struct object *b)
{
	return a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

static uint64_t hash_of(const struct object *o, uint32_t path)
{
	uint64_t hash = hash_more(hash_bytes(o->build_id, o->build_id_size), path << 4 | o->kind);

	/* The inode distinguishes files of the same name without a build ID. */
	return o->build_id_size ? hash
		: hash_more(hash_more(hash, o->inode), (uint64_t)o->major << 32 | o->minor);
}

static uint32_t new_id(struct objects *objects)
{
	if (objects->unuseds)
		return objects->unused[--objects->unuseds];
	objects->object = array_grow(objects->object, objects->count, sizeof(*objects->object));
	return objects->count++;
}

uint32_t objects_add(struct objects *objects, const struct mmap_record *m, bool in_kernel)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(m->path), cut = sizeof(deleted) - 1;
	struct object o = { .build_id_size = m->build_id_size, .major = m->major,
			    .minor = m->minor, .inode = m->inode };

	o.deleted = length > cut && !strcmp(m->path + length - cut, deleted);
	o.kind = kind_of(m->path, in_kernel);
	if (o.deleted)
		length -= cut;
	/* "[kernel.kallsyms]_text": perf adds its reference symbol */
	if (o.kind == OBJECT_KERNEL || starts_with(m->path, guest_kernel))
		length = (size_t)(strchr(m->path, ']') - m->path) + 1;
	uint32_t path = is_vdso32(&o, m) ? intern_text(&objects->paths, WORD_VDSO32)
					 : intern_bytes(&objects->paths, m->path, length);
	o.path = objects->paths.text[path];
	memcpy(o.build_id, m->build_id, BUILD_ID_MAX);
	const struct recorded_build_id *recorded = find_recorded(objects, path);
	if (recorded && o.build_id_size == 0) {
		memcpy(o.build_id, recorded->build_id, BUILD_ID_MAX);
		o.build_id_size = recorded->size;
	}

	if (m->go_build_id && !o.build_id_size)
		o.go_build_id = intern_copy(&objects->paths, m->go_build_id);
	uint64_t hash = hash_of(&o, path);
	struct table_probe probe = table_probe(&objects->table, hash);
	uint32_t id;
	while ((id = table_next(&objects->table, &probe)) != TABLE_NONE) {
		const struct object *known = &objects->object[id];
		if (known->path == o.path && known->kind == o.kind &&
		    known->deleted == o.deleted && known->build_id_size == o.build_id_size &&
		    known->go_build_id == o.go_build_id &&
		    !memcmp(known->build_id, o.build_id, BUILD_ID_MAX) &&
		    (o.build_id_size || is_same_file(known, &o)))
			return id;
	}
	id = new_id(objects);
	objects->object[id] = o;
	table_add(&objects->table, hash, id);
	return id;
}

/* Return the memory that the build ID of PATH takes, with its entries in two tables, in bytes. */
static size_t recorded_bytes(const char *path)
{
	return strlen(path) + sizeof(struct recorded_build_id) + 64;
}

void objects_set_build_id(struct objects *objects, const struct build_id_record *b)
{
	struct recorded_build_id recorded = { .size = b->build_id_size };

	if (recorded.size == 0)
		return;
	recorded.path = intern_text(&objects->paths, b->path);
	if (find_recorded(objects, recorded.path))
		return;
	memcpy(recorded.build_id, b->build_id, BUILD_ID_MAX);
	objects->recorded_id = array_grow(objects->recorded_id, objects->recorded_ids,
					  sizeof(recorded));
	objects->recorded_id[objects->recorded_ids] = recorded;
	table_add(&objects->recorded, hash_u64(recorded.path), objects->recorded_ids++);
	objects->recorded_bytes += recorded_bytes(b->path);
}

static bool recorded_are_many(const struct objects *objects)
{
	size_t limit = objects->recorded_limit;

	return objects->recorded_bytes > (limit ? limit : RECORDED_LITTLE);
}

bool objects_are_many(const struct objects *objects)
{
	return objects->count - objects->unuseds > (objects->limit ? objects->limit : FEW) ||
	       recorded_are_many(objects);
}

static void remove_object(struct objects *objects, uint32_t id)
{
	objects->object[id] = (struct object){ 0 };
	objects->unused = array_grow(objects->unused, objects->unuseds, sizeof(id));
	objects->unused[objects->unuseds++] = id;
}

/* Add object ID to the new table, with its path in the new PATHS. */
static void move_object(struct objects *objects, uint32_t id)
{
	struct object *o = &objects->object[id];
	uint32_t path = intern_text(&objects->paths, o->path);

	o->path = objects->paths.text[path];
	if (o->go_build_id)
		o->go_build_id = intern_copy(&objects->paths, o->go_build_id);
	table_add(&objects->table, hash_of(o, path), id);
}

/* Move the build IDs of paths to the new PATHS, which has only paths of live objects so far. */
static void move_recorded(struct objects *objects, const struct intern *past)
{
	bool many = recorded_are_many(objects);
	size_t rest = objects->recorded_bytes;
	uint32_t left = 0;

	objects->recorded_bytes = 0;
	for (uint32_t i = 0; i < objects->recorded_ids; i++) {
		struct recorded_build_id recorded = objects->recorded_id[i];
		const char *path = past->text[recorded.path];
		bool is_old = many && rest > RECORDED_LITTLE / 2;
		rest -= recorded_bytes(path);
		if (is_old && intern_find(&objects->paths, path) == TABLE_NONE)
			continue;
		recorded.path = intern_text(&objects->paths, path);
		objects->recorded_id[left] = recorded;
		table_add(&objects->recorded, hash_u64(recorded.path), left++);
		objects->recorded_bytes += recorded_bytes(path);
	}
	objects->recorded_ids = left;
	size_t twice = 2 * objects->recorded_bytes;
	objects->recorded_limit = twice > RECORDED_LITTLE ? twice : RECORDED_LITTLE;
}

void objects_remove(struct objects *objects, const bool *live)
{
	struct intern past = objects->paths;

	objects->removals++;
	objects->paths = (struct intern){ 0 };
	table_release(&objects->table);
	table_release(&objects->recorded);
	for (uint32_t id = 0; id < objects->count; id++) {
		if (!objects->object[id].path)
			continue;
		if (live[id])
			move_object(objects, id);
		else
			remove_object(objects, id);
	}
	move_recorded(objects, &past);
	intern_release(&past);
	uint32_t left = objects->count - objects->unuseds;
	objects->limit = left < FEW / 2 ? FEW : 2 * left;
}

void objects_release(struct objects *objects)
{
	free(objects->object);
	free(objects->unused);
	free(objects->recorded_id);
	intern_release(&objects->paths);
	table_release(&objects->table);
	table_release(&objects->recorded);
	*objects = (struct objects){ 0 };
}
