/* SPDX-License-Identifier: Apache-2.0 */
/*
 * destination - the directory and the name of a file that will be written.
 *
 * In a sticky directory that others may write to, such as /tmp, anyone can create a file or a
 * symbolic link before we do, under the name that we are going to use, and so get what we write.
 * There, we use only files and links of the caller or of the directory's owner, and never a file
 * with several names.  This does not depend on the sysctls fs.protected_regular,
 * fs.protected_fifos, fs.protected_symlinks and fs.protected_hardlinks.  All tools create and
 * replace their files by these functions.
 *
 * Each component of a path is opened by the descriptor of the directory before, and judged by its
 * own descriptor, so that nobody can replace it in between.
 */
#pragma once
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/* The errno for a file or a link that another user created in such a directory. */
#define DESTINATION_FOREIGN ENOTUNIQ
/* The errno for a file there that has several names (hard links). */
#define DESTINATION_LINKED EMLINK

struct destination {
	int directory;		/* O_PATH descriptor, which the caller closes */
	char name[NAME_MAX + 1];	/* name in DIRECTORY, not a symbolic link */
	bool exists;
	bool is_descriptor;	/* NAME is a link of /proc to an open file: /dev/stdout */
	struct stat st;		/* of the file, if it exists */
};

/*
 * Find FILE, following symbolic links.  Return false with errno set if there is no such directory
 * or if the file or a link is foreign; nothing is open then.
 */
bool destination_find(struct destination *d, const char *file);

/*
 * Open D, or NAME in DIRECTORY, for writing, with more FLAGS (O_CREAT ...).  Return a
 * descriptor, or -1 with errno set.  A link is not followed, and a foreign file is refused
 * before it is truncated.
 */
int destination_open(const struct destination *d, int flags);
int destination_open_in(int directory, const char *name, int flags);

/* Return false with errno set if NAME in DIRECTORY is a foreign file or link. */
bool destination_is_ours(int directory, const char *name);

/* Return why a file could not be opened for writing, from an errno of these functions. */
const char *destination_why(int error);

/* Return whether FILE ("-": stdout) is the same regular file as one of INPUT ("-": stdin). */
bool destination_is_input(const char *file, const char *const *input, size_t inputs);
