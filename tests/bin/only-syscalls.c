/* SPDX-License-Identifier: Apache-2.0 */
/*
 * only-syscalls FILE COMMAND [ARGUMENT...] - run COMMAND, which may make the system calls with the
 * numbers in FILE only.  Another call ends the process by SIGSYS, so a test sees that none is made.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

enum { ROOM = 2000 };		/* instructions; the kernel allows 4096 */

static struct sock_filter code[ROOM];
static unsigned short used;

static void add(unsigned short what, unsigned char unless, unsigned int k)
{
	code[used++] = (struct sock_filter){ .code = what, .jf = unless, .k = k };
}

int main(int argc, char **argv)
{
	FILE *f = argc > 2 ? fopen(argv[1], "re") : NULL;
	struct sock_fprog all = { .filter = code };
	unsigned int number;

	if (!f)
		return 2;
	add(BPF_LD | BPF_W | BPF_ABS, 0, offsetof(struct seccomp_data, arch));
	code[used++] = (struct sock_filter){ BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCH };
	add(BPF_RET | BPF_K, 0, SECCOMP_RET_KILL_PROCESS);
	add(BPF_LD | BPF_W | BPF_ABS, 0, offsetof(struct seccomp_data, nr));
	while (used < ROOM - 3 && fscanf(f, "%u", &number) == 1) {
		add(BPF_JMP | BPF_JEQ | BPF_K, 1, number);
		add(BPF_RET | BPF_K, 0, SECCOMP_RET_ALLOW);
	}
	fclose(f);
	add(BPF_RET | BPF_K, 0, SECCOMP_RET_KILL_PROCESS);
	all.len = used;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) < 0) {
		perror("only-syscalls");
		return 1;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
