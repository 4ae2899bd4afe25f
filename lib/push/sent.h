/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sent - the mark: which files of a directory were sent, as a file in that directory.
 *
 * The mark is a set, not a time: after the clock was set back, new files have earlier names than
 * files that were sent.  A file counts as sent only with the time of its last change, because its
 * name may be used again.
 *
 *	sent 1
 *	START LENGTH CHANGED		for each file, as in its name, and in ns since 1970
 *	end DIGEST			of all bytes before this line
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SENT_WHY = 160 };	/* bytes of a reason, with its NUL */

struct sent_file {
	uint64_t start, length;		/* s */
	uint64_t changed;		/* ns since 1970 */
};

/* Zero-initialised: nothing was sent. */
struct sent {
	struct sent_file *file;		/* sorted; owned */
	size_t files;
};

/*
 * Read the mark NAME in DIRECTORY, a descriptor.  Without that file S is empty.  Return false, and
 * set WHY, if the mark is damaged or not to be trusted: then S is empty, too.
 */
bool sent_read(struct sent *s, int directory, const char *name, char why[SENT_WHY]);

/* Replace the mark NAME in DIRECTORY; then it is on the disk.  Return false with errno set. */
bool sent_write(const struct sent *s, int directory, const char *name);

/* Parse SIZE bytes of TEXT, which a NUL follows.  Return false if they are not a whole mark. */
bool sent_parse(struct sent *s, const char *text, size_t size);

/* Return the text of the mark, and set *SIZE to its length.  The caller frees. */
char *sent_format(const struct sent *s, size_t *size);

bool sent_has(const struct sent *s, const struct sent_file *f);
void sent_add(struct sent *s, const struct sent_file *f);

/* Compare by START, LENGTH, CHANGED, for qsort() and bsearch(). */
int sent_compare(const void *a, const void *b);

/* Forget the files that are not among the FILES files at FILE, which are sorted. */
void sent_forget(struct sent *s, const struct sent_file *file, size_t files);
void sent_release(struct sent *s);
