/* SPDX-License-Identifier: Apache-2.0 */
/* descriptor - file descriptors. */
#pragma once
#include <stdint.h>

/* Close FD, unless it is negative.  errno stays as it is. */
void descriptor_close(int fd);

/* If FD is closed, open /dev/null there with FLAGS, so that nothing else gets its number. */
void descriptor_fill(int fd, int flags);

/*
 * If FD is a pipe, make it hold 1 MiB, or as much less as the kernel allows (fs.pipe-max-size and
 * fs.pipe-user-pages-soft of sysctl(8)): each time a full or empty pipe makes a tool wait, its CPU
 * goes idle, and its caches are cold afterwards.  A larger pipe stays as it is, and a failure does
 * no harm.  errno stays as it is.
 */
void descriptor_enlarge_pipe(int fd);

/* Raise the limit of open files as far as this process may.  Return the limit. */
uint64_t descriptor_raise_limit(void);
