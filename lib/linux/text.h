/* SPDX-License-Identifier: Apache-2.0 */
/* text - read the short files of /proc and /sys as text or numbers. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/*
 * Read the file at the path FORMAT into TEXT: at most SIZE - 1 bytes, without trailing newlines
 * and spaces.  False, with "" in TEXT and errno set: the file cannot be read.
 */
bool linux_read_text(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Return the whole number at the start of FILE, or FALLBACK if there is none. */
long linux_read_number(const char *file, long fallback);
