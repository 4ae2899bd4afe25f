/* SPDX-License-Identifier: Apache-2.0 */
#include "takes.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

struct takes takes;

/* Here a debugger stops: which take was it? */
__attribute__((noinline)) void take_fails(const char *function)
{
	takes.failed = function;
	__asm__ volatile("");
}

/* Count a take by FUNCTION.  Return whether it fails; then errno is ERROR. */
static bool fails(const char *function, int error)
{
	if (!takes.inside || ++takes.count != takes.fails)
		return false;
	take_fails(function);
	takes.lacks_memory = error == ENOMEM;
	errno = error;
	return true;
}

/* glibc has these names for programs with a malloc() of their own. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *p);

static void *counted(void *block)
{
	takes.blocks += block != NULL;
	return block;
}

void *malloc(size_t size)
{
	return fails(__func__, ENOMEM) ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
	return fails(__func__, ENOMEM) ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *p, size_t size)
{
	if (fails(__func__, ENOMEM))
		return NULL;
	void *block = __libc_realloc(p, size);
	takes.blocks += (block != NULL) - (p && (block || size == 0));
	return block;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return fails(__func__, ENOMEM) ? NULL : counted(__libc_memalign(alignment, size));
}

void *memalign(size_t alignment, size_t size)
{
	return fails(__func__, ENOMEM) ? NULL : counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
	if (fails(__func__, ENOMEM))
		return ENOMEM;
	*block = counted(__libc_memalign(alignment, size));
	return *block ? 0 : ENOMEM;
}

void free(void *p)
{
	takes.blocks -= p != NULL;
	__libc_free(p);
}

/* Define NAME, which calls the C library's, unless this take fails with FAILURE and ERROR. */
#define TAKE(type, name, failure, error, parameters, arguments) \
	static type(*real_##name) parameters; \
	type name parameters \
	{ \
		return fails(#name, error) ? failure : real_##name arguments; \
	}
#define OPEN(name) \
	static int (*real_##name)(const char *path, int flags, ...); \
	int name(const char *path, int flags, ...) \
	{ \
		va_list args; \
		va_start(args, flags); \
		mode_t mode = va_arg(args, mode_t); \
		va_end(args); \
		return fails(#name, EMFILE) ? -1 : real_##name(path, flags, mode); \
	}
#define OPENAT(name) \
	static int (*real_##name)(int directory, const char *path, int flags, ...); \
	int name(int directory, const char *path, int flags, ...) \
	{ \
		va_list args; \
		va_start(args, flags); \
		mode_t mode = va_arg(args, mode_t); \
		va_end(args); \
		return fails(#name, EMFILE) ? -1 : real_##name(directory, path, flags, mode); \
	}
#define FCNTL(name) \
	static int (*real_##name)(int fd, int command, ...); \
	int name(int fd, int command, ...) \
	{ \
		va_list args; \
		va_start(args, command); \
		void *argument = va_arg(args, void *); \
		va_end(args); \
		bool takes_one = command == F_DUPFD || command == F_DUPFD_CLOEXEC; \
		return takes_one && fails(#name, EMFILE) ? -1 \
							 : real_##name(fd, command, argument); \
	}

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
FCNTL(fcntl)
FCNTL(fcntl64)
TAKE(int, __open_2, -1, EMFILE, (const char *path, int flags), (path, flags))
TAKE(int, __open64_2, -1, EMFILE, (const char *path, int flags), (path, flags))
TAKE(int, __openat_2, -1, EMFILE, (int fd, const char *path, int flags), (fd, path, flags))
TAKE(int, __openat64_2, -1, EMFILE, (int fd, const char *path, int flags), (fd, path, flags))
TAKE(int, memfd_create, -1, EMFILE, (const char *name, unsigned int flags), (name, flags))
TAKE(int, eventfd, -1, EMFILE, (unsigned int count, int flags), (count, flags))
TAKE(int, mkostemp, -1, EMFILE, (char *path, int flags), (path, flags))
TAKE(int, mkostemp64, -1, EMFILE, (char *path, int flags), (path, flags))
TAKE(int, pipe2, -1, EMFILE, (int ends[2], int flags), (ends, flags))
TAKE(int, socket, -1, EMFILE, (int domain, int type, int protocol), (domain, type, protocol))
TAKE(int, socketpair, -1, EMFILE, (int domain, int type, int protocol, int ends[2]),
     (domain, type, protocol, ends))
TAKE(int, dup, -1, EMFILE, (int fd), (fd))
TAKE(int, dup3, -1, EMFILE, (int fd, int to, int flags), (fd, to, flags))
TAKE(FILE *, fopen, NULL, EMFILE, (const char *path, const char *mode), (path, mode))
TAKE(FILE *, fopen64, NULL, EMFILE, (const char *path, const char *mode), (path, mode))
TAKE(FILE *, fdopen, NULL, ENOMEM, (int fd, const char *mode), (fd, mode))
TAKE(DIR *, opendir, NULL, EMFILE, (const char *path), (path))
TAKE(DIR *, fdopendir, NULL, ENOMEM, (int fd), (fd))

static int (*real_clone)(int (*run)(void *), void *stack, int flags, void *argument, ...);
int clone(int (*run)(void *), void *stack, int flags, void *argument, ...)
{
	return fails(__func__, EAGAIN) ? -1 : real_clone(run, stack, flags, argument);
}

static void *(*real_mmap)(void *at, size_t size, int access, int flags, int fd, off_t offset);
static void *(*real_mremap)(void *at, size_t size, size_t larger, int flags, ...);
static int (*real_munmap)(void *at, size_t size);

void *mmap(void *at, size_t size, int access, int flags, int fd, off_t offset)
{
	if (fails(__func__, ENOMEM))
		return MAP_FAILED;
	void *mapped = real_mmap(at, size, access, flags, fd, offset);
	takes.mappings += mapped != MAP_FAILED && !(flags & MAP_FIXED);
	return mapped;
}
void *mmap64(void *at, size_t size, int access, int flags, int fd, off_t offset)
	__attribute__((alias("mmap")));

void *mremap(void *at, size_t size, size_t larger, int flags, ...)
{
	return fails(__func__, ENOMEM) ? MAP_FAILED : real_mremap(at, size, larger, flags);
}

int munmap(void *at, size_t size)
{
	int status = real_munmap(at, size);

	takes.mappings -= status == 0;
	return status;
}

#define LOOK_UP(name) (*(void **)&real_##name = dlsym(RTLD_NEXT, #name))

void takes_prepare(void)
{
	LOOK_UP(open), LOOK_UP(open64), LOOK_UP(openat), LOOK_UP(openat64);
	LOOK_UP(fcntl), LOOK_UP(fcntl64);
	LOOK_UP(__open_2), LOOK_UP(__open64_2), LOOK_UP(__openat_2), LOOK_UP(__openat64_2);
	LOOK_UP(memfd_create), LOOK_UP(eventfd), LOOK_UP(mkostemp), LOOK_UP(mkostemp64);
	LOOK_UP(pipe2), LOOK_UP(socket), LOOK_UP(socketpair), LOOK_UP(dup), LOOK_UP(dup3);
	LOOK_UP(fopen), LOOK_UP(fopen64), LOOK_UP(fdopen), LOOK_UP(opendir), LOOK_UP(fdopendir);
	LOOK_UP(clone), LOOK_UP(mmap), LOOK_UP(mremap), LOOK_UP(munmap);
}
