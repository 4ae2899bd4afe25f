/* SPDX-License-Identifier: Apache-2.0 */
#include "show/keys.h"

/* A control sequence: CSI, parameters, a final byte (ECMA-48, 5.4); or SS3 and a byte. */
struct key_sequence {
	uint32_t parameter[3];
	size_t parameters;
	uint8_t mark;		/* '<': of the mouse (xterm, mode 1006); 0: none */
	uint8_t last;
};

enum { NUMBER_MAX = 100000 };	/* more than any line of a screen */

/* Parse the sequence at BYTES, after the Escape.  Return its size, or 0 if it is incomplete. */
static size_t parse(const uint8_t *bytes, size_t size, struct key_sequence *s)
{
	*s = (struct key_sequence){ .parameters = 0 };
	if (size < 2 || (bytes[0] != '[' && bytes[0] != 'O'))
		return 0;
	for (size_t i = 1; i < size; i++) {
		uint8_t byte = bytes[i];
		if (byte >= 0x40 && byte <= 0x7e) {
			s->last = byte;
			return i + 1;
		}
		if (byte == '<' && i == 1)
			s->mark = byte;
		if (byte >= '0' && byte <= '9' && s->parameters < 3) {
			uint32_t *number = &s->parameter[s->parameters];
			*number = *number < NUMBER_MAX ? 10 * *number + byte - '0' : NUMBER_MAX;
		}
		s->parameters += byte == ';' && s->parameters < 3;
	}
	return 0;
}

/* Keys that are a number and '~', as of the VT220. */
static int numbered_key(uint32_t number)
{
	switch (number) {
	case 1: case 7:
		return KEY_HOME;
	case 4: case 8:
		return KEY_END;
	case 5:
		return KEY_PAGE_UP;
	case 6:
		return KEY_PAGE_DOWN;
	case 11:
		return KEY_HELP;
	case 21:
		return KEY_QUIT;
	default:
		return KEY_OTHER;
	}
}

/* A report of the mouse: button, column and line from 1 on; 'M': pressed. */
static int mouse_key(const struct key_sequence *s, size_t *line)
{
	enum { FIRST = 0, WHEEL_UP = 64, WHEEL_DOWN = 65 };

	if (s->last != 'M')
		return KEY_OTHER;
	*line = s->parameter[2] > 0 ? s->parameter[2] - 1 : 0;
	switch (s->parameter[0]) {
	case FIRST:
		return KEY_CLICK;
	case WHEEL_UP:
		return KEY_WHEEL_UP;
	case WHEEL_DOWN:
		return KEY_WHEEL_DOWN;
	default:
		return KEY_OTHER;
	}
}

static int key_of(const struct key_sequence *s, size_t *line)
{
	if (s->mark)
		return mouse_key(s, line);
	switch (s->last) {
	case 'A':
		return KEY_UP;
	case 'B':
		return KEY_DOWN;
	case 'C':
		return KEY_RIGHT;
	case 'D':
		return KEY_LEFT;
	case 'H':
		return KEY_HOME;
	case 'F':
		return KEY_END;
	case 'P':
		return KEY_HELP;
	case '~':
		return numbered_key(s->parameter[0]);
	default:
		return KEY_OTHER;
	}
}

int keys_decode(const uint8_t *bytes, size_t size, size_t *used, size_t *line)
{
	struct key_sequence s;
	size_t length = 0;

	if (bytes[0] == KEY_ESCAPE)
		length = parse(bytes + 1, size - 1, &s);
	*used = 1 + length;
	if (length > 0)
		return key_of(&s, line);
	return bytes[0] == '\n' ? KEY_ENTER : bytes[0];
}
