/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topdown-kernel LOG COMMAND... - run COMMAND as if the CPU counted slots and topdown-*.
 *
 * A seccomp filter stops the command at perf_event_open(2).  There we keep the rules of
 * intel_pmu_hw_config() in arch/x86/events/intel/core.c: slots leads the group, and neither slots
 * nor a metric is sampled.  Software events stand for the events: the slots and those that retire
 * are ns of a task's time on a CPU, and the other metrics are 0.  LOG has a line for each event
 * that was opened: type, config, period, sample_type, read_format, disabled, group (1: it has a
 * leader).
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/user.h>

#ifdef __x86_64__
#include "tests/bin/open-calls.h"

enum { SLOTS = 0x400, RETIRING = 0x8000, LAST_METRIC = 0x8300, FDS = 4096 };

static FILE *log_file;
static struct perf_event_attr opened[FDS];	/* by descriptor of the command */

static void copy(pid_t child, unsigned long at, struct perf_event_attr *attr, bool write)
{
	struct iovec here = { attr, sizeof(*attr) }, there = { (void *)at, sizeof(*attr) };

	if ((write ? process_vm_writev : process_vm_readv)(child, &here, 1, &there, 1, 0) < 0)
		exit(1);
}

/* Return whether ATTR is refused in the group of LEADER. */
static bool is_refused(const struct perf_event_attr *attr, long leader)
{
	const struct perf_event_attr *l = leader >= 0 && leader < FDS ? &opened[leader] : NULL;

	if (attr->type != PERF_TYPE_RAW || attr->config == SLOTS)
		return false;
	return attr->sample_period || !l || l->type != PERF_TYPE_RAW || l->config != SLOTS ||
	       l->sample_period;
}

/* Make ATTR an event of this machine. */
static void replace(struct perf_event_attr *attr)
{
	bool is_time = attr->config == SLOTS || attr->config == RETIRING;

	attr->config = attr->type == PERF_TYPE_HARDWARE ? PERF_COUNT_SW_CPU_CLOCK
		       : is_time ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_DUMMY;
	attr->type = PERF_TYPE_SOFTWARE;
}

static void stop_at_call(pid_t child)
{
	struct user_regs_struct regs;
	struct perf_event_attr attr, other;
	int status;

	ptrace(PTRACE_GETREGS, child, NULL, &regs);
	copy(child, regs.rdi, &attr, false);
	bool is_ours = attr.type == PERF_TYPE_RAW ||
		       (attr.type == PERF_TYPE_HARDWARE && attr.config == PERF_COUNT_HW_CPU_CYCLES);
	if (!is_ours)
		return;
	if (is_refused(&attr, (int)regs.r10)) {
		regs.orig_rax = (unsigned long long)-1;	/* no system call: the value is kept */
		regs.rax = (unsigned long long)-EINVAL;
		ptrace(PTRACE_SETREGS, child, NULL, &regs);
		return;
	}
	other = attr;
	replace(&other);
	copy(child, regs.rdi, &other, true);
	unsigned long at = regs.rdi;
	int leader = (int)regs.r10;
	ptrace(PTRACE_SYSCALL, child, NULL, NULL);
	waitpid(child, &status, __WALL);
	ptrace(PTRACE_GETREGS, child, NULL, &regs);
	copy(child, at, &attr, true);
	if ((long)regs.rax < 0 || regs.rax >= FDS)
		return;
	opened[regs.rax] = attr;
	fprintf(log_file, "%u %#llx %llu %#llx %#llx %u %d\n", attr.type, attr.config,
		attr.sample_period, attr.sample_type, attr.read_format, attr.disabled, leader >= 0);
	fflush(log_file);
}

int main(int argc, char **argv)
{
	log_file = argc > 2 ? fopen(argv[1], "we") : NULL;
	if (!log_file)
		return 2;
	return run_with_open_calls(argv + 2, stop_at_call);
}
#else
int main(void)
{
	fprintf(stderr, "topdown-kernel: not on this machine\n");
	return 77;
}
#endif
