/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replace: the old file stays when a call that completes the new one fails, whichever
 * it is.  The linker puts the functions below in the place of the C library's
 * (--wrap, in the Makefile).
 */
#include "base/output.h"
#include "base/replace.h"
#include "tests/unit/tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum { NOTHING, WRITE, SYNC, CLOSE, RENAME, BUSY } failing;

ssize_t __real_write(int fd, const void *bytes, size_t size);
int __real_fsync(int fd);
int __real_close(int fd);
int __real_renameat(int from, const char *old, int to, const char *new);

ssize_t __wrap_write(int fd, const void *bytes, size_t size);
int __wrap_fsync(int fd);
int __wrap_close(int fd);
int __wrap_renameat(int from, const char *old, int to, const char *new);

static int fail(int error)
{
	errno = error;
	return -1;
}

static bool is_written(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
	return failing == WRITE && is_written(fd) ? fail(ENOSPC) : __real_write(fd, bytes, size);
}

int __wrap_fsync(int fd)
{
	return failing == SYNC ? fail(EIO) : __real_fsync(fd);
}

int __wrap_close(int fd)
{
	bool fails = failing == CLOSE && is_written(fd);
	int result = __real_close(fd);

	return fails ? fail(EDQUOT) : result;
}

int __wrap_renameat(int from, const char *old, int to, const char *new)
{
	return failing == RENAME ? fail(EIO) : failing == BUSY ? fail(EBUSY)
	       : __real_renameat(from, old, to, new);
}

/* Write TEXT to "file"; whether it was reported as written. */
static bool write_file(const char *text)
{
	struct report report = { .tool = "test", .quiet = true };
	struct output out;

	output_open_whole(&out, "file", false, &report);
	output_write(&out, text, strlen(text));
	bool good = output_close(&out);
	return good == (report.status == 0) && good;
}

static bool has(const char *text)
{
	char bytes[64] = "";
	int fd = open("file", O_RDONLY);
	ssize_t n = read(fd, bytes, sizeof(bytes) - 1);

	__real_close(fd);
	return n == (ssize_t)strlen(text) && !strcmp(bytes, text);
}

/* How many files are there beside "." and ".." */
static int files(void)
{
	DIR *in = opendir(".");
	int count = -2;

	while (readdir(in))
		count++;
	closedir(in);
	return count;
}

static void test_failures(void)
{
	static const char *const name[] = {
		[WRITE] = "a failed write leaves the old file",
		[SYNC] = "a failed fsync leaves the old file",
		[CLOSE] = "a failed close leaves the old file",
		[RENAME] = "a failed rename leaves the old file",
	};

	for (int i = WRITE; i <= RENAME; i++) {
		failing = NOTHING;
		bool began = write_file("old");
		failing = i;
		bool good = write_file("another");
		failing = NOTHING;
		tap(began && !good && has("old") && files() == 1, name[i]);
	}
}

static void test_mounted(void)
{
	write_file("the old one");
	failing = BUSY;
	bool good = write_file("new");
	failing = NOTHING;
	tap(good && has("new") && files() == 1, "a file that is mounted on is written in place");
}

static void test_discarded(void)
{
	struct report report = { .tool = "test", .quiet = true };
	struct output out;

	write_file("old");
	output_open_whole(&out, "file", false, &report);
	output_write(&out, "more", 4);
	output_flush(&out);
	output_discard(&out);
	tap(!output_close(&out) && report.status == 0 && has("old") && files() == 1,
	    "what is discarded leaves the old file, and is not a failure");
}

int main(void)
{
	char directory[] = "/tmp/test-replace-XXXXXX";

	if (!mkdtemp(directory) || chdir(directory) < 0)
		return 1;
	test_failures();
	test_mounted();
	test_discarded();
	unlink("file");
	rmdir(directory);
	return tap_done();
}
