/* SPDX-License-Identifier: Apache-2.0 */
/*
 * old-kernel VERSION COMMAND... - run COMMAND as if on an older kernel.
 *
 * perf_event_open(2) fails with EINVAL if its attr uses features that Linux VERSION
 * (such as 5.10) did not have; nothing else changes.  A seccomp filter stops the
 * command at that call, and we check the attr.
 */
#include "tests/bin/open-calls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/user.h>

static int version;	/* simulated: 1000 * major + minor */

#ifdef __x86_64__
/* Return whether the kernel has all features in A (from the history of uapi/linux/perf_event.h). */
static int is_known(const struct perf_event_attr *a)
{
	return (version >= 6000 || !(a->read_format & PERF_FORMAT_LOST)) &&
	       (version >= 5013 || !a->inherit_thread) &&
	       (version >= 5012 || !a->build_id) &&
	       (version >= 5011 || !(a->sample_type & PERF_SAMPLE_CODE_PAGE_SIZE)) &&
	       (version >= 5001 || !a->ksymbol) &&
	       (version >= 3016 || (!a->mmap2 && !a->comm_exec)) &&
	       (version >= 4001 || !a->use_clockid);
}

static void stop_at_call(pid_t child)
{
	struct user_regs_struct regs;
	struct perf_event_attr attr = { 0 };

	ptrace(PTRACE_GETREGS, child, NULL, &regs);
	struct iovec to = { &attr, sizeof(attr) }, from = { (void *)regs.rdi, sizeof(attr) };
	if (process_vm_readv(child, &to, 1, &from, 1, 0) < 0 || is_known(&attr))
		return;
	regs.orig_rax = (unsigned long long)-1;	/* no system call: the return value is kept */
	regs.rax = (unsigned long long)-EINVAL;
	ptrace(PTRACE_SETREGS, child, NULL, &regs);
}
#else
static void stop_at_call(pid_t child)
{
	(void)child;
	fprintf(stderr, "old-kernel: not on this machine\n");
	exit(77);
}
#endif

int main(int argc, char **argv)
{
	int major, minor;

	if (argc < 3 || sscanf(argv[1], "%d.%d", &major, &minor) != 2)
		return 2;
	version = 1000 * major + minor;
	return run_with_open_calls(argv + 2, stop_at_call);
}
