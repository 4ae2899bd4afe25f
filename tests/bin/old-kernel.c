/* SPDX-License-Identifier: Apache-2.0 */
/*
 * old-kernel VERSION COMMAND... - run COMMAND as if on an older kernel.
 *
 * perf_event_open(2) fails with EINVAL if its attr uses features that Linux VERSION
 * (such as 5.10) did not have; nothing else changes.  A seccomp filter stops the
 * command at that call, and we check the attr.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Trace CHILD until it ends, and return its status. */
static void follow(pid_t child)
{
	int status;

	for (;;) {
		pid_t pid = waitpid(-1, &status, __WALL);
		if (pid < 0)
			exit(1);
		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			if (pid == child)
				exit(WIFEXITED(status) ? WEXITSTATUS(status)
						       : 128 + WTERMSIG(status));
			continue;
		}
		int number = WSTOPSIG(status);
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8))
			stop_at_call(pid);
		if (number == SIGTRAP || number == SIGSTOP)
			number = 0;
		ptrace(PTRACE_CONT, pid, NULL, (void *)(long)number);
	}
}

static void be_command(char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(*code), code };

	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0)
		execvp(argv[0], argv);
	perror("old-kernel");
	_exit(127);
}

int main(int argc, char **argv)
{
	int major, minor, status;

	if (argc < 3 || sscanf(argv[1], "%d.%d", &major, &minor) != 2)
		return 2;
	version = 1000 * major + minor;
	pid_t child = fork();
	if (child == 0)
		be_command(argv + 2);
	waitpid(child, &status, 0);
	/* Without PTRACE_O_TRACEFORK: children of the command open no events. */
	ptrace(PTRACE_SETOPTIONS, child, NULL,
	       (void *)(long)(PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL));
	ptrace(PTRACE_CONT, child, NULL, NULL);
	follow(child);
}
