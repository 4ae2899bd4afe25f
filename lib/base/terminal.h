/* SPDX-License-Identifier: Apache-2.0 */
/* terminal - whether a line can be drawn again and again on a terminal, and how wide it is. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/*
 * Return whether FD is a terminal on which a line can be erased.  TERM=dumb says that it cannot be.
 */
bool terminal_can_erase(int fd);

/* Return whether another job than ours has the terminal FD now, such as a shell with its prompt. */
bool terminal_is_taken(int fd);

/* Return how many columns the terminal FD has now; 80 if it does not say. */
size_t terminal_columns(int fd);
