/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regular - open a file whose name another user may have chosen, or may replace.
 *
 * To open a device may start it, and to open a FIFO may wait for ever.  So the
 * kernel first looks up which file it is, without opening it (O_PATH), and only
 * a regular file is opened then: that very file, whatever its name leads to by now.
 *
 * Everything that is no kernel file, and was not named by the user of the tool, is
 * opened here; tests/layers.sh has the list of exceptions.
 */
#pragma once
#include <stdbool.h>

/*
 * Open PATH for reading, if it is a regular file.  NO_LINK: and no symbolic link.
 * Returns a descriptor, or -1 with errno set: ENOTSUP for any other kind of file.
 */
int regular_open(const char *path, bool no_link);

/* The same of PATH, counted from the directory open as DIRECTORY. */
int regular_open_in(int directory, const char *path, bool no_link);

/*
 * The same of PATH below the directory ROOT, where symbolic links in PATH mean
 * what they mean to those whose root directory this is.  "" is our own root.
 */
int regular_open_below(const char *root, const char *path, bool no_link);
