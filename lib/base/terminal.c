/* SPDX-License-Identifier: Apache-2.0 */
#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_can_erase(int fd)
{
	const char *kind = getenv("TERM");

	return isatty(fd) && !(kind && !strcmp(kind, "dumb"));
}

bool terminal_is_taken(int fd)
{
	pid_t group = tcgetpgrp(fd);

	return group > 0 && group != getpgrp();
}

size_t terminal_columns(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

void terminal_save(struct terminal_modes *saved)
{
	saved->known = tcgetattr(STDIN_FILENO, &saved->modes) == 0;
}

void terminal_restore(const struct terminal_modes *saved)
{
	if (saved->known && !terminal_is_taken(STDIN_FILENO))
		tcsetattr(STDIN_FILENO, TCSADRAIN, &saved->modes);
}
