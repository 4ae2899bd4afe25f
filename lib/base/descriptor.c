/* SPDX-License-Identifier: Apache-2.0 */
#include "base/descriptor.h"

#include <errno.h>
#include <unistd.h>

void descriptor_close(int fd)
{
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
}
