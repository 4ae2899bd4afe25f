/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image - the files of the objects of a stream or profile: finds, opens, checks and closes them.
 *
 * A file is looked for when its object is used first, or when a record says that it was mapped,
 * while the file still exists.  It is opened once, and a file that was not found is not looked for
 * again.  What the owner reads from a file is beside its image: the owner's structure for a file
 * starts with a struct image.
 *
 * Whether a file was changed since the recording:
 * - If the recording has the file's build ID, the file must have the same one.
 * - Otherwise a file that the recording knows by its inode must have this inode, and a file that
 *   was written to after the recording is LOCATE_CHANGED.  Such a file is closed if it is too small
 *   for what was mapped, or if the owner refuses changed files: to follow wrong unwind information
 *   is worse than to have none.  Otherwise it is used, and the owner says that its names may be
 *   wrong.
 * - Files below the user's sysroot are trusted.
 *
 * If nearly too many files are open (elf/pool.h), or they take too much memory, the least recently
 * used are closed, and opened again when they are needed, if they still exist.
 */
#pragma once
#include "elf/pool.h"
#include "locate/fetch.h"
#include "locate/locate.h"

struct image {
	struct images *images;	/* that it belongs to */
	const char *path;	/* of its object, which owns it; NULL: not looked for yet */
	struct elf *elf;	/* NULL: not found, closed, or refused */
	char *root;		/* root directory of PATH, "" for ours; owned */
	enum locate_result result;
	bool tried;		/* the file was looked for */
	bool is_checked;	/* image_use() has looked whether it was changed */
	bool is_reported;	/* for the owner: the note about this file was given */
	bool is_read;		/* for the owner: it holds memory with data from the file */
	bool stays_open;	/* it is not closed to make room */
	uint32_t closed;	/* how many times it was closed while IS_READ was set */
	uint64_t used;		/* images.uses at the last use */
};

struct images {
	/* The owner sets these before images_begin(); all others are zero then. */
	struct locate_options where;	/* images_begin() sets its pool and its fetcher */
	struct report *report;
	size_t size;		/* bytes of the owner's structure, which starts with struct image */
	/* Release what the owner has read from the file, which is closed then. */
	void (*forget)(struct image *image);
	bool refuses_changed;	/* see above */
	/* The owner keeps these up to date. */
	const struct stream_origin *origin;	/* NULL: the stream is of this machine */
	bool is_local;		/* the stream was recorded on this machine */
	/* The owner may read these. */
	uint64_t opened;	/* number of files that were opened */
	struct image **image;	/* by id of the object; NULL: not needed yet */
	uint32_t count;		/* elements of IMAGE */
	/* private: */
	struct elf_pool pool;
	struct fetcher fetcher;
	uint64_t uses;		/* of images so far */
	uint64_t swept;		/* USES when unmapped files were closed last */
	uint64_t swept_memory;	/* bytes that POOL took after that */
	uint64_t archives_cost;	/* bytes of archives that were read; see embedded.c */
	char library[2 * PATH_MAX];	/* path of the last library in an archive */
};

void images_begin(struct images *i);

/* Close all files, and free the images. */
void images_release(struct images *i);

/* Return the image of object ID; NULL: it was not needed yet. */
static inline struct image *image_find(const struct images *i, uint32_t id)
{
	return id < i->count ? i->image[id] : NULL;
}

/* Return the image of object ID.  Its file may not have been looked for yet. */
struct image *image_at(struct images *i, uint32_t id);

/*
 * Return the image of OBJECT, whose id is ID, and which process PID maps at M.  Its file is looked
 * for at the first call, and checked as the comment above says, with TIME, the stream's, of the
 * sample (0: unknown).  This does not close other files.
 */
struct image *image_use(struct images *i, uint32_t id, const struct object *object,
			const struct mapping *m, pid_t pid, uint64_t time);

/*
 * Let the image of object ID have the file ELF of the object PATH, which was found otherwise (NULL:
 * it was not found), and stay open.  Return the image.
 */
struct image *image_set(struct images *i, uint32_t id, const char *path, struct elf *elf);

/* Open the file that the MMAP record REC, which S has followed, maps, while it still exists. */
void images_open_mapped(struct images *i, struct spaces *s, const struct record *rec);

/*
 * Close the least recently used files if the others need room, as the comment above says.  Return
 * whether any was closed.
 */
bool images_make_room(struct images *i);

/*
 * If the files take much memory, and more than when this was done last, close those that no process
 * of S maps and that nothing has used since then: on a busy machine, programs come and go for
 * months.
 */
void images_sweep(struct images *i, struct spaces *s);

/* Close all files; they are opened again when they are needed. */
void images_close_all(struct images *i);

/* Call objects_remove(), and release the images of the objects that are not LIVE. */
void images_remove(struct images *i, struct objects *objects, const bool *live);

/* Start to fetch the program OBJECT, which PID maps at M, if it is not here, and do not wait. */
void images_prefetch(struct images *i, uint32_t id, const struct object *object,
		     const struct mapping *m, pid_t pid);

/* Start to fetch the debug information of a program that is open, if it is not here. */
void image_prefetch_debug(struct image *image);

/* Follow REC, of a local stream, for the root directories of processes. */
void images_follow(struct images *i, const struct record *rec);

/*
 * For spaces.rename, with IMAGES as its context.  If M maps a library that is stored in an APK,
 * Android's archive, the kernel names the archive and an offset in it.  Make M a mapping of the
 * library, as simpleperf does: set its path to "APK!/LIBRARY", and its offset to the offset in the
 * library.  The path is valid until the next call.
 */
void images_rename(void *images, struct mmap_record *m);
