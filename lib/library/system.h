/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system - calls of the C library that take something from the system, as the library's own code
 * makes them.  No source file but system.c calls them by these names: renamed.txt has the list.
 *
 * Each is like the function without "room_", and notes in the room of the current call what was
 * taken.  room_write() sends no SIGPIPE and no SIGXFSZ.
 */
#pragma once
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>

void *room_realloc(void *p, size_t size);
void *room_aligned_alloc(size_t alignment, size_t size);
char *room_strdup(const char *text);
char *room_strndup(const char *text, size_t most);
int room_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int room_vasprintf(char **text, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
/* The same with glibc's checks, whose FLAG is not used. */
int room_asprintf_chk(char **text, int flag, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int room_vasprintf_chk(char **text, int flag, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));
ssize_t room_getdelim(char **line, size_t *size, int delimiter, FILE *file);
ssize_t room_getline(char **line, size_t *size, FILE *file);

/* MODE is read only if FLAGS ask for it, as in open(2). */
int room_open(const char *path, int flags, ...);
int room_openat(int directory, const char *path, int flags, ...);
/* The same without a mode, checked by glibc. */
int room_open_2(const char *path, int flags);
int room_openat_2(int directory, const char *path, int flags);
int room_memfd_create(const char *name, unsigned int flags);
int room_eventfd(unsigned int count, int flags);
int room_mkostemp(char *path, int flags);
int room_pipe2(int ends[2], int flags);
int room_socketpair(int domain, int type, int protocol, int ends[2]);
int room_close(int fd);
/*
 * Return FD, which is not noted any more; -1 stays -1.  If it is 0, 1 or 2, to which the program
 * may print although it has closed them, it gets another number.  A failure is -1, and FD is
 * closed.
 */
int room_above_standard(int fd);
/* The same, and note what is returned. */
int room_own(int fd);

FILE *room_fopen(const char *path, const char *mode);
FILE *room_fdopen(int fd, const char *mode);
int room_fclose(FILE *file);
DIR *room_opendir(const char *path);
DIR *room_fdopendir(int fd);
int room_closedir(DIR *directory);

ssize_t room_write(int fd, const void *bytes, size_t size);
/* From the input of a handle, read nothing if the program has closed it (owned.c). */
ssize_t room_read(int fd, void *bytes, size_t size);

/* How memory returns to the system is the program's affair: these do nothing. */
int room_malloc_trim(size_t kept);
int room_mallopt(int parameter, int value);
