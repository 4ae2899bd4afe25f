/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source-text - the lines of source files.
 *
 * The paths come from debug information, which others wrote.  So only regular files with text are
 * read, and root reads only what all users may read, unless it is below a directory that the user
 * of the tool named: else a program could show a file that its own user may not read.
 */
#pragma once
#include "base/intern.h"
#include "base/word-list.h"

#include <stdbool.h>

struct source_text {
	const char *why_not;	/* reason why it has no lines; NULL: it has */
	char *found;		/* path at which it was found; NULL: it was not found */
	int64_t modified;	/* modification time, in ns since 1970; 0: unknown */
	char *bytes;		/* private: all lines */
	size_t *line;		/* private: offset of each line in BYTES, and the end */
	uint32_t lines;
};

/* Zero-initialised except for DIRECTORIES and SYSROOT: no file was looked for. */
struct source_texts {
	const struct word_list *directories;	/* where to look first; or NULL */
	const char *sysroot;	/* directory with the recorded machine's files; or NULL */
	struct intern paths;
	struct source_text *text;	/* by id in PATHS; id 0 is the unknown file */
	uint32_t texts;
	size_t bytes;		/* of all texts */
};

/*
 * Return the text of the file PATH.  In each directory of T->directories the whole PATH is looked
 * for, and then PATH without its first components, so that a tree may have been moved.  Then PATH
 * itself is looked for.  Each path is looked for once.  Valid until the next call.
 */
const struct source_text *source_texts_find(struct source_texts *t, const char *path);

/*
 * Write line NUMBER, counted from 1, to LINE, a buffer of SIZE bytes: with spaces for tabs, safe
 * to print, and cut at its end if it is too long.  Return false if S has no such line.
 */
bool source_text_line(const struct source_text *s, uint64_t number, char *line, size_t size);

void source_texts_release(struct source_texts *t);
