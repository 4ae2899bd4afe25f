/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read - opens and reads files that the kernel writes: in /proc, /sys, tracefs and cgroups.
 *
 * No user can put another file in their place, so they are opened by their names.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* Open the file or directory at the path FORMAT for reading.  -1, with errno set: failure. */
int linux_open(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Open the file at the path FORMAT for reading.  NULL, with errno set: failure. */
FILE *linux_open_stream(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Read at most SIZE bytes of the file at the path FORMAT.  Return their number, or -1. */
ssize_t linux_read(void *bytes, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Read the file at the path FORMAT into TEXT: at most SIZE - 1 bytes, without trailing newlines
 * and spaces.  False, with "" in TEXT and errno set: the file cannot be read.
 */
bool linux_read_text(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
