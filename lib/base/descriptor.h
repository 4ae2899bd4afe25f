/* SPDX-License-Identifier: Apache-2.0 */
/* descriptor - file descriptors. */
#pragma once

/* Close FD, unless it is negative.  errno stays as it is. */
void descriptor_close(int fd);
