/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storm SECONDS - a program that is hard to profile: it forks, renames itself, maps code,
 * writes perf maps, and deletes files, all as fast as possible.
 *
 * It is harmless: at most 8 processes live at a time, each with a file of 64 KiB and a perf
 * map of 100 lines, which are deleted with the process.  Memory, descriptors and file sizes are
 * limited.  All processes end when the process that started storm ends.  Files are in the
 * working directory, perf maps in /tmp.  After SECONDS, or SIGTERM, it prints the number
 * of processes.
 */
#include "tests/bin/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ALIVE = 8, CODE = 64 * 1024, ROUNDS = 40, LINES = 100 };

static volatile unsigned sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void map_name(char *path, size_t size, pid_t pid)
{
	snprintf(path, size, "/tmp/perf-%d.map", (int)pid);
}

static void write_map(const void *code)
{
	char path[64];

	map_name(path, sizeof(path), getpid());
	FILE *map = fopen(path, "wex");
	for (unsigned i = 0; map && i < LINES; i++)
		fprintf(map, "%lx 10 jitted_%d_%u\n", (unsigned long)code + 16 * i,
			(int)getpid(), i);
	if (map)
		fclose(map);
}

/* Map code of a file that is deleted at once, and anonymous code; run a little of both. */
static void map_code(unsigned round)
{
	static const unsigned char code[] = {
#ifdef __x86_64__
		0xb8, 0x20, 0x4e, 0, 0, 0xff, 0xc8, 0x75, 0xfc, 0xc3	/* count down from 20,000 */
#elif defined(__aarch64__)
		0xc0, 0x03, 0x5f, 0xd6					/* ret */
#endif
	};
	char name[32];

	snprintf(name, sizeof(name), "storm-%d-%u", (int)getpid(), round);
	int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	if (fd < 0)
		return;
	bool good = ftruncate(fd, CODE) == 0 && write(fd, code, sizeof(code)) == sizeof(code);
	void *file = mmap(NULL, CODE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	unlink(name);
	close(fd);
	void *own = mmap(NULL, CODE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (good && file != MAP_FAILED && own != MAP_FAILED && sizeof(code) > 1) {
		memcpy(own, code, sizeof(code));
		mprotect(own, CODE, PROT_READ | PROT_EXEC);
		if (round % 16 == 0)
			write_map(own);
		((void (*)(void))file)();
		((void (*)(void))own)();
	}
	if (file != MAP_FAILED)
		munmap(file, CODE);
	if (own != MAP_FAILED && round % 4)
		munmap(own, CODE);
}

static void __attribute__((noreturn)) live(pid_t parent)
{
	char name[16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	signal(SIGTERM, SIG_DFL);
	for (unsigned round = 0; round < ROUNDS; round++) {
		snprintf(name, sizeof(name), "st;orm %u\n", (unsigned)getpid() * round);
		prctl(PR_SET_NAME, name);
		map_code(round);
		for (unsigned i = 0; i < 10000; i++)
			sink += i;
	}
	_exit(0);
}

static void limit(int what, rlim_t most)
{
	setrlimit(what, &(struct rlimit){ most, most });
}

/* Delete the perf map of process PID, which has ended. */
static void clean(pid_t pid)
{
	char path[64];

	map_name(path, sizeof(path), pid);
	unlink(path);
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? strtod(argv[1], NULL) : 1);
	pid_t self = getpid(), starter = getppid();
	unsigned long born = 0, alive = 0;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	stop_at(SIGTERM);
	limit(RLIMIT_NOFILE, 32);
	limit(RLIMIT_FSIZE, 1 << 20);
	limit(RLIMIT_AS, 1 << 28);
	limit(RLIMIT_CORE, 0);
	while ((!stopped && now() < end && getppid() == starter) || alive > 0) {
		bool ending = stopped || now() >= end;
		pid_t pid = !ending && alive < ALIVE ? fork() : -1;
		if (pid == 0)
			live(self);
		alive += pid > 0;
		born += pid > 0;
		if (pid > 0)
			continue;
		pid = waitpid(-1, NULL, 0);
		if (pid > 0) {
			clean(pid);
			alive--;
		} else if (errno != EINTR) {
			break;
		}
	}
	printf("%lu\n", born);
	return 0;
}
