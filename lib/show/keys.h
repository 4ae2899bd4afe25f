/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys - decodes what a terminal sends for keys and the mouse: control sequences of ECMA-48, as
 * xterm and the terminals like it send them.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* A key: the byte that was typed, or one of these. */
enum key {
	KEY_NONE,
	KEY_ENTER = '\r',
	KEY_ESCAPE = 27,
	KEY_UP = 0x100, KEY_DOWN, KEY_LEFT, KEY_RIGHT, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME,
	KEY_END, KEY_HELP, KEY_QUIT,
	KEY_WHEEL_UP, KEY_WHEEL_DOWN,
	KEY_CLICK,	/* the first button of the mouse */
	KEY_OTHER,	/* a sequence that means nothing here */
};

/*
 * Return the key at the start of SIZE BYTES, at least 1, and set *USED to how many bytes it takes.
 * An incomplete sequence is the Escape key.  Set *LINE to the line of KEY_CLICK, from 0 on.
 */
int keys_decode(const uint8_t *bytes, size_t size, size_t *used, size_t *line);
