/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf-load RATE - load a BPF program and drop it, RATE times a second, as service managers and
 * tracers do.  The kernel records each program in the rings of all profilers of the machine.
 *
 * The program does nothing, and is not attached to anything.  After SIGTERM, or when the process
 * that started bpf-load ends, it prints how many programs it loaded.  It exits 77 if this user may
 * not load any.
 */
#include "labels/bpf-code.h"
#include "tests/bin/stop.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int load(unsigned number)
{
	static struct bpf_code code;

	code.count = 0;
	bpf_set(&code, BPF_REG_0, 0);
	bpf_exit(&code);
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER, .insn_cnt = (uint32_t)code.count,
		.insns = (uintptr_t)code.insn, .license = (uintptr_t)"Dual MIT/GPL",
	};
	/* names of different lengths: each record has another size */
	snprintf(attr.prog_name, sizeof(attr.prog_name), "load%0*u", 1 + (int)(number % 10),
		 number % 10);
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

int main(int argc, char **argv)
{
	double rate = argc > 1 ? strtod(argv[1], NULL) : 20;
	struct timespec pause = { .tv_nsec = (long)(1e9 / (rate > 1 ? rate : 1.001)) };
	pid_t starter = getppid();
	unsigned loaded = 0;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	stop_at(SIGTERM);
	while (!stopped && getppid() == starter) {
		int fd = load(loaded);
		if (fd < 0 && loaded == 0)
			return 77;
		loaded += fd >= 0;
		close(fd);
		nanosleep(&pause, NULL);
	}
	printf("%u\n", loaded);
	return 0;
}
