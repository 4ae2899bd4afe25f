/* SPDX-License-Identifier: Apache-2.0 */
/* text - the short files of /proc and /sys, as text and as numbers. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/*
 * Read the file at the path FORMAT into TEXT, without the newline at its end, cut to SIZE - 1
 * bytes.  False (and ""): the file cannot be read (errno).
 */
bool linux_read_text(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Return the whole number at the start of FILE, or FALLBACK if there is none. */
long linux_read_number(const char *file, long fallback);
