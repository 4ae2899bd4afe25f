/* SPDX-License-Identifier: Apache-2.0 */
/* view - open results in other programs. */
#pragma once
#include "base/report.h"

/* Return the file:// address of FILE.  The caller frees. */
char *view_address(const char *file);

/*
 * Open ADDRESS in $BROWSER, the first name in it, or by xdg-open.  Never as root: a browser would
 * run with root's rights.  Return whether a program was started; otherwise a note says why not.
 */
bool view_open(const char *address, struct report *report);

/* Become go tool pprof with a page of PROFILE.  Returns only if that fails: reported. */
void view_pprof(const char *profile, struct report *report);
