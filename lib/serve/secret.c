/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/secret.h"
#include "base/descriptor.h"
#include "base/regular.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Return whether only those know what is in FD who may.  Otherwise set WHY to what to do. */
static bool is_private(int fd, const char *file, const char *what, char why[SECRET_WHY])
{
	struct stat st;

	if (fstat(fd, &st) < 0) {
		snprintf(why, SECRET_WHY, "cannot look at '%s': %s", file, strerror(errno));
		return false;
	}
	if (st.st_uid != 0 && st.st_uid != geteuid())
		snprintf(why, SECRET_WHY, "the %s in '%s' is not used: the file belongs to user "
			 "%u, not to this server's user or root; 'chown %u' changes that", what,
			 file, st.st_uid, geteuid());
	else if (st.st_mode & (S_IRWXO | S_IWGRP))
		snprintf(why, SECRET_WHY, "the %s in '%s' is not used: other users can %s it; "
			 "'chmod 600' changes that, and then it needs a new %s", what, file,
			 st.st_mode & (S_IWGRP | S_IWOTH) ? "change" : "read", what);
	else
		return true;
	return false;
}

ssize_t secret_read(const char *file, const char *what, char *line, size_t size,
		    char why[SECRET_WHY])
{
	int fd = regular_open(file, false);

	if (fd >= 0 && !is_private(fd, file, what, why)) {
		close(fd);
		return -1;
	}
	ssize_t n = fd < 0 ? -1 : read(fd, line, size - 1);
	if (n < 0)
		snprintf(why, SECRET_WHY, "cannot read the %s in '%s': %s", what, file,
			 strerror(errno));
	descriptor_close(fd);
	if (n < 0)
		return -1;
	line[n] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	return (ssize_t)strlen(line);
}
