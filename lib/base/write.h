/* SPDX-License-Identifier: Apache-2.0 */
/* write - writes all bytes to a file, a pipe or a terminal. */
#pragma once
#include <stddef.h>

/*
 * Write SIZE bytes to FD; if FD is non-blocking, wait until it takes them.
 * Return 0, or the errno of the failed write(2).
 */
int write_whole(int fd, const void *bytes, size_t size);
