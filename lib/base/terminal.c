/* SPDX-License-Identifier: Apache-2.0 */
#include "base/terminal.h"

#include <stdio.h>
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

void terminal_size(int fd, size_t *columns, size_t *lines)
{
	struct winsize size = { 0 };

	ioctl(fd, TIOCGWINSZ, &size);
	*columns = size.ws_col;
	*lines = size.ws_row;
}

bool terminal_draw_line(int fd, const char *text)
{
	size_t columns, lines;

	terminal_size(fd, &columns, &lines);
	int room = (int)(columns ? columns : 80) - 1;	/* the last column may wrap */
	return dprintf(fd, "\r%.*s\033[K", room, text) >= 0;
}

bool terminal_erase_line(int fd)
{
	return dprintf(fd, "\r\033[K") >= 0;
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
