/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress - shows elapsed time, samples and losses in one line on the terminal, erased at the
 * end.
 */
#include "sample/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define INTERVAL 250000000	/* ns between two lines */

static void print(const char *text, int size)
{
	/* If the terminal cannot be written to, show no progress. */
	if (write(STDERR_FILENO, text, (size_t)size) < 0)
		return;
}

void sampler_show_progress(struct sampler *s, uint64_t time)
{
	const struct flow_counts *c = &s->flow.counts;
	uint64_t seconds = (time - s->start_time) / 1000000000;
	char line[128];

	if (!s->options->progress || time < s->progress_due)
		return;
	s->progress_due = time + INTERVAL;
	int size = snprintf(line, sizeof(line), "\r%" PRIu64 ":%02" PRIu64 "  %" PRIu64
			    " samples, %" PRIu64 " lost  (Ctrl-C to stop)\033[K", seconds / 60,
			    seconds % 60, c->samples, c->lost);
	print(line, size);
}

void sampler_end_progress(struct sampler *s)
{
	static const char erase[] = "\r\033[K";

	if (s->progress_due)
		print(erase, sizeof(erase) - 1);
}
