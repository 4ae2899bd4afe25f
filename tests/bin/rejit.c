/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rejit - simulate a JIT compiler: run five functions in turn, each copied over the last
 * one, and record them in a jitdump file, jit-PID.dump.
 *
 * Prints the start and end time of each function to stderr, in s of CLOCK_MONOTONIC.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { CODE = 512 };	/* bytes; a function, and some bytes after it */

static int dump;

static uint64_t nanoseconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void put(const void *bytes, size_t size)
{
	if (write(dump, bytes, size) != (ssize_t)size)
		exit(1);
}

static void open_dump(void)
{
	char name[64];
	uint32_t head[6] = { 0x4A695444, 1, 40, 0, 0, (uint32_t)getpid() };
	uint64_t tail[2] = { nanoseconds(CLOCK_MONOTONIC), 0 };

	snprintf(name, sizeof(name), "jit-%d.dump", (int)getpid());
	dump = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (dump < 0)
		exit(1);
	put(head, sizeof(head));
	put(tail, sizeof(tail));
	/* by this mapping the profiler finds the file */
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0) == MAP_FAILED)
		exit(1);
}

/* Write a CODE_LOAD record. */
static void tell(const void *code, const char *name, uint64_t index)
{
	uint32_t size = (uint32_t)(16 + 40 + strlen(name) + 1 + CODE);
	uint32_t head[2] = { 0, size }, ids[2] = { (uint32_t)getpid(), (uint32_t)getpid() };
	uint64_t time = nanoseconds(CLOCK_MONOTONIC);
	uint64_t body[4] = { (uintptr_t)code, (uintptr_t)code, CODE, index };

	put(head, sizeof(head));
	put(&time, sizeof(time));
	put(ids, sizeof(ids));
	put(body, sizeof(body));
	put(name, strlen(name) + 1);
	put(code, CODE);
}

/* A few instructions that run at any address. */
__attribute__((noinline)) static uint64_t spin(uint64_t x)
{
	for (uint64_t i = 0; i < 100000; i++)
		x = x * 31 + i;
	return x;
}

static void print(const char *name, uint64_t from, uint64_t to)
{
	const uint64_t second = 1000000000;

	fprintf(stderr, "%s %" PRIu64 ".%09" PRIu64 ",%" PRIu64 ".%09" PRIu64 "\n", name,
		from / second, from % second, to / second, to % second);
}

int main(void)
{
	static const struct {
		const char *name;
		uint64_t ms;
	} phase[] = { { "one", 100 }, { "two", 200 }, { "three", 60 }, { "four", 300 },
		      { "five", 150 } };
	uint64_t x = 1;
	uint8_t *code = mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		return 1;
	open_dump();
	for (size_t i = 0; i < sizeof(phase) / sizeof(*phase); i++) {
		memcpy(code, (const void *)(uintptr_t)spin, CODE);
		__builtin___clear_cache((char *)code, (char *)code + CODE);
		tell(code, phase[i].name, i);
		uint64_t from = nanoseconds(CLOCK_MONOTONIC);
		uint64_t began = nanoseconds(CLOCK_PROCESS_CPUTIME_ID), now = began;
		while (now - began < phase[i].ms * 1000000) {
			x = ((uint64_t (*)(uint64_t))(uintptr_t)code)(x);
			now = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
		}
		print(phase[i].name, from, nanoseconds(CLOCK_MONOTONIC));
	}
	return x == 12345;
}
