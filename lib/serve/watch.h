/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch - notices when the tools of --keep stop writing profiles, although they run.
 *
 * The CPU time and the unread input of a tool show if it hangs.  If all tools work, but no sample
 * comes, then either the target is idle, or something is wrong that only a restart corrects.  So
 * the tools are restarted once; if that changes nothing, not again for a day.
 *
 * Time is counted in the caller's rounds, so it does not pass while the whole machine is stopped.
 */
#pragma once
#include "serve/work.h"

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialised except for the lengths. */
struct watch {
	double interval;	/* s between files */
	double round;		/* s between calls of watch_look() */
	double looked;		/* time of the last look; monotonic, in s */
	double silence;		/* s since the start or the last file */
	bool has_written;	/* since the start of the tools */
	double silent_until;	/* until then samples may be missing; monotonic, in s */
};

enum { WATCH_WHY = 160 };	/* bytes of a reason, with its NUL */

/* The tools start, NOW. */
void watch_start(struct watch *w, double now);

/* The last tool has written a file, or tried. */
void watch_file(struct watch *w, bool is_written);

/*
 * Look at the running TOOLS, NOW.  Return true and set WHY if they must be started again.  If no
 * files come, but that would not help, set WHY to the reason, else to "".
 */
bool watch_look(struct watch *w, struct work *tools, double now, char why[WATCH_WHY]);
