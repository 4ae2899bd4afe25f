/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the program that samples.
 *
 * Who chooses that program may do all that this process may.  So a program with rights that its
 * caller does not have ignores the environment, and nobody looks in the current directory.
 */
#include "base/arena.h"
#include "self/prefix.h"
#include "self/running-profile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char name[] = "pmu-sample";

/* Return whether PATH is a program; if it is not, errno says why. */
static bool can_run(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	errno = S_ISDIR(st.st_mode) ? EISDIR : EACCES;
	return S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Write the path of pmu-sample in the SIZE bytes of DIRECTORY to PATH.  False: it has none. */
static bool is_in(const char *directory, size_t size, char path[PATH_MAX])
{
	int length = snprintf(path, PATH_MAX, "%.*s/%s", (int)size, directory, name);

	return directory[0] == '/' && length < PATH_MAX && can_run(path);
}

/* Look in the directories of LIST, as in $PATH.  Relative ones are left out. */
static bool is_in_some(const char *list, char path[PATH_MAX])
{
	while (list && *list) {
		size_t size = strcspn(list, ":");

		if (size < PATH_MAX && is_in(list, size, path))
			return true;
		list += size + (list[size] == ':');
	}
	return false;
}

char *profile_find_sampler(const char *given, struct report *report)
{
	const char *variable = given ? NULL : secure_getenv("PMUKIT_SAMPLER");
	const char *named = given ? given : variable && *variable ? variable : NULL;
	char path[PATH_MAX];

	if (named && can_run(named))
		return mem_text(named);
	if (named)
		report_failure(report, "cannot run '%s', which %s names as pmu-sample", named,
			       given ? "pmukit_profile_config.sampler" : "$PMUKIT_SAMPLER");
	else if (is_in_some(secure_getenv("PATH"), path) ||
		 is_in(PMUKIT_PROGRAMS, strlen(PMUKIT_PROGRAMS), path))
		return mem_text(path);
	else
		report_error(report, "no program pmu-sample was found in $PATH and in "
			     PMUKIT_PROGRAMS ": install pmukit, or set $PMUKIT_SAMPLER to its "
			     "path");
	return NULL;
}
