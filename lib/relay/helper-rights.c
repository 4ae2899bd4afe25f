/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The helper reads files of the sampled processes, perhaps as root.  It becomes the processes'
 * user, or a user who owns no files but may read all files.  After that, it can only use the
 * system calls that reading needs.
 */
#include "relay/helper-rights.h"
#include "linux/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOBODY = 65534 };	/* the user and group that own no files */

#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40	/* Linux 5.9: /proc/PID/map_files */
#endif

/*
 * Return the user of all processes and threads of TARGET; 0: root, several users, or not known
 * yet.
 */
static uid_t user_of(const struct target *target)
{
	uid_t user = 0, owner;

	if (target_needs_others(target) || target->command)
		return 0;
	for (size_t i = 0; i < target->pids + target->tids; i++) {
		pid_t id = i < target->pids ? target->pid[i] : target->tid[i - target->pids];
		if (!proc_owner(id, &owner) || (i > 0 && owner != user))
			return 0;
		user = owner;
	}
	return user;
}

/* Keep those of CAPABILITIES that this process has, and drop all others. */
static bool keep_capabilities(uint64_t capabilities)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	for (int i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(capabilities >> (32 * i));
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &header, data) == 0;
}

/*
 * Become USER, or NOBODY with the right to read all files.  In a container, root may not be
 * allowed to change its user: then the process stays root, without other rights.
 */
static bool change_user(uid_t user)
{
	uint64_t kept = 1ULL << CAP_CHECKPOINT_RESTORE;
	uid_t new_user = user ? user : NOBODY;

	if (user == 0)
		kept |= 1ULL << CAP_DAC_READ_SEARCH | 1ULL << CAP_SYS_PTRACE;
	if (geteuid() == 0 && prctl(PR_SET_KEEPCAPS, 1) == 0 && setgroups(0, NULL) == 0 &&
	    setresgid(new_user, new_user, new_user) == 0)
		(void)!setresuid(new_user, new_user, new_user);
	return keep_capabilities(kept);
}

/* Close all descriptors but SOCKET and stderr; 0 and 1 are /dev/null. */
static void close_files(int socket)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	long most = sysconf(_SC_OPEN_MAX);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
#ifdef SYS_close_range
	if (syscall(SYS_close_range, STDERR_FILENO + 1, socket - 1, 0) == 0 &&
	    syscall(SYS_close_range, socket + 1, ~0U, 0) == 0)
		return;
#endif
	for (int fd = STDERR_FILENO + 1; fd < most; fd++)
		if (fd != socket)
			close(fd);
}

/* The signals that stop the recorder go to its process group; the recorder ends the helper. */
static void ignore_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1,
				       SIGUSR2 };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		signal(numbers[i], SIG_IGN);
}

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef OUR_ARCH

#define WORD(field) offsetof(struct seccomp_data, field)
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WORD(field))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)
#define ALLOW(call) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), RETURN(SECCOMP_RET_ALLOW)
/* CALL is allowed if its argument N has none of BITS. */
#define ALLOW_WITHOUT(call, n, bits) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 4), LOAD(args[n]), \
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1), RETURN(SECCOMP_RET_ERRNO | EACCES), \
	RETURN(SECCOMP_RET_ALLOW)

/* Allow the calls that read files and manage memory, but no call that writes or executes a file. */
static bool restrict_calls(void)
{
	static struct sock_filter code[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		ALLOW(read), ALLOW(pread64), ALLOW(readv), ALLOW(lseek), ALLOW(close),
		ALLOW_WITHOUT(openat, 2, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC),
		ALLOW(fstat), ALLOW(newfstatat), ALLOW(statx), ALLOW(readlinkat), ALLOW(faccessat),
		ALLOW(getdents64), ALLOW(fcntl), ALLOW(statfs), ALLOW(fstatfs),
#ifdef SYS_open
		ALLOW_WITHOUT(open, 1, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC),
		ALLOW(stat), ALLOW(lstat), ALLOW(readlink), ALLOW(access), ALLOW(time),
#endif
		ALLOW_WITHOUT(mmap, 2, PROT_EXEC), ALLOW_WITHOUT(mprotect, 2, PROT_EXEC),
		ALLOW(munmap), ALLOW(mremap), ALLOW(madvise), ALLOW(brk), ALLOW(futex),
		ALLOW(rt_sigaction), ALLOW(rt_sigprocmask), ALLOW(rt_sigreturn),
		ALLOW(sigaltstack), ALLOW(getpid), ALLOW(gettid), ALLOW(tgkill),
		ALLOW(getuid), ALLOW(geteuid), ALLOW(getgid), ALLOW(getegid), ALLOW(uname),
		ALLOW(clock_gettime), ALLOW(clock_nanosleep), ALLOW(gettimeofday),
		ALLOW(getrandom), ALLOW(prlimit64), ALLOW(getrusage), ALLOW(sched_getaffinity),
		ALLOW(sched_yield), ALLOW(recvfrom), ALLOW(sendto), ALLOW(ppoll),
		ALLOW(write), ALLOW(writev), ALLOW(exit), ALLOW(exit_group),
		RETURN(SECCOMP_RET_ERRNO | ENOSYS),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(*code), .filter = code };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 || errno == EINVAL;
}
#else
static bool restrict_calls(void)
{
	return true;
}
#endif

bool helper_drop_rights(const struct target *target, int fd, const char *name,
			struct report *report)
{
	uid_t user = user_of(target);

	prctl(PR_SET_NAME, name);
	close_files(fd);
	ignore_signals();
	if (change_user(user) && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && restrict_calls())
		return true;
	report_failure(report, "the process %s cannot give up its rights", name);
	return false;
}
