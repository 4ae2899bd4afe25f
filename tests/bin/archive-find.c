/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive-find ARCHIVE - find files in a ZIP archive, with the code of lib/locate.
 *
 * Each line of stdin is an offset ("@0x1000") or a name.  Its answer is a line: the offset and the
 * size of the file's bytes, and its name; or "-".
 */
#include "base/arena.h"
#include "locate/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	FILE *in = argc == 2 ? fopen(argv[1], "rb") : NULL;
	char line[4096];
	struct archive_file file;

	if (!in || fseek(in, 0, SEEK_END))
		return 2;
	size_t size = (size_t)ftell(in);
	uint8_t *bytes = mem_resize(NULL, size);	/* exactly, for sanitizers */
	rewind(in);
	if (fread(bytes, 1, size, in) != size)
		return 2;
	while (fgets(line, sizeof(line), stdin)) {
		const struct mapped zip = { .at = bytes, .size = size };
		line[strcspn(line, "\n")] = '\0';
		bool found = *line == '@'
			? archive_find_at(&zip, strtoull(line + 1, NULL, 0), &file)
			: archive_find_name(&zip, line, &file);
		if (found)
			printf("%" PRIu64 " %" PRIu64 " %s\n", file.offset, file.size, file.name);
		else
			puts("-");
	}
	fclose(in);
	free(bytes);
	return 0;
}
