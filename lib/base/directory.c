/* SPDX-License-Identifier: Apache-2.0 */
#include "base/directory.h"
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The caller's own group may write: on many systems each user has a group.  In a
 * sticky directory anyone may create files, but users can replace only their own.
 */
static bool is_safe(const struct stat *st, char why[DIRECTORY_WHY])
{
	mode_t others = st->st_gid == getegid() ? S_IWOTH : S_IWOTH | S_IWGRP;

	if (st->st_uid != 0 && st->st_uid != geteuid())
		snprintf(why, DIRECTORY_WHY, "it belongs to user %u, who is neither root nor you",
			 st->st_uid);
	else if (st->st_mode & others && !(st->st_mode & S_ISVTX))
		snprintf(why, DIRECTORY_WHY, "other users may replace what is in it (mode %04o): "
			 "chmod go-w", st->st_mode & 07777);
	else
		return true;
	return false;
}

int directory_open(const char *path, char why[DIRECTORY_WHY])
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		int error = errno;
		snprintf(why, DIRECTORY_WHY, "%s", strerror(error));
		descriptor_close(fd);
		errno = error;
		return -1;
	}
	if (is_safe(&st, why))
		return fd;
	close(fd);
	errno = 0;
	return -1;
}

bool directory_make(const char *path, mode_t mode)
{
	enum { MODE = 0755 };	/* else users of another group could replace files */
	char part[PATH_MAX];

	if (strlen(path) >= sizeof(part)) {
		errno = ENAMETOOLONG;
		return false;
	}
	for (size_t i = 1; path[i]; i++) {
		if (path[i] != '/')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		mkdir(part, MODE);
	}
	return mkdir(path, mode) == 0 || errno == EEXIST;
}
