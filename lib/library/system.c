/* SPDX-License-Identifier: Apache-2.0 */
#include "library/system.h"
#include "base/arena.h"
#include "base/descriptor.h"
#include "library/guard.h"
#include "library/room.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* glibc has a second name for some functions, and objcopy renames no two functions to one. */
#define SECOND(name, of) extern __typeof__(of) name __attribute__((alias(#of)))

SECOND(room_open64, room_open);
SECOND(room_openat64, room_openat);
SECOND(room_open64_2, room_open_2);
SECOND(room_openat64_2, room_openat_2);
SECOND(room_mkostemp64, room_mkostemp);
SECOND(room_fopen64, room_fopen);
SECOND(room_plain_getdelim, room_getdelim);

/* A descriptor as an object of room_note(): no object has such a small address. */
static void *object_of(int fd)
{
	return (void *)((uintptr_t)(unsigned int)fd + 1);
}

static void close_noted(void *object)
{
	close((int)((uintptr_t)object - 1));
}

/*
 * After a call that has failed: without memory, all that works for the handle ends.  The caller
 * might believe that there is no such file.
 */
static void need_memory(void)
{
	if (errno == ENOMEM && current_guard)
		out_of_memory();
}

static int note_fd(int fd)
{
	if (fd < 0)
		need_memory();
	else
		room_note(object_of(fd), close_noted);
	return fd;
}

/* As room_note(). */
static void *note(void *object, void (*release)(void *object))
{
	if (!object)
		need_memory();
	return room_note(object, release);
}

/* Return whether a file may be created with FLAGS: then there is a mode. */
static bool makes_file(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

int room_open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode = 0;

	va_start(args, flags);
	if (makes_file(flags))
		mode = va_arg(args, mode_t);
	va_end(args);
	return note_fd(open(path, flags, mode));
}

int room_openat(int directory, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode = 0;

	va_start(args, flags);
	if (makes_file(flags))
		mode = va_arg(args, mode_t);
	va_end(args);
	return note_fd(openat(directory, path, flags, mode));
}

int room_open_2(const char *path, int flags)
{
	return room_open(path, flags);
}

int room_openat_2(int directory, const char *path, int flags)
{
	return room_openat(directory, path, flags);
}

int room_memfd_create(const char *name, unsigned int flags)
{
	return note_fd(memfd_create(name, flags));
}

int room_eventfd(unsigned int count, int flags)
{
	return note_fd(eventfd(count, flags));
}

int room_mkostemp(char *path, int flags)
{
	return note_fd(mkostemp(path, flags));
}

/* Note both ENDS, which a call that returned STATUS has made, and return STATUS. */
static int note_ends(const int ends[2], int status)
{
	if (status < 0)
		return status;
	if (!room_try_to_note(object_of(ends[0]), close_noted)) {
		close(ends[1]);
		out_of_memory();
	}
	note_fd(ends[1]);
	return status;
}

int room_pipe2(int ends[2], int flags)
{
	return note_ends(ends, pipe2(ends, flags));
}

int room_socketpair(int domain, int type, int protocol, int ends[2])
{
	return note_ends(ends, socketpair(domain, type, protocol, ends));
}

int room_close(int fd)
{
	room_forget(object_of(fd));
	return close(fd);
}

int room_dup(int fd)
{
	return note_fd(fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* A page before the bytes has the size of all. */
static void release(void *at)
{
	size_t *start = (size_t *)((char *)at - page_size());

	munmap(start, *start);
}

void *room_reserve(size_t size)
{
	size_t whole = size + page_size();
	size_t *start = whole < size ? MAP_FAILED :
			mmap(NULL, whole, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (start == MAP_FAILED)
		return NULL;
	*start = whole;
	return room_note((char *)start + page_size(), release);
}

void room_release(void *at)
{
	room_forget(at);
	release(at);
}

static void close_file(void *file)
{
	fclose(file);
}

int room_above_standard(int fd)
{
	int above = fd;

	room_forget(object_of(fd));
	if (fd >= 0 && fd <= STDERR_FILENO) {
		above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		descriptor_close(fd);
	}
	return above;
}

int room_own(int fd)
{
	return note_fd(room_above_standard(fd));
}

FILE *room_fopen(const char *path, const char *mode)
{
	return note(fopen(path, mode), close_file);
}

FILE *room_fdopen(int fd, const char *mode)
{
	FILE *file = fdopen(fd, mode);

	if (file)	/* fclose() closes FD, too */
		room_forget(object_of(fd));
	return note(file, close_file);
}

int room_fclose(FILE *file)
{
	room_forget(file);
	return fclose(file);
}

static void close_directory(void *directory)
{
	closedir(directory);
}

DIR *room_opendir(const char *path)
{
	return note(opendir(path), close_directory);
}

DIR *room_fdopendir(int fd)
{
	DIR *directory = fdopendir(fd);

	if (directory)	/* closedir() closes FD, too */
		room_forget(object_of(fd));
	return note(directory, close_directory);
}

int room_closedir(DIR *directory)
{
	room_forget(directory);
	return closedir(directory);
}

int room_vasprintf(char **text, const char *format, va_list args)
{
	va_list again;

	va_copy(again, args);
	int length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	*text = length < 0 ? NULL : room_malloc((size_t)length + 1);
	if (!*text)
		need_memory();
	return *text ? vsnprintf(*text, (size_t)length + 1, format, args) : -1;
}

int room_vasprintf_chk(char **text, int flag, const char *format, va_list args)
{
	(void)flag;
	return room_vasprintf(text, format, args);
}

int room_asprintf(char **text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int length = room_vasprintf(text, format, args);
	va_end(args);
	return length;
}

int room_asprintf_chk(char **text, int flag, const char *format, ...)
{
	va_list args;

	(void)flag;
	va_start(args, format);
	int length = room_vasprintf(text, format, args);
	va_end(args);
	return length;
}

ssize_t room_getdelim(char **line, size_t *size, int delimiter, FILE *file)
{
	enum { FIRST = 120 };
	size_t used = 0;
	int c;

	do {
		if (!*line || used + 2 > *size) {
			size_t larger = *line && *size >= FIRST ? 2 * *size : FIRST;
			char *text = room_realloc(*line, larger);

			if (!text) {	/* the caller would take that for the end of the file */
				need_memory();
				return -1;
			}
			*line = text;
			*size = larger;
		}
		c = getc_unlocked(file);
		if (c == EOF)
			break;
		(*line)[used++] = (char)c;
	} while (c != delimiter);
	(*line)[used] = '\0';
	return used > 0 && !ferror(file) ? (ssize_t)used : -1;
}

ssize_t room_getline(char **line, size_t *size, FILE *file)
{
	return room_getdelim(line, size, '\n', file);
}

/* Take the signal NUMBER that a write of this thread has sent. */
static void take_signal(int number)
{
	const struct timespec now = { 0 };
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, number);
	while (sigtimedwait(&one, NULL, &now) < 0 && errno == EINTR)
		;
}

/*
 * The program's actions for SIGPIPE and SIGXFSZ are not ours to change or to call.  Both signals go
 * to the thread that writes.  So they are blocked there, and taken.  One that was pending before
 * stays.
 */
ssize_t room_write(int fd, const void *bytes, size_t size)
{
	sigset_t ours, before, pending;

	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGXFSZ);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &ours, &before);
	ssize_t n = write(fd, bytes, size);
	int error = errno;
	if (n < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE))
		take_signal(SIGPIPE);
	if (n < 0 && error == EFBIG && !sigismember(&pending, SIGXFSZ))
		take_signal(SIGXFSZ);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return n;
}

int room_malloc_trim(size_t kept)
{
	(void)kept;
	return 0;
}

int room_mallopt(int parameter, int value)
{
	(void)parameter;
	(void)value;
	return 1;
}
