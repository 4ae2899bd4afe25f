/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regular - opens a file whose name another user may have chosen or may replace.
 *
 * Opening a device may start it, and opening a FIFO may wait for ever.  So the name is
 * first looked up without opening the file (O_PATH).  If it is a regular file, exactly
 * that file is opened, even if the name refers to another file by then.
 *
 * All files are opened here, except kernel files and files that the user of the tool
 * named; tests/layers.sh has the list of exceptions.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/*
 * Open PATH for reading if it is a regular file; with NO_LINK, a symbolic link is refused.
 * Return a descriptor, or -1 with errno set: ENOTSUP for any other kind of file.
 */
int regular_open(const char *path, bool no_link);

/*
 * Return the bytes of the regular file PATH, followed by a NUL, and set *SIZE to their number.  The
 * caller frees.  NULL with errno set: it cannot be opened, or has more than MOST bytes (EFBIG).
 */
char *regular_read(const char *path, size_t most, size_t *size);

/* Like regular_open(), with PATH relative to the directory of descriptor DIRECTORY. */
int regular_open_in(int directory, const char *path, bool no_link);

/*
 * Like regular_open(), with ROOT as the root directory: symbolic links in PATH are
 * resolved as by a process whose root directory is ROOT.  "" is our own root.
 */
int regular_open_below(const char *root, const char *path, bool no_link);

/*
 * Open the directory NAME, which has no slash, in ROOT (O_PATH).  Symbolic links are resolved as in
 * regular_open_below(), or refused where the kernel cannot do that.  Return a descriptor, or -1.
 */
int regular_directory_below(const char *root, const char *name);
