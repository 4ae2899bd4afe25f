/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that children start, in our own root and in another one: when records are due. */
#define _GNU_SOURCE
#include "counters/ring.h"
#include "sample/exec-watch.h"
#include "tests/unit/tap.h"

#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS 1000000ULL

static struct exec_watch watch;
static const uint64_t start = 1000000 * MS;

/*
 * Start a program in a child that shares our CPU, in a root of its own if ELSEWHERE, and take its
 * records at NOW, while it waits.  Return false if there were none.
 */
static bool run(bool elsewhere, uint64_t now)
{
	int hold[2];
	bool taken = false;

	if (pipe(hold))
		return false;
	pid_t child = fork();
	if (child == 0) {
		dup2(hold[0], 0);
		close(hold[1]);
		if (elsewhere && unshare(CLONE_NEWNS))
			_exit(1);
		execl("/bin/cat", "cat", (char *)NULL);
		_exit(1);
	}
	close(hold[0]);
	struct pollfd ready = { .fd = watch.ring[0].fd, .events = POLLIN };
	/* some records are of other threads of a sanitizer: what counts is that an exec was seen */
	while (watch.last != now && poll(&ready, 1, 10000) == 1)
		taken = exec_watch_take(&watch, ready.fd, now);
	close(hold[1]);
	waitpid(child, NULL, 0);
	return taken && watch.last == now;
}

int main(void)
{
	cpu_set_t one;
	int cpu = sched_getcpu();
	pid_t self = getpid();

	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	exec_watch_open(&watch, &self, 1, &cpu, 1, 1);
	if (!watch.rings) {
		puts("ok 1 - programs that children start # SKIP no event can be opened\n1..1");
		return 0;
	}
	tap(!exec_watch_take(&watch, 0, start), "another descriptor is not ours");
	exec_watch_round(&watch, start);
	tap(watch.due == 0 && exec_watch_reads(&watch, start) && !watch.resume,
	    "nothing was started: nothing is due");
	tap(run(false, start) && watch.due == start + MS, "a program in our root: due in 1 ms");
	exec_watch_round(&watch, start + MS);
	tap(watch.due == 0, "and then no more");

	/* so many others were started that the next one waits */
	watch.rounds = (struct exec_credit){ .left = 0, .grown_at = start + 10 * MS };
	tap(run(false, start + 11 * MS) && watch.due == start + 30 * MS,
	    "after many others, it waits for up to 20 ms");
	bool may = run(true, start + 12 * MS);
	if (may)
		tap(watch.due == start + 13 * MS, "one in another root does not");
	exec_watch_round(&watch, start + 40 * MS);
	watch.wakes.left = 1;
	watch.wakes.grown_at = start + 41 * MS;
	tap(run(false, start + 41 * MS) && !exec_watch_reads(&watch, start + 41 * MS) &&
	    watch.resume == start + 61 * MS, "too many wakes: a pause of 20 ms");
	tap(!exec_watch_reads(&watch, start + 60 * MS) && watch.due <= start + 61 * MS,
	    "a round comes at its end at the latest");
	tap(exec_watch_reads(&watch, start + 61 * MS) && !watch.resume,
	    "then the rings are read again");
	exec_watch_close(&watch);
	tap(watch.rings == 0, "closed");
	exec_watch_open(&watch, (pid_t[]){ self, self }, 2, &cpu, 1, 1);
	tap(watch.rings == 1 && watch.members == 1, "two threads share the ring of a CPU");
	tap(run(false, start), "and both are watched");
	exec_watch_close(&watch);
	return tap_done();
}
