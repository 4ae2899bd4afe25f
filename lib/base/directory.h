/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory - a directory in which a tool keeps its files (a cache).
 *
 * Whoever can write to a directory decides what the names in it refer to.  So a directory
 * is used only if it belongs to the caller or to root, and nobody else can replace files
 * in it.  Its files are opened through the directory's descriptor, never by a path.
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

enum { DIRECTORY_WHY = 160 };

/*
 * Open the directory PATH and return its descriptor, or -1 with the reason in WHY: it
 * cannot be opened (errno is set), or it is not safe (errno is 0).
 */
int directory_open(const char *path, char why[DIRECTORY_WHY]);

/*
 * Create the directory PATH with permissions MODE, and its parents for all to read, unless they
 * exist.  Return false with errno set.
 */
bool directory_make(const char *path, mode_t mode);
