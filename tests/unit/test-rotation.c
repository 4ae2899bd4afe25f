/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rotation: files of one recording that end in the same millisecond get names of their own,
 * also on a file system where rename cannot refuse to replace a file.
 */
#include "sample/sampler.h"
#include "tests/unit/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_simple;	/* the file system knows no flags of renameat2() */

int __real_renameat2(int from, const char *old, int to, const char *new, unsigned flags);
int __wrap_renameat2(int from, const char *old, int to, const char *new, unsigned flags);

int __wrap_renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
	if (!is_simple)
		return __real_renameat2(from, old, to, new, flags);
	errno = EINVAL;
	return -1;
}

/* Make the file "s" with one LETTER, and end it at MS.  Return whether its name is WANTED. */
static bool ends(char letter, uint64_t ms, const char *wanted)
{
	char name[64];
	int fd = open("s", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, &letter, 1) != 1 || close(fd))
		return false;
	if (rotation_rename("s", ms, name, sizeof(name)) && !strcmp(name, wanted))
		return true;
	printf("# its name is %s\n", name);
	return false;
}

/* Return whether the file NAME has the one LETTER. */
static bool has(const char *name, char letter)
{
	char bytes[2];
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0 && read(fd, bytes, sizeof(bytes)) == 1 && bytes[0] == letter;

	close(fd);
	return good;
}

int main(void)
{
	enum { MS = 998 };
	char folder[] = "/tmp/rotation-XXXXXX", name[64];

	setenv("TZ", "UTC", 1);
	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	for (int round = 0; round < 2; round++) {
		is_simple = round == 1;
		tap(ends('a', MS, "s.19700101000000998") && ends('b', MS, "s.19700101000000999") &&
		    ends('c', MS, "s.19700101000001000") &&
		    ends('d', MS + 1, "s.19700101000001001"),
		    "each file has the first millisecond that is free");
		tap(has("s.19700101000000998", 'a') && has("s.19700101000000999", 'b') &&
		    has("s.19700101000001000", 'c') && has("s.19700101000001001", 'd'),
		    "none is overwritten");
		tap(!rotation_rename("s", MS, name, sizeof(name)) && errno == ENOENT,
		    "a file that cannot be renamed ends the search");
		for (const char **file = (const char *[]){ "998", "999", NULL }; *file; file++) {
			snprintf(name, sizeof(name), "s.19700101000000%s", *file);
			unlink(name);
		}
		unlink("s.19700101000001000");
		unlink("s.19700101000001001");
	}
	return rmdir(folder) != 0 || tap_done();
}
