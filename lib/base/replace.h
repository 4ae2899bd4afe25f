/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replace - replaces a file as a whole, or leaves it unchanged.
 *
 * Data are written to a hidden file in the same directory, which is renamed at the end.
 * If that is impossible (the directory is read-only, the file has a second name, or its
 * owner cannot be kept), data are kept in memory until the end.  If the name exists and is
 * not a regular file (but a FIFO or a device), it is written directly.
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

struct replace;

/*
 * Open FILE, following symbolic links.  An existing file keeps its mode and owner; if
 * SAME_INODE, it also stays the same file for a program that has it open.
 * Return NULL with errno set if FILE cannot be opened, also if it is another user's in a sticky
 * directory: destination_why() has the reason in words.
 */
struct replace *replace_open(const char *file, bool same_inode);

/*
 * Open NAME in DIRECTORY, a descriptor that must outlive the result; a link is replaced.  The new
 * file has MODE, less the umask.  Fails as replace_open() does.
 */
struct replace *replace_open_in(int directory, const char *name, mode_t mode);

/* Return the descriptor to write to. */
int replace_fd(const struct replace *r);

/*
 * Replace the file if KEEP, else leave it unchanged; free R.  Return false with errno set
 * if the file was not replaced, or is incomplete.
 */
bool replace_close(struct replace *r, bool keep);

/*
 * Return whether NAME in DIRECTORY is such a hidden file; remove it if it is an hour old, because
 * a killed run leaves its hidden file.  Files of other users stay.
 */
bool replace_clean(int directory, const char *name);
