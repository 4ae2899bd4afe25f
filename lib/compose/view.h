/* SPDX-License-Identifier: Apache-2.0 */
/* view - opens results in other programs. */
#pragma once
#include "base/report.h"

/* Return the file:// address of FILE.  The caller frees. */
char *view_address(const char *file);

/*
 * Open ADDRESS in the first browser of $BROWSER, or by xdg-open.  Do nothing as root: the browser
 * would run with root's rights.  Return whether a program was started; if not, a note says why.
 */
bool view_open(const char *address, struct report *report);

/* Become go tool pprof, which serves PROFILE.  Return only on failure: reported. */
void view_pprof(const char *profile, struct report *report);
