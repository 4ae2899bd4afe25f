/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file-names - the functions and lines at addresses of one ELF file, for callers without a stream.
 */
#pragma once
#include "resolve/resolver.h"

struct file_names;

/*
 * Open the ELF file FD, which may be compressed as kernel modules are, and which is closed in any
 * case.  PATH is its path, to find its debug files, and its name in messages; NULL: the path that
 * FD was opened by.  Names are added to DEFINITIONS, and problems are reported to REPORT: both must
 * outlive the result.  On failure, return NULL and set *WHY to the reason.
 */
struct file_names *file_names_open(const struct resolver_options *options, int fd,
				   const char *path, struct resolved *definitions,
				   struct report *report, const char **why);

/* Return the definitions' id of the string TEXT. */
uint32_t file_names_string(struct file_names *f, const char *text);

/* Return the file itself. */
const struct elf *file_names_elf(const struct file_names *f);

/*
 * Return what is at ADDRESS, innermost first, and set *COUNT to the number of lines; 0: it has no
 * name.  The lines are valid until the next call, and their strings as long as the definitions.
 */
const struct resolved_line *file_names_find(struct file_names *f, uint64_t address,
					    uint32_t *count);

void file_names_close(struct file_names *f);
