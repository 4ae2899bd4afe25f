/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open-calls - runs a command that is stopped at each of its calls of perf_event_open(2), by a
 * seccomp filter.
 */
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

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
	perror(argv[0]);
	_exit(127);
}

/* Trace CHILD until it ends, and return its status as a shell has it. */
static int follow(pid_t child, void (*stop_at_call)(pid_t))
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

/* Run the command ARGV, call STOP_AT_CALL before each of its calls, and return its status. */
static int run_with_open_calls(char **argv, void (*stop_at_call)(pid_t))
{
	int status;
	pid_t child = fork();

	if (child == 0)
		be_command(argv);
	waitpid(child, &status, 0);
	/* Without PTRACE_O_TRACEFORK: children of the command open no events. */
	ptrace(PTRACE_SETOPTIONS, child, NULL,
	       (void *)(long)(PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL));
	ptrace(PTRACE_CONT, child, NULL, NULL);
	return follow(child, stop_at_call);
}
