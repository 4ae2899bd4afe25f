/* SPDX-License-Identifier: Apache-2.0 */
#include "base/progress.h"
#include "base/report.h"

#include <stdio.h>

void report_take(const struct report *r, enum report_subject subject, bool is_hidden,
		 const char *text)
{
	(void)subject;
	if (is_hidden)
		return;
	progress_erase();
	fprintf(stderr, "%s: %s\n", r->tool, text);
}
