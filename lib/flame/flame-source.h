/* SPDX-License-Identifier: Apache-2.0 */
/* flame-source - source lines of the hottest functions of a model, for a page to show. */
#pragma once
#include "base/output.h"
#include "flame/flame.h"
#include "listing/source-text.h"

/* The lines of a function. */
struct flame_extract {
	uint32_t function;
	char *why_not;		/* reason why there are no lines, safe to print; NULL: there are */
	bool is_newer;		/* the file is newer than the profile */
	uint32_t *number;	/* of each line, ascending */
	char **text;		/* of each line, safe to print */
	uint32_t lines;
};

/* Zero-initialised: no lines. */
struct flame_source {
	struct flame_extract *extract;
	uint32_t extracts;
	size_t bytes;		/* of all lines */
};

/*
 * Read the lines that frames of F's hottest functions have, and some around each, from TEXTS: at
 * most 60 functions and 512 KiB.  F is arranged.
 */
void flame_source_read(struct flame_source *s, const struct flame *f, struct source_texts *texts);

/* Write S as JSON: a list of functions, with numbers and texts of lines. */
void flame_source_write(const struct flame_source *s, struct output *out);

void flame_source_release(struct flame_source *s);
