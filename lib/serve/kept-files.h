/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept-files - profiles of the last hours: files in a directory, the oldest of which are deleted.
 *
 * pmu-topprof --split writes the files: "profile-START-LENGTH.pb.gz", both in s, START since
 * 1970.  Files with other names, links and files of other users are left alone.
 */
#pragma once
#include "base/report.h"

#include <stddef.h>
#include <sys/types.h>

enum {
	KEPT_FILE_NAME = 64,			/* bytes of the name of a file, with its NUL */
	KEPT_FILES_WHY = 256,			/* bytes of a reason, with its NUL */
};

struct kept_file {
	uint64_t start, length;		/* s */
	uint64_t end;			/* s: also where the next file starts */
	uint64_t bytes;
	uint64_t changed;		/* when it was written, in ns since 1970 */
};

struct kept_files {
	const char *path;
	int fd;				/* -1: not open */
	struct kept_file *file;		/* oldest first; owned */
	size_t files;
	uint64_t bytes;			/* size of the files in FILE */
	time_t written;			/* when the newest FILE was written, s since 1970; or 0 */
	struct kept_file *expired;	/* to be deleted; not in FILE; owned */
	size_t expirations;		/* number of expired files */
};

/*
 * Open the directory PATH, and create it if necessary.  PATH must outlive R.  Return false and set
 * WHY if others could write there, or if another server uses it.
 */
bool kept_files_open(struct kept_files *r, const char *path, char why[KEPT_FILES_WHY]);
void kept_files_close(struct kept_files *r);

/* Return whether R is open, and its path still leads to its directory. */
bool kept_files_exist(const struct kept_files *r);

/* Write the template of the files of LENGTH s, for pmu-topprof.  The caller frees. */
char *kept_files_template(const struct kept_files *r, uint64_t length);

/* Read the list of files, without expired ones.  Return false, with no files, if that fails. */
bool kept_files_read(struct kept_files *r);

/*
 * Let files expire: those that end more than KEEP s before NOW (s since 1970), and the oldest files
 * while all files have more than MOST bytes.  Files that start after NOW were named by a wrong
 * clock: they expire if they start more than KEEP s after NOW, and before others if there are too
 * many bytes.
 */
void kept_files_trim(struct kept_files *r, uint64_t now, uint64_t keep, uint64_t most);

/* Return when the file NAME was written, in s since 1970.  If it is gone: now. */
time_t kept_files_time(const struct kept_files *r, const char *name);

/* Delete the expired files. */
void kept_files_delete(struct kept_files *r);

/* Return the number of files that overlap [FROM, TO), and set *FIRST to the index of the first. */
size_t kept_files_find(const struct kept_files *r, uint64_t from, uint64_t to, size_t *first);

/* Write the name of F. */
void kept_file_name(const struct kept_file *f, char name[KEPT_FILE_NAME]);
