/* SPDX-License-Identifier: Apache-2.0 */
#include "show/name-print.h"
#include "base/text.h"
#include "names/short-name.h"

#include <stdlib.h>

size_t name_print(const char *name, size_t columns, FILE *out)
{
	char *text = columns ? short_name(name, columns) : NULL;
	size_t width = text_width(text ? text : name);

	fputs(text ? text : name, out);
	free(text);
	return width;
}

void name_end_line(const char *name, size_t columns, size_t used, FILE *out)
{
	enum { LEAST = 20 };

	if (columns)
		columns = columns > used + LEAST ? columns - used : LEAST;
	name_print(name, columns, out);
	fputc('\n', out);
}
