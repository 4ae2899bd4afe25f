/* SPDX-License-Identifier: Apache-2.0 */
/* Says how much of the waiting is explained, and checks that nothing was lost in between. */
#include "record/words.h"
#include "waits/pairing.h"

#include <inttypes.h>
#include <stdio.h>

/* Return whether the sums that must be equal are; only a fault of ours makes them differ. */
static bool sums_are_equal(const struct pairing *p)
{
	const struct pairing_sums *s = &p->sums;
	uint64_t shown = 0;

	for (uint32_t i = 0; i < p->delays.count; i++)
		shown += p->delays.node[i].ns;
	if (p->delays.refused)
		return true;
	if (p->mode == PAIRING_BLOCK)
		return shown == s->waited + s->timed + s->outside + s->open + s->scheduler;
	return shown == s->charged + s->scheduler && s->charged == s->waited && !p->unequal;
}

static void report_limits(const struct pairing *p, struct report *report)
{
	if (p->refused)
		report_note(report, "%" PRIu64 " waits are left out: more than %d threads",
			    p->refused, PAIRING_THREADS_MAX);
	if (p->dropped)
		report_note(report, "%" PRIu64 " wakes were forgotten, because more than %d came "
			    "while threads waited: what they ended is at "
			    WORD_EARLIER_UNLOCKS, p->dropped, PAIRING_WAKES_MAX);
	if (p->shortened)
		report_note(report, "the causes of %" PRIu64 " waits are not followed to their "
			    "end: there are too many", p->shortened);
	if (p->delays.refused)
		report_note(report, "there are more than %d different paths: the time of %" PRIu64
			    " more is at shorter ones, or left out", DELAY_NODES_MAX,
			    p->delays.refused);
}

/* Report how much of the waiting is explained, and what ended the rest. */
static void report_explained(const struct pairing *p, double all, struct report *report)
{
	const struct pairing_sums *s = &p->sums;
	const double outside = (double)(s->outside + s->outside_hidden);
	const double told_share = 0.05;	/* a larger share from outside is told without -v, too */
	char timed[64] = "", text[256];

	if (s->timed)
		snprintf(timed, sizeof(timed), "; %.1f %% ended by timeouts or signals",
			 100 * (double)s->timed / all);
	snprintf(text, sizeof(text), "waits: %.1f %% of %.2f s are explained%s; %.1f %% ended %s; "
		 "%.1f %% still waited at the end", 100 * (double)s->waited / all, all / 1e9,
		 timed, 100 * outside / all, p->by_all ? "by no wake that was recorded"
					    : "from outside the process (-a shows by whom)",
		 100 * (double)(s->open + s->open_hidden) / all);
	(outside > told_share * all ? report_note : report_summary)(report, "%s", text);
}

/* Report how much of the waiting may be for locks that cannot be seen. */
static void report_own_words(const struct pairing *p, struct report *report)
{
	double share = 100 * (double)own_words_sum(&p->own) / (double)p->sums.waited;

	if (share > 50)
		report_note(report, "%.1f %% of the waiting is at semaphores or conditions of one "
			    "thread each: it is charged to the last waker; if they are parts of "
			    "locks, as in databases, that may be the next in the queue", share);
	else if (share > 0)
		report_summary(report, "waits: %.1f %% are at semaphores or conditions of one "
			       "thread each, charged to the last waker", share);
}

void pairing_report(const struct pairing *p, struct report *report)
{
	const struct pairing_sums *s = &p->sums;
	uint64_t shown = s->waited + s->timed + s->outside + s->open;
	uint64_t hidden = s->outside_hidden + s->open_hidden + s->slept;

	report_limits(p, report);
	if (!sums_are_equal(p))
		report_error(report, "the parts of the waits are not as long as the waits: this is "
			     "a fault of pmu-topprof");
	if (!shown && hidden)
		report_note(report, "no thread waited for another%s: %.2f s of waiting were for "
			    "time to pass, for something to do, %s", p->by_all ? ""
			    : " of this target", (double)hidden / 1e9, p->by_all ? "or for devices"
			    : "for devices, or for other processes, which --waits -a -p PID shows");
	if (!shown && !hidden && !report->status)
		report_note(report, "no thread waited: there is not one wait in the stream");
	if (!shown)
		return;
	report_explained(p, (double)(shown + s->outside_hidden + s->open_hidden), report);
	report_summary(report, "waits: %.3f s more until the threads ran again are at "
		       WORD_SCHEDULER, (double)s->scheduler / 1e9);
	if (s->handover)
		report_summary(report, "waits: %.3f s are the hand-over of locks, until the next "
			       "holder ran: they are charged to the unlock after it",
			       (double)s->handover / 1e9);
	report_own_words(p, report);
	if (!s->parked)
		return;
	double share = 100 * (double)s->parked / (double)s->locked;
	if (share > 50)
		report_note(report, "this program parks each thread on a word of its own "
			    "(parking_lot, Java, Go): waits are charged to the last waker "
			    "(%.1f %% of the waiting for locks)", share);
	else
		report_summary(report, "waits: %.1f %% of the waiting for locks is charged to the "
			       "last waker, as each thread has a word of its own", share);
}
