/* SPDX-License-Identifier: Apache-2.0 */
/* links - the names of tools as symbolic links to this program, for pmukit --link. */
#pragma once
#include "base/report.h"

/*
 * The directory of the links.  The links are relative, so they stay right if the directory and the
 * program move together.
 */
struct links;

/* Open DIRECTORY.  Return NULL (reported) if it, or this program's file, cannot be found. */
struct links *links_open(const char *directory, struct report *report);

/*
 * Make NAME a link to this program.  A link that leads to this program, or to a file of its name
 * that is gone, is replaced.  Anything else stays, which is reported.
 */
void links_make(struct links *l, const char *name);

void links_close(struct links *l);
