/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch-objects - the objects that contain branches, their code, and the choice of the binary.
 *
 * Several objects may be one binary: copies of a file, or a file that is mapped by several names.
 * Build IDs are equal if they agree up to the end of the shorter one, and the rest is 0, because
 * some recorders pad them.  The build ID of a file may come after its samples, so only at the end
 * is it known which objects are the binary.
 */
#pragma once
#include "branch/branch-cells.h"
#include "process/space.h"
#include "resolve/source.h"

/* Which binary is asked for.  Zero-initialised: the one with the most branches. */
struct branch_wanted {
	const char *file;	/* --binary; NULL: none */
	struct elf *elf;	/* FILE, opened; NULL if FILE is NULL */
	uint8_t id[BUILD_ID_MAX];	/* of FILE or --build-id, zero padded */
	size_t id_size;		/* bytes; 0: unknown */
};

/* An object, by its id in struct spaces. */
struct branch_object {
	bool is_known;		/* the rest is filled */
	bool is_counted;	/* it is the binary, or may be */
	bool is_chosen;		/* it is the binary: branch_objects_choose() sets it */
	struct elf *elf;	/* its file; NULL: unknown */
	struct extent *code;	/* offsets of sections with code, not stubs (PLT); NULL: unknown */
	uint32_t codes;
	uint64_t entries;	/* branches with an end here */
	pid_t last_pid;		/* that had such a branch; 0: none had */
};

struct branch_objects {
	/* The owner sets these; all others are zero at first. */
	struct branch_wanted wanted;
	bool wants_all;		/* if nothing is asked for, all objects are wanted */
	struct spaces *spaces;
	struct sources *sources;
	struct report *report;
	/* The owner may read these. */
	struct branch_object *object;	/* by id */
	uint32_t count;
	uint32_t binary;	/* the chosen one with the most branches */
	uint32_t chosen;	/* number of objects that are */
	bool are_all;		/* all objects with branches are chosen: there is no binary */
	bool has_given;		/* WANTED.elf was given to an image, which closes it */
	uint64_t processes;	/* that had branches in the binary */
	/* private: */
	struct branch_user { uint32_t object; pid_t pid; } *user;	/* that had branches */
	uint32_t users;
	uint32_t files;		/* that are open, of objects with branches */
	struct table user_table;
};

/* Return object ID, which process PID maps at M, at TIME of the stream (0: unknown). */
struct branch_object *branch_objects_at(struct branch_objects *o, const struct mapping *m,
					pid_t pid, uint64_t time);

/* Return whether OFFSET of the file of O is in a section with code. */
static inline bool branch_object_is_code(const struct branch_object *o, uint64_t offset)
{
	for (uint32_t i = 0; i < o->codes; i++)
		if (offset - o->code[i].start < o->code[i].end - o->code[i].start)
			return true;
	return o->codes == 0;
}

/* A branch of process PID has an end in object ID. */
void branch_objects_count(struct branch_objects *o, uint32_t id, pid_t pid);

/* If there are many objects, remove those that are not mapped and have no branches. */
void branch_objects_sweep(struct branch_objects *o);

/*
 * At the end of the stream: choose the binary.  IN_ALL is the number of all branches.  False: no
 * object is the binary, or a file is another build (reported).
 */
bool branch_objects_choose(struct branch_objects *o, uint64_t in_all);

/* Return what names the code of object ID, which is chosen; NULL: its file is unknown. */
struct source *branch_objects_source(struct branch_objects *o, uint32_t id);

/* Return the path of the binary, as recorded. */
const char *branch_objects_path(const struct branch_objects *o);

void branch_objects_release(struct branch_objects *o);
