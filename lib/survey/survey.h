/* SPDX-License-Identifier: Apache-2.0 */
/*
 * survey - measures what the counters of this machine can do, for a report that its owner may give
 * to others.
 *
 * The report has at most 200 lines.  It takes less than a minute, and less than 10 s of CPU time.
 * It has no name of a host, user, file or process, no address and no serial number: each fact is
 * made of numbers and of words of our own, except for the CPU's name and the kernel's names of
 * PMUs and events.
 */
#pragma once
#include "base/report.h"

#include <signal.h>

struct survey_options {
	const char *file;	/* also write the text here; NULL: nowhere */
	bool json;		/* print JSON, not text */
	const volatile sig_atomic_t *stop;	/* set: the report ends with what it has */
};

/* Measure, and print each fact to stdout when it is known; JSON is printed at the end. */
void survey_print(const struct survey_options *options, struct report *report);
