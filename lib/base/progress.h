/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress - one line on stderr that says how far a long task is; it disappears at the end.
 *
 * The line appears after two seconds, on a terminal only.  There is one terminal, so there is one
 * line, and its state is here.  Messages (base/report.h) erase it; the next step draws it again.
 */
#pragma once
#include "base/report.h"

/*
 * From now on show how far the work is.  Nothing is shown with -q, with TERM=dumb, if stderr is not
 * a terminal, or while another job has the terminal.
 */
void progress_allow(const struct report *report);

/* Return whether a line may be shown. */
bool progress_is_allowed(void);

/* A part of FD has been read.  If it is a file, show how much of it. */
void progress_reading(int fd);

/* DONE of ALL runs have ended: show that, and how long the others take. */
void progress_runs(uint64_t done, uint64_t all);

/* Erase the line, before something else is written to the terminal, and at the end. */
void progress_erase(void);
