/* SPDX-License-Identifier: Apache-2.0 */
/*
 * no-perf ERROR COMMAND... - run COMMAND as in a container: perf_event_open(2) and bpf(2) fail with
 * the error of this name: EPERM, as a seccomp filter has it; ENOSYS, as others and kernels without
 * it have; or EACCES, as kernel.perf_event_paranoid=3 has.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static const struct { const char *name; unsigned int number; } errors[] = {
		{ "EPERM", EPERM }, { "ENOSYS", ENOSYS }, { "EACCES", EACCES },
	};
	unsigned int number = 0;

	for (size_t i = 0; argc > 2 && i < sizeof(errors) / sizeof(*errors); i++)
		if (!strcmp(argv[1], errors[i].name))
			number = errors[i].number;
	if (!number)
		return 2;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | number),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(*code), code };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0)
		execvp(argv[2], argv + 2);
	perror("no-perf");
	return 127;
}
