/* SPDX-License-Identifier: Apache-2.0 */
/* given - structures that the caller makes: checked, copied, and as the internals take them. */
#pragma once
#include "base/word-list.h"
#include "library/handle.h"
#include "resolve/resolver.h"

/* Zero-initialised: nothing was copied. */
struct options {
	enum pmukit_files files;
	unsigned int flags;		/* enum pmukit_option_flags */
	char *select;			/* or NULL */
	struct resolver_options resolve;	/* its WHERE is where to look for files */
	/* private: owns the texts in RESOLVE */
	struct word_list debug_dirs, binaries;
	char *root, *kallsyms, *cache;
};

/*
 * Outside of a work function: copy GIVEN, a structure NAME that starts with its size, to OWN, which
 * is zero and has KNOWN bytes.  Versions of the library before this one knew LEAST bytes of it.
 * Return 0, or a status (pmukit_error() is set) if the size is wrong, or if the caller's header is
 * newer and a member is set that this library does not know.
 */
int structure_given(void *own, size_t known, size_t least, const void *given, const char *name);

/*
 * Outside of a work function: set *OWN to GIVEN, of the size that it says, with zeroes in members
 * that the caller does not know; GIVEN may be NULL.  Texts are not copied.  Return 0, or a status
 * (pmukit_error() is set) if GIVEN has a wrong size or wrong values.
 */
int options_given(struct pmukit_options *own, const struct pmukit_options *given);

/* In a work function: set O to GIVEN, of options_given(), and copy its texts. */
void options_copy(struct options *o, const struct pmukit_options *given);

void options_release(struct options *o);
