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
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
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

#ifdef __x86_64__
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

/* Trace CHILD until it ends, and return its status. */
static int follow(pid_t child)
{
	int status;

	for (;;) {
		pid_t pid = waitpid(-1, &status, __WALL);
		if (pid < 0)
			return 1;
		if (pid == child && WIFEXITED(status))
			return WEXITSTATUS(status);
		if (pid == child && WIFSIGNALED(status))
			return 128 + WTERMSIG(status);
		if (!WIFSTOPPED(status))
			continue;
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
	perror("topdown-kernel");
	_exit(127);
}

int main(int argc, char **argv)
{
	int status;

	log_file = argc > 2 ? fopen(argv[1], "we") : NULL;
	if (!log_file)
		return 2;
	pid_t child = fork();
	if (child == 0)
		be_command(argv + 2);
	waitpid(child, &status, 0);
	/* Without PTRACE_O_TRACEFORK: children of the command open no events. */
	ptrace(PTRACE_SETOPTIONS, child, NULL,
	       (void *)(long)(PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL));
	ptrace(PTRACE_CONT, child, NULL, NULL);
	return follow(child);
}
#else
int main(void)
{
	fprintf(stderr, "topdown-kernel: not on this machine\n");
	return 77;
}
#endif
