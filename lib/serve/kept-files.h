/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept-files - profiles of the last hours: files in a directory, the oldest of which are deleted.
 *
 * pmu-topprof --interval writes the files: "profile-START-LENGTH.pb.gz", both in s, START since
 * 1970.  Files with other names, links and files of other users are left alone.
 */
#pragma once
#include "base/report.h"

#include <stddef.h>
#include <sys/types.h>

enum {
	RING_NAME = 64,			/* bytes of the name of a file, with its NUL */
	RING_WHY = 256,			/* bytes of a reason, with its NUL */
};

struct kept_file {
	uint64_t start, length;		/* s */
	uint64_t end;			/* s: also where the next file starts */
	uint64_t bytes;
};

struct kept_files {
	const char *path;
	int fd;				/* -1: not open */
	struct kept_file *file;		/* oldest first; owned */
	size_t files;
	uint64_t bytes;			/* of all of them */
	struct kept_file *expired;	/* to be deleted; not among FILE; owned */
	size_t expirations;
};

/*
 * Open the ring in the directory PATH, which outlives it and is made if necessary.  Return false
 * and WHY if others could write there, or another server does.
 */
bool ring_open(struct kept_files *r, const char *path, char why[RING_WHY]);
void ring_close(struct kept_files *r);

/* Return whether R is open, and its path still leads to its directory. */
bool ring_is_there(const struct kept_files *r);

/* Write the template of the files of LENGTH s, for pmu-topprof.  The caller frees. */
char *ring_template(const struct kept_files *r, uint64_t length);

/* Look which files there are, without those that have expired. */
void ring_look(struct kept_files *r);

/*
 * Let files expire: those that end more than KEEP s before NOW (s since 1970), and the oldest ones
 * above MOST bytes.  A clock that was wrong named those that start after NOW: they go, too, if that
 * is more than KEEP s, and are the first ones above MOST bytes.
 */
void ring_trim(struct kept_files *r, uint64_t now, uint64_t keep, uint64_t most);

/* Delete the files that have expired. */
void ring_delete(struct kept_files *r);

/* Return how many files have something from FROM to TO, and set *FIRST to the first's index. */
size_t ring_find(const struct kept_files *r, uint64_t from, uint64_t to, size_t *first);

/* Write the name of F. */
void ring_name(const struct kept_file *f, char name[RING_NAME]);
