/* SPDX-License-Identifier: Apache-2.0 */
/* kallsyms - the kernel's own list of its symbols, and its modules'. */
#pragma once
#include "base/arena.h"
#include "base/report.h"

struct kallsyms;

/*
 * Read FILE (/proc/kallsyms, or a copy of one).  Never NULL: where it cannot
 * be read, or shows only zeros (kernel.kptr_restrict), the list is empty, and
 * kallsyms_trouble() says why.
 */
struct kallsyms *kallsyms_open(const char *file);

/* Why there are no symbols, with what to do about it; NULL: there are. */
const char *kallsyms_trouble(const struct kallsyms *k);

/*
 * The last function that begins at ADDRESS or before, or NULL.  *MODULE is the
 * module it is of, as "[ext4]"; NULL: the kernel itself.
 */
const char *kallsyms_find(const struct kallsyms *k, uint64_t address, const char **module);

/* The address of the symbol NAME ("_text"), 0 if there is none. */
uint64_t kallsyms_address(const struct kallsyms *k, const char *name);

/* The address of the only function NAME from START to END; 0: there is none, or several. */
uint64_t kallsyms_address_in(const struct kallsyms *k, uint64_t start, uint64_t end,
			     const char *name);

void kallsyms_close(struct kallsyms *k);
