/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/object-ranges.h"
#include "record/words.h"

#include <stdlib.h>

static uint64_t hash_of(const struct object_range *r)
{
	return hash_more(hash_more((uint64_t)r->pid << 32 | r->object, r->start),
			 r->size ^ (uint64_t)r->flags << 63);
}

/* Return whether PATH is Python's interpreter. */
static bool is_python(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return !strncmp(name, "python3", strlen("python3")) ||
	       !strncmp(name, "libpython3", strlen("libpython3"));
}

/* Define DEFINED, which stands for RANGE, and return its id. */
static uint32_t define(struct object_ranges *r, const struct resolved_object *defined,
		       const struct object_range *range)
{
	uint32_t id = resolved_add_object(r->definitions, defined);

	r->range = array_grow(r->range, id, sizeof(*r->range));
	r->range[id] = *range;
	r->range[id].is_python = is_python(r->definitions->string[defined->path]);
	return id;
}

uint32_t object_range_unknown(struct object_ranges *r)
{
	struct resolved_object unknown = { .kind = OBJECT_UNKNOWN };

	return object_range_id(r, TABLE_NONE, 0, unknown);
}

uint32_t object_range_id(struct object_ranges *r, uint32_t object, pid_t pid,
			 struct resolved_object range)
{
	const struct object_range key = { .object = object, .start = range.start,
					  .size = range.size, .pid = pid, .flags = range.flags };
	uint64_t hash = hash_of(&key);
	const char *path = WORD_UNKNOWN;
	const struct object_range *p = r->range;
	uint32_t id = TABLE_FIND(&r->table, hash, i, p[i].object == object &&
				 p[i].start == range.start && p[i].size == range.size &&
				 p[i].pid == pid && p[i].flags == range.flags);

	if (id != TABLE_NONE)
		return id;
	if (r->definitions->objects >= OBJECT_RANGES_MAX && object != TABLE_NONE) {
		report_rarely(r->report, "code is at more than %d places: further places are shown "
			      "as " WORD_UNKNOWN, OBJECT_RANGES_MAX);
		return object_range_unknown(r);
	}
	if (object != TABLE_NONE) {
		const struct object *o = &r->objects->object[object];
		path = o->path;
		if (!range.build_id_size) {	/* the file is not here */
			memcpy(range.build_id, o->build_id, BUILD_ID_MAX);
			range.build_id_size = o->build_id_size;
		}
	}
	range.path = namer_string(r->namer, path);
	id = define(r, &range, &key);
	table_add(&r->table, hash, id);
	return id;
}

uint32_t object_range_again(struct object_ranges *r, const struct resolved *past,
			    struct resolved_object defined, const struct object_range *old)
{
	if (old->object != OBJECT_REMOVED)
		return object_range_id(r, old->object, old->pid, defined);
	defined.path = namer_string(r->namer, past->string[defined.path]);
	return define(r, &defined, old);
}

void object_ranges_detach(struct object_ranges *r, const bool *live)
{
	for (uint32_t id = 0; id < r->definitions->objects; id++) {
		struct object_range *range = &r->range[id];
		if (range->object >= OBJECT_REMOVED || live[range->object])
			continue;
		table_remove(&r->table, hash_of(range), id);
		range->object = OBJECT_REMOVED;
	}
}

struct object_range *object_ranges_restart(struct object_ranges *r)
{
	struct object_range *past = r->range;

	table_release(&r->table);
	r->range = NULL;
	return past;
}
