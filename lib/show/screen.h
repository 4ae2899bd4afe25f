/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen - a full screen of text on the terminal that is stdout, drawn again and again, and
 * the keys that are typed there, from /dev/tty.
 *
 * It is the terminal's second screen: what was on the first comes back at the end, also when
 * the program is ended by exit() or suspended.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Start.  Keys then come one by one, without an echo; the interrupt key still interrupts. */
void screen_begin(void);

/* Return a descriptor that is readable when a key was typed; -1: there are no keys. */
int screen_keys(void);

/*
 * Return the next key, as in show/keys.h, or 0 if none was typed.  *LINE is set to the line of a
 * click.
 */
int screen_key(size_t *line);

/* Return the terminal's size in characters; 80 x 24 if it is unknown. */
void screen_size(size_t *columns, size_t *lines);

/* Return the columns of the terminal at stdout; 0: it is not a terminal, or they are unknown. */
size_t screen_columns(void);

/* Return whether the size has changed, or the screen came back, since the last call. */
bool screen_changed(void);

/* The first byte of a line that is drawn so, over the whole width.  No safe text has it. */
enum { SCREEN_BOLD = '\1', SCREEN_INVERSE = '\2' };

/* Show TEXT from the first line on, as much of it as the screen has room for. */
void screen_draw(const char *text);

/* End, and bring back the first screen.  May be called twice. */
void screen_end(void);
