/* SPDX-License-Identifier: Apache-2.0 */
#include "counters/refusal.h"

#include <errno.h>

void refusal_report(const struct event *event, const char *done, pid_t tid, int error,
		    struct report *report)
{
	bool needs_more_rights = tid < 0 && (error == EACCES || error == EPERM);
	struct event asked = *event;
	char why[512];

	asked.per_cpu |= needs_more_rights;
	event_because(error, report);
	if (tid < 0)
		event_explain(&asked, error, why, sizeof(why));
	else
		event_explain_task(&asked, tid, error, why, sizeof(why));
	report_error(report, "cannot %s '%s': %s", done, event->name, why);
}
