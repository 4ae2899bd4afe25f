/* SPDX-License-Identifier: Apache-2.0 */
#include "show/csv.h"

#include <string.h>

void csv_text(const char *text, FILE *out)
{
	const char *mark = *text && strchr("=+-@", *text) ? "'" : "";

	if (!text[strcspn(text, "\",\r\n")]) {
		fprintf(out, "%s%s", mark, text);
		return;
	}
	fprintf(out, "\"%s", mark);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}
