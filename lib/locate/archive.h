/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive - files in a ZIP archive that are stored as they are, so that they can be mapped: the
 * libraries in an APK of Android.
 *
 * Format: PKWARE's APPNOTE.TXT 6.3.  The archive is not trusted.  It costs time in proportion to
 * its directory.  An archive of several parts, and encrypted files, are refused.
 */
#pragma once
#include "elf/elf.h"

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
bool archive_find_at(struct elf_bytes zip, uint64_t offset, struct archive_file *out);

/* Find the stored file NAME of ZIP.  Return false if none or several files have that name. */
bool archive_find_name(struct elf_bytes zip, const char *name, struct archive_file *out);

/* Return about how many bytes of ZIP a search reads. */
uint64_t archive_cost(struct elf_bytes zip);

/*
 * Return the separator "!/" in PATH, between the path of an archive and the name of a file in the
 * archive.  Return NULL if PATH is not such a path.
 */
const char *archive_separator(const char *path);
