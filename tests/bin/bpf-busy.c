/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf-busy MS PERCENT - run a BPF program in each of its own system calls, as tracers do, until it
 * got MS of CPU time, of which PERCENT are the program's.
 *
 * Meanwhile the program also runs in the system calls of others, where it ends at once.
 */
#include "labels/bpf-code.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 20000 };	/* of the program's loop: about a ms */

/* Return a program that asks for the time again and again, if PID calls; -1: not to be had. */
static int load(pid_t pid)
{
	static struct bpf_code code;

	bpf_call(&code, BPF_FUNC_get_current_pid_tgid);
	bpf_alu(&code, BPF_RSH, BPF_REG_0, 32);
	int other = bpf_jump_if(&code, BPF_JNE, BPF_REG_0, pid);
	bpf_set(&code, BPF_REG_6, ROUNDS);
	bpf_call(&code, BPF_FUNC_ktime_get_ns);
	bpf_alu(&code, BPF_SUB, BPF_REG_6, 1);
	int again = bpf_jump_if(&code, BPF_JNE, BPF_REG_6, 0);
	code.insn[again].off = -3;
	bpf_land(&code, other);
	bpf_set(&code, BPF_REG_0, 1);		/* perf events of others go on */
	bpf_exit(&code);
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_TRACEPOINT, .insn_cnt = (uint32_t)code.count,
		.insns = (uintptr_t)code.insn, .license = (uintptr_t)"Dual MIT/GPL",
	};
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

/* Return the number of the tracepoint at each system call, or 0. */
static unsigned long tracepoint(void)
{
	char text[32] = "";
	int fd = open("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		return 0;
	close(fd);
	return strtoul(text, NULL, 10);
}

/* Return the CPU time that it got, in ns.  This is a system call. */
static long spent(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

static volatile unsigned sink;

static void work(double rounds)
{
	for (double i = 0; i < rounds; i++)
		sink++;
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr),
					.config = tracepoint() };
	long ms = argc > 1 ? strtol(argv[1], NULL, 10) : 500;
	long percent = argc > 2 ? strtol(argv[2], NULL, 10) : 50;
	const double rounds = 1e7;
	long start = spent();
	work(rounds);
	double speed = rounds / (double)(spent() - start);	/* per ns, without the program */
	int program = load(getpid());
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (!attr.config || program < 0 || fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, program)) {
		perror("bpf-busy: no program at system calls");
		return 1;
	}
	for (long last, now = 0; now < ms * 1000000; ) {
		last = spent();
		now = spent();
		work(2 * (double)(now - last) * speed * (100 - percent) / percent);
	}
	return 0;
}
