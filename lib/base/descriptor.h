/* SPDX-License-Identifier: Apache-2.0 */
/* descriptor - file descriptors. */
#pragma once
#include <stdint.h>

/* Close FD, unless it is negative.  errno stays as it is. */
void descriptor_close(int fd);

/* If FD is closed, open /dev/null there with FLAGS, so that nothing else gets its number. */
void descriptor_fill(int fd, int flags);

/* Raise the limit of open files as far as this process may.  Return the limit. */
uint64_t descriptor_raise_limit(void);
