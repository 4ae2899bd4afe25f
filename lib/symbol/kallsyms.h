/* SPDX-License-Identifier: Apache-2.0 */
/* kallsyms - the kernel's own list of its symbols and of its modules' symbols. */
#pragma once
#include "base/arena.h"
#include "base/report.h"

#include <stdbool.h>

struct kallsyms;

/*
 * Read FILE (/proc/kallsyms or a copy of it). Never returns NULL: if FILE cannot be read, or
 * shows only zeros as addresses (kernel.kptr_restrict), the list is empty and
 * kallsyms_trouble() says why.
 */
struct kallsyms *kallsyms_open(const char *file);

/* Do the same; that may take 0.1 s, and in that time, call MEANWHILE(CONTEXT) every few ms. */
struct kallsyms *kallsyms_open_slowly(const char *file, void (*meanwhile)(void *context),
				      void *context);

/*
 * Do the same for the kernel's variables, instead of its functions.  Variables that exist once for
 * each CPU are left out: their symbols are not addresses.
 */
struct kallsyms *kallsyms_open_variables(const char *file);

/* Return why there are no symbols and what to do about it; NULL if there are symbols. */
const char *kallsyms_trouble(const struct kallsyms *k);

/*
 * Return the name of the last function that starts at or before ADDRESS, or NULL. *MODULE is
 * set to its module ("[ext4]"), or to NULL for a function of the kernel itself.
 */
const char *kallsyms_find(const struct kallsyms *k, uint64_t address, const char **module);

/*
 * Return whether the whole list would give the same answers for ADDRESS.  Only a copy
 * (symbol/kallsyms-copy.h) may not: code that the kernel generated may be after the last function
 * of the kernel, or of a module.
 */
bool kallsyms_is_certain(const struct kallsyms *k, uint64_t address);

/*
 * Of variables: return the name of the one that contains ADDRESS, and set *START and *SIZE; or
 * return NULL.  The list has no sizes: a variable goes on to the next one.  The last one of the
 * kernel, or of a module, gets the size 0.
 */
const char *kallsyms_variable(const struct kallsyms *k, uint64_t address, uint64_t *start,
			      uint64_t *size);

/*
 * Return whether ADDRESS is beyond the page after the last function of the kernel, or of a module,
 * so that it probably is in code that is not listed, such as a BPF program.  The list has no sizes.
 */
bool kallsyms_is_beyond(const struct kallsyms *k, uint64_t address);

/* Return the address of the symbol NAME ("_text"), or 0 if no symbol has it. */
uint64_t kallsyms_address(const struct kallsyms *k, const char *name);

/*
 * Return the address of the function NAME, of several with this name the one with SIZE bytes; 0: no
 * function has this name.
 */
uint64_t kallsyms_function(const struct kallsyms *k, const char *name, uint64_t size);

/* Return the address of the one function NAME in [START, END); 0 unless just one has it. */
uint64_t kallsyms_address_in(const struct kallsyms *k, uint64_t start, uint64_t end,
			     const char *name);

void kallsyms_close(struct kallsyms *k);
