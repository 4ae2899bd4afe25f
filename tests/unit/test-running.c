/* SPDX-License-Identifier: Apache-2.0 */
/* running: how many threads run at a moment, by streams that no kernel wrote, too. */
#include "tests/unit/tap.h"
#include "waits/running.h"

/* Switch more threads in than there can be CPUs. */
static void test_many(void)
{
	enum { MANY = 1 << 18 };
	struct running r = { 0 };

	for (pid_t tid = 1; tid <= MANY; tid++)
		running_in(&r, tid, RUNNING_NO_CPU, (uint64_t)tid);
	tap(r.count == 1 << 16, "no more threads run than a machine has CPUs");
	tap(running_sample(&r, MANY, RUNNING_NO_CPU, MANY + 1) == 1 << 16,
	    "the sample of a thread for which there was no room has their number");
	for (pid_t tid = 1; tid <= MANY; tid++)
		running_out(&r, tid, RUNNING_NO_CPU, MANY + 2);
	tap(r.count == 0 && r.ran == MANY + 1, "all are switched out, known or not");
	tap(running_sample(&r, MANY, RUNNING_NO_CPU, MANY + 3) == 1, "and there is room again");
	running_release(&r);
}

/* CPU numbers, threads and times of any value. */
static void test_any(void)
{
	struct running r = { 0 };

	running_in(&r, 1, 3, 10);
	running_in(&r, 2, UINT32_MAX - 1, 20);
	tap(running_sample(&r, 1, 3, 5) == 2, "a time that goes back changes nothing");
	running_in(&r, 3, 3, 30);
	tap(r.count == 2, "a thread shows that the one before has left the CPU");
	tap(running_sample(&r, -1, 3, 40) == 0 && r.count == 1, "so does one that has no number");
	running_out(&r, 99, 1 << 15, UINT64_MAX);
	tap(r.count == 1 && r.ran == UINT64_MAX - 10, "nothing is known of that thread");
	running_release(&r);
}

int main(void)
{
	test_many();
	test_any();
	return tap_done();
}
