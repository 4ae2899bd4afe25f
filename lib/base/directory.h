/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory - a directory that files of ours are kept in.
 *
 * Whoever may write to a directory chooses what its names lead to.  So a directory is
 * used only if it belongs to the caller or to root, and nobody else may replace what
 * is in it; and its files are opened through the descriptor, never by a path.
 */
#pragma once
#include <stdbool.h>

enum { DIRECTORY_WHY = 160 };

/*
 * Open the directory PATH.  -1: it cannot be opened, or is not safe; WHY says so, and
 * errno is 0 in the second case.
 */
int directory_open(const char *path, char why[DIRECTORY_WHY]);

/* Make PATH, with all above it; what is there already is fine.  False: errno says why. */
bool directory_make(const char *path);
