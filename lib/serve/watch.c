/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/internal.h"

#include <stdio.h>

static const double hung = 10;			/* s without CPU time, at least */
static const double busy = 600;			/* s that tools may work without a file */
static const double usual_silence = 24 * 3600;	/* s without samples that are usual */
static const unsigned rounds_least = 3;

/* Return the time without files after which something may be wrong, in s. */
static double limit(const struct watch *w)
{
	return 3 * w->interval + hung;
}

void watch_start(struct watch *w, double now)
{
	w->looked = now;
	w->silence = 0;
	w->has_written = false;
}

void watch_file(struct watch *w, bool is_written)
{
	if (is_written && !w->has_written && w->silence <= limit(w))
		w->silent_until = 0;		/* the restart helped, or nothing was wrong */
	w->has_written |= is_written;
	w->silence = 0;
}

/* Return whether the tools must be started again because they work, but no file comes. */
static bool is_barren(struct watch *w, const struct work *tools, double now)
{
	if (!w->has_written)
		return false;		/* another start would change nothing */
	if (!work_is_drained(tools))
		return w->silence > limit(w) + busy;
	if (now < w->silent_until)
		return false;
	w->silent_until = now + usual_silence;
	return true;
}

bool watch_look(struct watch *w, struct work *tools, double now, char why[WATCH_WHY])
{
	unsigned rounds = (unsigned)(hung / w->round);
	double since = now - w->looked;
	bool waits = false;

	*why = '\0';
	w->looked = now;
	w->silence += since < 2 * w->round ? since : 2 * w->round;
	const char *idle = work_watch(tools, rounds > rounds_least ? rounds : rounds_least, &waits);
	if (idle && !waits) {
		snprintf(why, WATCH_WHY, "%s does not work", idle);
		return true;
	}
	if (w->silence <= limit(w))
		return false;
	if (idle && w->silence > limit(w) + busy)
		snprintf(why, WATCH_WHY, "%s waits for a disk", idle);
	else if (!idle && is_barren(w, tools, now))
		snprintf(why, WATCH_WHY, "no profile was written for %.0f s, though the tools run",
			 w->silence);
	return *why && !idle;
}
