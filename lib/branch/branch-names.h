/* SPDX-License-Identifier: Apache-2.0 */
/* branch-names - places of branches as locations of a profile. */
#pragma once
#include "branch/branches.h"
#include "pprof/merge-parts.h"
#include "resolve/namer.h"

struct branch_names {
	struct branches *b;
	struct merge *profile;	/* gets the locations; NULL: none are made */
	struct resolved definitions;	/* of the names */
	struct namer namer;
	uint64_t last;		/* place of the last location; PLACE_OUTSIDE: none */
	uint32_t last_location;
};

void branch_names_init(struct branch_names *n, struct branches *b, struct merge *profile,
		       enum demangle_style style);

/* Return the location of PLACE, which may be PLACE_OUTSIDE. */
uint32_t branch_names_location(struct branch_names *n, uint64_t place);

/* Return the lines at PLACE, innermost first; they are valid until the next call. */
struct named_lines branch_names_find(struct branch_names *n, uint64_t place);

/* Write the function and the line of PLACE to TEXT: "compute app.c:42". */
void branch_names_describe(struct branch_names *n, uint64_t place, char *text, size_t size);

void branch_names_release(struct branch_names *n);
