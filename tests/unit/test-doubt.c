/* SPDX-License-Identifier: Apache-2.0 */
/* What inherited copies of events counted and lost, in totals made by hand. */
#include "sample/doubt.h"
#include "tests/unit/tap.h"

/* In all cases the period is 10. */
static struct counters_total leave_out(uint64_t count, uint64_t lost, uint64_t twice,
				       uint64_t in_doubt, uint64_t sum, uint64_t dropped)
{
	struct counters_total t = { .count = count, .lost = lost, .twice = twice,
				    .in_doubt = in_doubt };

	doubt_leave_out(&t, &(struct doubt_samples){ sum, 10, dropped, false });
	return t;
}

int main(void)
{
	struct counters_total t = leave_out(1000, 120, 0, 0, 100, 0);

	tap(t.count == 1000 && t.lost == 120 && doubt_percent(&t) <= 0,
	    "no thread in doubt: totals stay, whatever the kernel counted");
	/* 80 of 100 samples came, and 20 of its copy; 20 and 80 were lost */
	t = leave_out(2000, 100, 1000, 0, 800, 20);
	tap(t.count == 1000 && t.lost == 20 && doubt_percent(&t) <= 0,
	    "what a known copy counted and lost is left out");
	t = leave_out(2000, 100, 1000, 0, 800, 150);
	tap(t.count == 1000 && t.lost == 20, "no more is lost than was counted");
	/* a copy may have counted 1000; but 30 lost samples stand for no more than 300 */
	t = leave_out(3000, 30, 0, 1000, 2700, 0);
	tap(t.in_doubt == 300 && (int)doubt_percent(&t) == 11,
	    "a copy in doubt counted no more than lost samples stand for");
	t = leave_out(3000, 0, 0, 1000, 2990, 0);
	tap(t.in_doubt == 0 && doubt_percent(&t) <= 0, "nothing was lost: there is no doubt");
	t = leave_out(3000, 300, 0, 20, 1, 0);
	tap(t.in_doubt == 20 && doubt_percent(&t) <= 0, "less than 1 % is not worth a word");
	t = (struct counters_total){ .count = 5, .lost = 3, .twice = 7, .in_doubt = 5 };
	doubt_leave_out(&t, &(struct doubt_samples){ 0, 0, 0, false });
	tap(t.count == 0 && t.in_doubt == 0 && doubt_percent(&t) <= 0,
	    "without a sample, the period is unknown");
	t = (struct counters_total){ .count = 2000, .lost = 100, .twice = 1000 };
	tap(doubt_lost(&t, &(struct doubt_samples){ 800, 10, 20, false }) == 20 &&
	    doubt_lost(&t, &(struct doubt_samples){ 800, 10, 0, false }) == 0 &&
	    doubt_lost(&t, &(struct doubt_samples){ 0, 0, 0, false }) == 100,
	    "lost samples, while the recording runs");
	tap(doubt_newly_lost(&t, &(struct doubt_samples){ 800, 10, 20, false }, 15) == 5 &&
	    doubt_newly_lost(&t, &(struct doubt_samples){ 800, 10, 20, false }, 20) == 0,
	    "of these, the ones that no record was written of");
	tap(doubt_newly_lost(&t, &(struct doubt_samples){ 800, 10, 0, false }, 15) == 0,
	    "no fewer than none, when a counter was closed or a copy became known");
	t = (struct counters_total){ .count = 3000, .lost = 30, .twice = 1000, .in_doubt = 500 };
	doubt_leave_out(&t, &(struct doubt_samples){ 1000, 10, 0, true });
	tap(t.count == 2000 && t.lost == 20 && t.in_doubt == 500,
	    "where some of what is counted takes no samples, the doubt stays");
	return tap_done();
}
