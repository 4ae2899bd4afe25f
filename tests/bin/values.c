/* SPDX-License-Identifier: Apache-2.0 */
/* values - read lines of a number, a tab and a unit, and print each value as tables have it. */
#include "show/value.h"

#include <stdlib.h>
#include <string.h>

int main(void)
{
	char *line = NULL, text[VALUE_SIZE];
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0) {
		char *unit = strchr(line, '\t');
		if (!unit)
			return 2;
		line[strcspn(line, "\n")] = '\0';
		value_format(text, strtod(line, NULL), unit + 1);
		puts(text);
	}
	free(line);
	return 0;
}
