/* SPDX-License-Identifier: Apache-2.0 */
/* Keys: what terminals send for them, whole, cut short, and with numbers that are too large. */
#include "show/keys.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *bytes;
	int key;
	size_t used, line;
} cases[] = {
	{ "j", 'j', 1, 0 },
	{ "jk", 'j', 1, 0 },
	{ "\n", KEY_ENTER, 1, 0 },
	{ "\r", KEY_ENTER, 1, 0 },
	{ "\xe2", 0xe2, 1, 0 },
	{ "\033[A", KEY_UP, 3, 0 },
	{ "\033[1;5A", KEY_UP, 6, 0 },
	{ "\033OB", KEY_DOWN, 3, 0 },
	{ "\033[5~", KEY_PAGE_UP, 4, 0 },
	{ "\033[6~x", KEY_PAGE_DOWN, 4, 0 },
	{ "\033[H", KEY_HOME, 3, 0 },
	{ "\033[4~", KEY_END, 4, 0 },
	{ "\033OP", KEY_HELP, 3, 0 },
	{ "\033[21~", KEY_QUIT, 5, 0 },
	{ "\033[<64;10;7M", KEY_WHEEL_UP, 11, 6 },
	{ "\033[<65;10;7M", KEY_WHEEL_DOWN, 11, 6 },
	{ "\033[<0;10;7M", KEY_CLICK, 10, 6 },
	{ "\033[<0;10;7m", KEY_OTHER, 10, 0 },
	{ "\033[<0;1;99999999999999999999M", KEY_CLICK, 28, 99999 },
	{ "\033[<0;1;0M", KEY_CLICK, 9, 0 },
	{ "\033[200~", KEY_OTHER, 6, 0 },
	{ "\033x", KEY_ESCAPE, 1, 0 },
};

/* Decode the first SIZE bytes of case I, in a copy of their own. */
static int decode(size_t i, size_t size, size_t *used, size_t *line)
{
	uint8_t *copy = malloc(size);

	memcpy(copy, cases[i].bytes, size);
	int key = keys_decode(copy, size, used, line);
	free(copy);
	return key;
}

int main(void)
{
	bool is_right = true, is_kept = true;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t size = strlen(cases[i].bytes), used = 0, line = 0;
		int key = decode(i, size, &used, &line);
		is_right &= key == cases[i].key && used == cases[i].used && line == cases[i].line;
		for (size_t cut = 1; cut < cases[i].used; cut++)
			is_kept &= decode(i, cut, &used, &line) == KEY_ESCAPE && used == 1;
	}
	tap(is_right, "each key is decoded, and takes its bytes only");
	tap(is_kept, "a sequence that is cut is the Escape key");
	return tap_done();
}
