/* SPDX-License-Identifier: Apache-2.0 */
#include "base/spool.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int spool_open(const char **directory)
{
	char path[PATH_MAX];

	*directory = secure_getenv("TMPDIR");
	if (!*directory || !**directory)
		*directory = "/tmp";
	int fd = open(*directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 && snprintf(path, sizeof(path), "%s/pmukit-XXXXXX", *directory) <
		      (int)sizeof(path)) {
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0)
			unlink(path);
	}
	return fd >= 0 ? fd : memfd_create("pmukit", MFD_CLOEXEC);
}
