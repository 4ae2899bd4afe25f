/* SPDX-License-Identifier: Apache-2.0 */
#include "show/notes.h"

#include <string.h>

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

void notes_report(const struct decoded *d, bool losses, struct report *report)
{
	for (uint32_t i = 0; i < d->comments; i++) {
		const char *comment = decoded_string(d, d->comment[i]);
		if (starts_with(comment, "scaled: "))
			report_note(report, "%s", comment + strlen("scaled: "));
		else if (losses && starts_with(comment, "lost: ") && strstr(comment, " records "))
			report_note(report, "%s", comment);
	}
}
