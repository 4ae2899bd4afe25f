/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object - what can be mapped: a file, the kernel, a module, the vdso,
 * anonymous memory.  Equal ones (same path, same build ID; where none is known,
 * the same inode) have the same id.
 */
#pragma once
#include "base/intern.h"
#include "record/record.h"
#include "stream/resolved.h"

struct object {
	const char *path;	/* as mapped, without " (deleted)" */
	enum object_kind kind;
	bool deleted;		/* the path is gone, or names another file now */
	uint8_t build_id[BUILD_ID_MAX];	/* zero padded */
	uint8_t build_id_size;	/* bytes; 0: unknown */
	const char *go_build_id;	/* Go's own, where there is no other; NULL: unknown */
	uint32_t major, minor;	/* the file's device, and */
	uint64_t inode;		/* its number there; 0: not told */
};

/* Whether it is known which build of the file was mapped. */
static inline bool object_has_id(const struct object *o)
{
	return o->build_id_size || o->go_build_id;
}

/* Zero-initialised: empty. */
struct objects {
	struct object *object;	/* by id; moves as it grows */
	uint32_t count;
	struct intern paths;
	struct table table;
	struct table told;	/* build IDs from BUILD_ID records, by path: ids in TOLD_ID */
	struct build_id_told {
		uint32_t path;	/* in PATHS */
		uint8_t build_id[BUILD_ID_MAX];
		uint8_t size;
	} *told_id;
	uint32_t tolds;
};

/* The id of the object that M maps; IN_KERNEL: its record is of the kernel's own space. */
uint32_t objects_add(struct objects *objects, const struct mmap_record *m, bool in_kernel);

/*
 * Whether O may be pages that a program has put in the place of its own text,
 * copied there, since they are larger.
 */
bool object_may_be_hugepages(const struct object *o);

/* Whether O is the vdso of 32-bit processes. */
bool object_is_vdso32(const struct object *o);

/* Whether O is a file in memory, that has no path. */
bool object_is_memfd(const struct object *o);

/* The object of this path has this build ID, when its mapping does not say. */
void objects_tell(struct objects *objects, const struct build_id_record *b);

void objects_release(struct objects *objects);
