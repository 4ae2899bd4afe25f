/* SPDX-License-Identifier: Apache-2.0 */
/* shorten - read lines of COLUMNS, a tab and a name, and print each name in that many columns. */
#include "names/short-name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0) {
		char *name = strchr(line, '\t');
		if (!name)
			return 2;
		line[strcspn(line, "\n")] = '\0';
		char *text = short_name(name + 1, strtoul(line, NULL, 10));
		puts(text);
		free(text);
	}
	free(line);
	return 0;
}
