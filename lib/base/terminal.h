/* SPDX-License-Identifier: Apache-2.0 */
/* terminal - what a terminal can do, how wide it is, and its modes. */
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

/* Return how many columns the terminal FD has now; 80 if it does not say. */
size_t terminal_columns(int fd);
