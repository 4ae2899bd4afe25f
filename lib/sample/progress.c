/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress - shows elapsed time, samples and losses in one line on the terminal, erased at the
 * end.
 */
#include "sample/internal.h"
#include "base/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define INTERVAL 250000000	/* ns between two lines */

/* Return the terminal: stderr, also while messages on stderr are kept. */
static int terminal(const struct sampler *s)
{
	return s->bystander.terminal ? s->bystander.terminal : STDERR_FILENO;
}

/* Return what Ctrl-C does. */
static const char *end_by_key(const struct sampler *s)
{
	if (!s->child.pid)
		return "Ctrl-C to stop";
	return s->out->fd == STDOUT_FILENO ? "Ctrl-C ends the program and shows the profile"
					   : "Ctrl-C ends the program";
}

void sampler_show_progress(struct sampler *s, uint64_t time)
{
	const struct flow_counts *c = &s->flow.counts;
	uint64_t seconds = (time - s->start_time) / 1000000000;
	char line[160];

	if (!s->options->progress || time < s->progress_due || terminal_is_taken(terminal(s)))
		return;
	s->progress_due = time + INTERVAL;
	snprintf(line, sizeof(line), "%" PRIu64 ":%02" PRIu64 "  %" PRIu64 " samples, %" PRIu64
		 " lost  (%s)", seconds / 60, seconds % 60, c->samples, c->lost, end_by_key(s));
	terminal_draw_line(terminal(s), line);	/* if the terminal cannot be written to, there is no
						   progress */
}

void sampler_end_progress(struct sampler *s)
{
	if (s->progress_due)
		terminal_erase_line(terminal(s));
}
