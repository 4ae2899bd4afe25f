/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object - anything that can be mapped: a file, the kernel, a module, the vdso,
 * anonymous memory.  Objects with the same path and build ID (or the same inode, if
 * the build ID is unknown) have the same id.
 *
 * Objects that are mapped nowhere any more are removed when there are too many; their ids are
 * used again.
 */
#pragma once
#include "base/intern.h"
#include "record/record.h"
#include "resolved/resolved.h"

struct object {
	const char *path;	/* as mapped, without " (deleted)"; NULL: a removed object */
	enum object_kind kind;
	bool deleted;		/* the path no longer names this file */
	uint8_t build_id[BUILD_ID_MAX];	/* zero padded */
	uint8_t build_id_size;	/* bytes; 0: unknown */
	const char *go_build_id;	/* Go's own, if there is no other; NULL: unknown */
	uint32_t major, minor;	/* device of the file */
	uint64_t inode;		/* inode number on that device; 0: unknown */
};

/* Return whether any build ID of the mapped file is known. */
static inline bool object_has_id(const struct object *o)
{
	return o->build_id_size || o->go_build_id;
}

/* Zero-initialised: empty. */
struct objects {
	struct object *object;	/* by id; moves as it grows */
	uint32_t count;		/* number of ids, with those of removed objects */
	uint32_t *unused;	/* ids of removed objects */
	uint32_t unuseds;
	uint32_t removals;	/* calls of objects_remove(): each gives ids new meanings */
	uint32_t limit;		/* more objects than this are too many; 0: not computed yet */
	struct intern paths;
	struct table table;	/* over OBJECT */
	struct table recorded;	/* path to build ID from a BUILD_ID record: index in RECORDED_ID */
	struct recorded_build_id {
		uint32_t path;	/* id in PATHS */
		uint8_t build_id[BUILD_ID_MAX];	/* zero padded */
		uint8_t size;	/* bytes */
	} *recorded_id;
	uint32_t recorded_ids;
	size_t recorded_bytes;	/* memory that these IDs and their paths take */
	size_t recorded_limit;	/* more bytes than this are too many; 0: not computed yet */
};

/* Return the id of the object that M maps.  IN_KERNEL: M is in the host kernel's space. */
uint32_t objects_add(struct objects *objects, const struct mmap_record *m, bool in_kernel);

/*
 * Return whether O may be memory to which a program moved its own text, to run it from huge pages.
 */
bool object_may_be_hugepages(const struct object *o);

/* Return whether O is the vdso of 32-bit processes. */
bool object_is_vdso32(const struct object *o);

/* Return whether O is a file in memory (memfd_create), which has no path. */
bool object_is_memfd(const struct object *o);

/* Remember the build ID of a path, for mappings of it that have none. */
void objects_set_build_id(struct objects *objects, const struct build_id_record *b);

/*
 * Store the build ID that a BUILD_ID record gave for PATH, perhaps after the object was mapped.
 * Return its size in bytes; 0: none did.
 */
size_t objects_recorded_id(const struct objects *objects, const char *path,
			   uint8_t id[BUILD_ID_MAX]);

/*
 * Return whether there are so many objects, or build IDs of paths, that it is time to remove those
 * that are not in use.
 */
bool objects_are_many(const struct objects *objects);

/*
 * Remove the objects whose ids are not set in LIVE.  This moves the paths of the others.  If there
 * are many build IDs of paths, forget the older ones, except for paths of live objects.
 */
void objects_remove(struct objects *objects, const bool *live);

void objects_release(struct objects *objects);
