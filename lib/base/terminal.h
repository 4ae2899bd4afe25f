/* SPDX-License-Identifier: Apache-2.0 */
/* terminal - what a terminal can do, its size and modes, and a line that is drawn again. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

/*
 * Return whether FD is a terminal on which a line can be erased.  TERM=dumb says that it cannot be.
 */
bool terminal_can_erase(int fd);

/* Return whether another job than ours has the terminal FD now, such as a shell with its prompt. */
bool terminal_is_taken(int fd);

/* The modes of a terminal, such as whether it shows what is typed. */
struct terminal_modes {
	bool known;
	struct termios modes;
};

/* Store the modes of the terminal that is stdin, if it is one. */
void terminal_save(struct terminal_modes *saved);

/* Set the modes of stdin to SAVED, unless another job has the terminal now. */
void terminal_restore(const struct terminal_modes *saved);

/*
 * Set *COLUMNS and *LINES to the present size of the terminal FD; 0: the size is unknown, or FD is
 * not a terminal.
 */
void terminal_size(int fd, size_t *columns, size_t *lines);

/*
 * Replace the cursor's line on the terminal FD by TEXT.  It is cut to the terminal's width: if it
 * wrapped, it could not be erased.  Return whether that succeeded.
 */
bool terminal_draw_line(int fd, const char *text);

/* Erase the line of the cursor.  Return whether that succeeded. */
bool terminal_erase_line(int fd);
