/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replace - a file that appears whole, or stays what it was.
 *
 * What is written goes to a hidden file beside it, which takes its place at the end.
 * Where that cannot be (the directory is read-only, the file has a second name, or an
 * owner that cannot be kept), it is kept in memory until the end.  What is there but no
 * regular file, a FIFO or a device, is written directly.
 */
#pragma once
#include <stdbool.h>

/* Names of hidden files begin so: a run that was killed leaves them. */
#define REPLACE_HIDDEN ".pmukit-"

struct replace;

/*
 * Open FILE, following symbolic links.  A file that is there keeps its mode and owner; if
 * SAME_INODE, it also stays the same file for a program that has it open.
 * NULL: errno says why.
 */
struct replace *replace_open(const char *file, bool same_inode);

/* Open the file NAME of DIRECTORY, a descriptor that must outlive it; a link is replaced. */
struct replace *replace_open_in(int directory, const char *name);

/* What to write to. */
int replace_fd(const struct replace *r);

/*
 * Let the file appear if KEEP, else leave what was there, and free R.
 * False: it did not appear, or not whole; errno says why.
 */
bool replace_close(struct replace *r, bool keep);
