/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in the library: to the program, and to pmukit_error(). */
#include "base/report.h"
#include "library/handle.h"

#include <stdio.h>

void report_take(const struct report *r, enum report_subject subject, bool is_hidden,
		 const char *text)
{
	struct handle *h = r->owner;
	int error = errno;

	if (!h)
		return;
	if (subject != REPORT_NOTE && !h->sentence[0]) {
		h->subject = subject;
		h->error = error;
		snprintf(h->sentence, sizeof(h->sentence), "%s", text);
	}
	if (!is_hidden && h->message) {
		struct aside aside = leave_guard();

		h->message(h->context, subject == REPORT_NOTE ? PMUKIT_NOTE : PMUKIT_PROBLEM, text);
		return_to_guard(aside);
	}
	errno = error;
}
