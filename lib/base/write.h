/* SPDX-License-Identifier: Apache-2.0 */
/* write - all of some bytes, to a file, a pipe or a terminal. */
#pragma once
#include <stddef.h>

/*
 * Write SIZE BYTES to FD, waiting where the other end was made non-blocking.
 * 0, or what write(2) failed with (errno.h).
 */
int write_whole(int fd, const void *bytes, size_t size);
