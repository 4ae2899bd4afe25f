/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label-targets: the map of the kernel has the processes that run, and none that has ended, also
 * if it was looked up after its EXIT record.  Without the right to make a map: skipped.
 */
#include "base/clock.h"
#include "labels/bpf.h"
#include "labels/label-options.h"
#include "labels/label-targets.h"
#include "linux/proc.h"
#include "record/label-payload.h"
#include "tests/unit/tap.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct report report = { .tool = "test", .quiet = true };
static const struct target target;
static const struct label_options options = { .sources = LABEL_GO };
static struct label_targets targets = {
	.report = &report, .options = &options, .files.target = &target,
};

/* The record of the start (FORK) or end (EXIT) of process PID, of our own. */
static void follow(uint32_t type, pid_t pid)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, parent, tid, parent_tid;
		uint64_t time;
	} record = { { .type = type, .size = sizeof(record) }, (uint32_t)pid, (uint32_t)getpid(),
		     (uint32_t)pid, (uint32_t)getpid(), 1 };

	label_targets_follow(&targets, &record.header);
}

static bool is_in_map(pid_t pid)
{
	struct label_target value;
	uint32_t key = (uint32_t)pid;

	return bpf_map_get(targets.map, &key, &value);
}

static void work(void)
{
	while (targets.waiting_count)
		label_targets_work(&targets, UINT64_MAX);
}

/* A child that waits until it is ended by end(). */
static pid_t start(void)
{
	pid_t pid = fork();

	while (pid == 0)
		pause();
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool has_what_runs(void)
{
	pid_t pid = start();

	follow(PERF_RECORD_FORK, pid);
	bool good = !is_in_map(pid);
	work();
	good &= is_in_map(pid);
	follow(PERF_RECORD_EXIT, pid);
	good &= !is_in_map(pid);
	end(pid);
	label_targets_add(&targets, 0);		/* the kernel, when nothing runs */
	label_targets_add(&targets, 2);		/* its workers' parent, if it is ours to see */
	work();
	return good && is_in_map(0) && is_in_map(2) == proc_is_kernel(2);
}

/* A process ends before it is looked up; another waits for its parent then. */
static bool has_no_ended(void)
{
	pid_t ended = start(), zombie = start();

	follow(PERF_RECORD_FORK, ended);
	follow(PERF_RECORD_FORK, zombie);
	end(ended);
	kill(zombie, SIGKILL);
	while (!proc_is_zombie(zombie))
		usleep(1000);
	follow(PERF_RECORD_EXIT, ended);
	follow(PERF_RECORD_EXIT, zombie);
	work();
	bool good = !is_in_map(ended) && !is_in_map(zombie);
	end(zombie);
	return good;
}

/* The EXIT record of a process was lost, and its id is used again. */
static bool forgets_reused(void)
{
	pid_t pid = start();

	label_targets_add(&targets, pid);
	work();
	bool good = is_in_map(pid);
	follow(PERF_RECORD_FORK, pid);
	good &= !is_in_map(pid);
	end(pid);
	work();
	return good;
}

/* A process without labels maps a library, which may bring some. */
static bool forgets_who_has_none(void)
{
	pid_t pid = start();
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t start, size, file_offset;
		uint32_t major, minor;
		uint64_t inode, generation;
		uint32_t protection, flags;
		char path[8];
		uint64_t time;
	} record = { { .type = PERF_RECORD_MMAP2, .size = sizeof(record),
		       .misc = PERF_RECORD_MISC_USER }, (uint32_t)pid, (uint32_t)pid, 4096, 4096,
		     0, 0, 0, 1, 0, PROT_READ | PROT_EXEC, MAP_PRIVATE, "/x", 1 };

	label_targets_add(&targets, pid);
	work();
	bool good = is_in_map(pid);
	label_targets_follow(&targets, &record.header);
	good &= !is_in_map(pid);
	work();
	good &= is_in_map(pid);
	end(pid);
	return good;
}

/* Let the first READERS readers read files for ever: they only wait. */
static void take_readers(size_t readers)
{
	for (size_t i = 0; i < readers; i++) {
		struct label_reader *r = &targets.files.reader[i];
		r->pid = start();
		r->deadline = UINT64_MAX;
		if (!r->result)
			r->result = mmap(NULL, sizeof(*r->result), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	}
}

/*
 * While READERS readers are busy, one process has a file that is known.  The other runs PROGRAM,
 * with A and B as its arguments.
 */
static bool waits_for_its_own_file(size_t readers, const char *program, const char *a,
				   const char *b)
{
	pid_t known = start(), other = fork();
	bool all_are_busy = readers == LABEL_READERS;

	while (other == 0)
		execlp(program, program, a, b, NULL);
	while (!proc_is_called(other, program))
		usleep(1000);
	take_readers(readers);
	label_targets_add(&targets, other);
	label_targets_add(&targets, known);
	for (int i = 0; i < 1000 && (i == 0 || is_in_map(other) == all_are_busy); i++)
		label_targets_work(&targets, monotonic_ns() + 50000000);
	bool good = is_in_map(known) && is_in_map(other) != all_are_busy &&
		    (targets.waiting_count > targets.looked_up) == all_are_busy;
	for (size_t i = 0; i < readers; i++)
		kill(targets.files.reader[i].pid, SIGKILL);
	work();
	good &= is_in_map(other);
	end(known);
	end(other);
	return good;
}

/* Thousands of processes, which have ended, in whatever order: each is looked up once. */
static bool takes_many(void)
{
	enum { MANY = 20000, FIRST = 1 << 30 };	/* no process has such an id */

	for (pid_t i = 0; i < 2 * MANY; i++)
		label_targets_add(&targets, FIRST + i % MANY);
	bool good = targets.waiting_count == MANY;
	work();
	return good && targets.looked_up == 0 && targets.wait_of.used == 0;
}

int main(void)
{
	if (!label_targets_make_map(&targets)) {
		printf("ok 1 - processes # SKIP no right to make a map\n");
		printf("1..1\n");
		return 0;
	}
	tap(has_what_runs(), "the kernel has the processes that run, and itself");
	tap(has_no_ended(), "no process that ended before it was looked up");
	tap(forgets_reused(), "a process id that is used again means another process");
	tap(forgets_who_has_none(), "a library that is mapped may bring labels");
	tap(waits_for_its_own_file(1, "sleep", "1000", "0"),
	    "a file that takes long keeps no other file waiting");
	tap(waits_for_its_own_file(LABEL_READERS, "tail", "-f", "/dev/null"),
	    "some such files keep no process waiting whose files are known");
	tap(takes_many(), "many processes at a time");
	label_targets_close(&targets);
	return tap_done();
}
