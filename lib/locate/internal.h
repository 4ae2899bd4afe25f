/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of locate, shared by images (image.c), mapped files (locate.c), files found by build ID
 * (debug.c, module.c), and the root directories of processes (roots.c).
 */
#pragma once
#include "elf/mapped.h"
#include "linux/proc.h"
#include "locate/image.h"

/*
 * Set the ELF, the root and the result of OUT, whose ELF and root are NULL, to those of OBJECT,
 * which process PID maps at M: a file, memory from memfd_create(), or this machine's vdso, which is
 * read from memory.  IS_LOCAL: the stream was recorded on this machine.  The root is never NULL.
 */
void locate_file(const struct locate_options *where, const struct object *object, pid_t pid,
		 const struct mapping *m, bool is_local, struct image *out);

/* If OUT has no file, look for OBJECT by its build ID alone.  This may take long. */
void locate_elsewhere(const struct locate_options *where, const struct object *object,
		      struct image *out);

/* Open the file with this build ID and kind. Looks below ROOT, too. Returns NULL if not found. */
struct elf *locate_by_id(const struct locate_options *where, const char *root, const uint8_t *id,
			 size_t size, enum locate_kind kind);

/* Return ELF if it has the build ID. Otherwise close ELF and return NULL. ELF may be NULL. */
struct elf *locate_with_id(struct elf *elf, const uint8_t *id, size_t size);

/*
 * Like locate_elf(), also for a file that is compressed, as kernel modules are.  If the file is
 * there but cannot be read, the reason is reported, unless REPORT is NULL.
 */
struct elf *locate_packed(const struct locate_options *where, const char *root, const char *path,
			  struct report *report);

/*
 * Open the vdso OBJECT, which process PID maps at M, on the machine where this program runs: the
 * 32-bit one is read from the memory of the living process.  Returns NULL if it cannot be read.
 */
struct elf *locate_vdso(const struct object *object, pid_t pid, const struct mapping *m);

struct locate_roots;

struct locate_roots *locate_roots_new(void);

/* Follow REC, of a stream that was recorded on this machine: FORK, COMM and MMAP name processes. */
void locate_roots_follow(struct locate_roots *r, const struct record *rec);

/*
 * Set *ROOT to a path of the root directory that process PID had.  Return false if it is unknown or
 * ours.  The path is valid for a minute after the last call that returned it, unless very many
 * other roots come.  R may be NULL.
 */
bool locate_roots_find(struct locate_roots *r, pid_t pid, struct proc_path *root);

void locate_roots_free(struct locate_roots *r);

/*
 * archive - files in a ZIP archive that are stored as they are, so that they can be mapped: the
 * libraries in an APK of Android.
 *
 * Format: PKWARE's APPNOTE.TXT 6.3.  The archive is not trusted.  It costs time in proportion to
 * its directory.  An archive of several parts, and encrypted files, are refused.
 */

enum { ARCHIVE_NAME_MAX = 1024 };	/* bytes of a file's name, with its NUL */

/* A file in an archive. */
struct archive_file {
	uint64_t offset, size;		/* of its bytes in the archive */
	char name[ARCHIVE_NAME_MAX];
};

/*
 * Find the stored file of ZIP that has the byte at OFFSET.  Return false if no such file does, or
 * if another file has the same name.
 */
bool archive_find_at(const struct mapped *zip, uint64_t offset, struct archive_file *out);

/* Find the stored file NAME of ZIP.  Return false if none or several files have that name. */
bool archive_find_name(const struct mapped *zip, const char *name, struct archive_file *out);

/* Return about how many bytes of ZIP a search reads. */
uint64_t archive_cost(const struct mapped *zip);

/*
 * Return the separator "!/" in PATH, between the path of an archive and the name of a file in the
 * archive.  Return NULL if PATH is not such a path.
 */
const char *archive_separator(const char *path);
