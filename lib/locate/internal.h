/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of locate, shared by mapped files (locate.c) and files found by build ID. */
#pragma once
#include "locate/locate.h"

/* Open the file with this build ID and kind. Looks below ROOT, too. Returns NULL if not found. */
struct elf *locate_by_id(const struct locate_options *where, const char *root, const uint8_t *id,
			 size_t size, enum locate_kind kind);

/* Return ELF if it has the build ID. Otherwise close ELF and return NULL. ELF may be NULL. */
struct elf *locate_with_id(struct elf *elf, const uint8_t *id, size_t size);

/*
 * Like locate_elf(), also for a file that is compressed, as kernel modules are.  If the file is
 * there but cannot be read, the reason is reported, unless REPORT is NULL.
 */
struct elf *locate_packed(const struct locate_options *where, const char *root, const char *path,
			  struct report *report);

/*
 * Open the vdso OBJECT, which process PID maps at M, on the machine where this program runs: the
 * 32-bit one is read from the memory of the living process.  Returns NULL if it cannot be read.
 */
struct elf *locate_vdso(const struct object *object, pid_t pid, const struct mapping *m);
