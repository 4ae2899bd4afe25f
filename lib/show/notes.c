/* SPDX-License-Identifier: Apache-2.0 */
#include "show/notes.h"
#include "pprof/comments.h"

void notes_report(const struct decoded *d, bool losses, struct report *report)
{
	for (uint32_t i = 0; i < d->comments; i++) {
		const char *comment = decoded_string(d, d->comment[i]);
		const char *scaled = comment_after(comment, COMMENT_SCALED);
		if (scaled)
			report_note(report, "%s", scaled);
		else if (losses && comment_is_of_lost_records(comment))
			report_note(report, "%s", comment);
	}
}
