/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/memory.h"
#include "locate/internal.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void images_begin(struct images *i)
{
	i->where.pool = &i->pool;
	i->where.fetcher = &i->fetcher;
	i->fetcher = (struct fetcher){ .urls = i->where.debuginfod, .stop = i->where.stop,
				       .limit = i->where.debuginfod_time, .report = i->report };
}

struct image *image_at(struct images *i, uint32_t id)
{
	for (; i->count <= id; i->count++) {
		i->image = array_grow(i->image, i->count, sizeof(*i->image));
		i->image[i->count] = NULL;
	}
	if (!i->image[id]) {
		i->image[id] = mem_zeroed(1, i->size);
		i->image[id]->images = i;
	}
	return i->image[id];
}

static void close_image(struct image *image)
{
	image->images->forget(image);
	elf_close(image->elf);
	free(image->root);
	image->closed += image->is_read;
	image->elf = NULL;
	image->root = NULL;
	image->result = LOCATED;
	image->tried = image->is_checked = image->is_read = false;
}

static void release(struct image *image)
{
	if (image)
		close_image(image);
	free(image);
}

void images_release(struct images *i)
{
	for (uint32_t id = 0; id < i->count; id++)
		release(i->image[id]);
	free(i->image);
	locate_roots_free(i->where.roots);
	fetch_release(&i->fetcher);
}

void images_close_all(struct images *i)
{
	for (uint32_t id = 0; id < i->count; id++)
		if (i->image[id])
			close_image(i->image[id]);
}

void images_remove(struct images *i, struct objects *objects, const bool *live)
{
	for (uint32_t id = 0; id < i->count; id++)
		if (!live[id]) {
			release(i->image[id]);
			i->image[id] = NULL;
		}
	objects_remove(objects, live);
	for (uint32_t id = 0; id < i->count; id++)
		if (i->image[id] && i->image[id]->path)
			i->image[id]->path = objects->object[id].path;
}

/* Look for the file of OBJECT, which M maps in PID.  ANYWHERE: also elsewhere than at its path. */
static void open_file(struct image *image, const struct object *object, const struct mapping *m,
		      pid_t pid, bool anywhere)
{
	struct images *i = image->images;

	locate_file(&i->where, object, pid, m, i->is_local, image);
	if (anywhere)
		locate_elsewhere(&i->where, object, image);
	image->path = object->path;
	image->tried = true;
	image->used = ++i->uses;
	i->opened += image->elf != NULL;
}

struct image *image_set(struct images *i, uint32_t id, const char *path, struct elf *elf)
{
	struct image *image = image_at(i, id);

	image->path = path;
	image->elf = elf;
	image->root = mem_text("");
	image->tried = image->is_checked = image->stays_open = true;
	i->opened += elf != NULL;
	return image;
}

int64_t locate_written_at(const char *input)
{
	struct stat st;
	bool is_stdin = !input || !strcmp(input, "-");

	if ((is_stdin ? fstat(STDIN_FILENO, &st) : stat(input, &st)) < 0 || !S_ISREG(st.st_mode))
		return 0;
	return st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

/*
 * Return the latest time at which a sample may have been taken, in ns since 1970; 0: unknown.
 * TIME: its time in the stream's clock; 0: unknown.  The wall clock may have run 0.1 % faster or
 * slower than the stream's clock.
 */
static int64_t taken_before(const struct images *i, uint64_t time)
{
	const struct stream_origin *origin = i->origin;

	if (!origin || !origin->has_clock || !time)
		return i->where.recorded_before;
	uint64_t since = time - origin->clock_time;	/* or before: then near 2^64 */
	uint64_t distance = since >> 63 ? -since : since;
	return (int64_t)(origin->wall_time + since + distance / 1000);
}

/*
 * Check whether the file of OBJECT was changed after a sample at TIME.  Without a build ID, a
 * file is recognized by path and inode, which stay when the file is written to.
 */
static void check_unchanged(struct image *image, const struct object *object,
			    const struct mapping *m, uint64_t time)
{
	struct images *i = image->images;
	int64_t taken = taken_before(i, time);

	if (!image->elf || object->kind != OBJECT_FILE || object_has_id(object) ||
	    i->where.sysroot || !taken || elf_modified(image->elf) <= taken)
		return;
	/* A profile may have a file's own addresses, and no mapping. */
	bool may_be_it = !m->end || elf_may_map(image->elf, m->file_offset, m->end - m->start,
						(uint64_t)sysconf(_SC_PAGESIZE));
	if (i->refuses_changed || !may_be_it) {
		close_image(image);
		image->tried = true;
		i->opened--;
	}
	image->result = LOCATE_CHANGED;
}

struct image *image_use(struct images *i, uint32_t id, const struct object *object,
			const struct mapping *m, pid_t pid, uint64_t time)
{
	struct image *image = image_at(i, id);

	if (!image->tried)
		open_file(image, object, m, pid, true);
	if (!image->is_checked)
		check_unchanged(image, object, m, time);
	image->is_checked = true;
	image->used = ++i->uses;
	return image;
}

void images_open_mapped(struct images *i, struct spaces *s, const struct record *rec)
{
	pid_t pid;
	const struct mapping *m = i->is_local ? spaces_file_mapped(s, rec, &pid) : NULL;
	struct image *image = m ? image_at(i, m->object) : NULL;

	if (!image || image->tried)
		return;
	open_file(image, &s->objects.object[m->object], m, pid, false);
	if (image->elf)
		elf_rest(image->elf);
	else
		close_image(image);	/* the next process that maps it may succeed */
}

static bool may_close(const struct image *image)
{
	return image && image->elf && !image->stays_open;
}

void images_sweep(struct images *i, struct spaces *s)
{
	enum { MUCH = 24 << 20, MORE = 8 << 20 };	/* bytes */

	if (i->pool.memory < MUCH || i->pool.memory < i->swept_memory + MORE)
		return;
	bool *live = mem_zeroed(s->objects.count, sizeof(*live));
	spaces_mark_objects(s, live);
	for (uint32_t id = 0; id < i->count; id++)
		if (may_close(i->image[id]) && !live[id] && i->image[id]->used <= i->swept)
			close_image(i->image[id]);
	free(live);
	memory_trim();
	i->swept = i->uses;
	i->swept_memory = i->pool.memory;
}

static int by_use(const void *a, const void *b)
{
	const struct image *const *x = a, *const *y = b;

	return (*x)->used < (*y)->used ? -1 : (*x)->used > (*y)->used;
}

/* Return the COUNT images whose files may be closed, the least recently used first, to be freed. */
static struct image **list_uses(const struct images *i, uint32_t *count)
{
	struct image **use = mem_resize(NULL, (i->count + 1) * sizeof(*use));

	*count = 0;
	for (uint32_t id = 0; id < i->count; id++)
		if (may_close(i->image[id]))
			use[(*count)++] = i->image[id];
	qsort(use, *count, sizeof(*use), by_use);
	return use;
}

bool images_make_room(struct images *i)
{
	enum { SPARE = 64 };	/* files that one image may open: debug and split files */
	struct elf_pool *pool = &i->pool;
	const uint32_t most = elf_pool_max(pool), spare = most < 4 * SPARE ? most / 4 : SPARE;
	bool is_any_closed = false;
	uint32_t count;

	if (pool->open + spare < most && pool->memory <= ELF_POOL_MEMORY)
		return false;
	report_rarely(i->report, "more than %u files are mapped, or they take more than %llu MiB: "
		      "the least recently used are closed, and opened again if they still exist",
		      most - spare, ELF_POOL_MEMORY >> 20);
	struct image **use = list_uses(i, &count);
	/* A quarter is to be free.  The last one stays: it would be opened again at once. */
	for (uint32_t k = 0; k + 1 < count && (pool->open > most / 4 * 3 ||
					       pool->memory > ELF_POOL_MEMORY / 4 * 3); k++)
		if (use[k]->is_read || pool->open > most / 4 * 3) {
			close_image(use[k]);	/* otherwise this would free no memory */
			is_any_closed = true;
		}
	free(use);
	return is_any_closed;
}

void images_prefetch(struct images *i, uint32_t id, const struct object *object,
		     const struct mapping *m, pid_t pid)
{
	const struct image *image = image_find(i, id);
	struct locate_options here = i->where;
	struct image found = { .images = i };
	char hex[BUILD_ID_HEX];

	if (object->kind != OBJECT_FILE || object->build_id_size < 2 || (image && image->tried))
		return;
	here.fetcher = NULL;
	locate_file(&here, object, pid, m, i->is_local, &found);
	locate_elsewhere(&here, object, &found);
	record_build_id_hex(object->build_id, object->build_id_size, hex);
	if (!found.elf)
		fetch_begin(&i->fetcher, hex, LOCATE_PROGRAM);
	elf_close(found.elf);
	free(found.root);
}

void image_prefetch_debug(struct image *image)
{
	const uint8_t *id;
	size_t size = image->elf ? elf_build_id(image->elf, &id) : 0;
	char hex[BUILD_ID_HEX];

	if (size < 2 || size > BUILD_ID_MAX || image->is_read ||
	    locate_has_debug(&image->images->where, image->elf, image->path, image->root))
		return;
	record_build_id_hex(id, size, hex);
	fetch_begin(&image->images->fetcher, hex, LOCATE_DEBUG);
}

void images_follow(struct images *i, const struct record *rec)
{
	if (!i->is_local)
		return;
	if (!i->where.roots)
		i->where.roots = locate_roots_new();
	locate_roots_follow(i->where.roots, rec);
}
