/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/repeated-input.h"

#include <poll.h>
#include <unistd.h>

/* Return POLLIN if there is something to read, and POLLHUP if no one will write any more. */
static int state(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&input, 1, 0) < 0 ? 0 : input.revents & (POLLIN | POLLHUP);
}

void repeated_input_begin(struct repeated_input *input, struct report *report)
{
	if (!input->has_run) {
		input->has_run = true;
		input->start = lseek(STDIN_FILENO, 0, SEEK_CUR);
		/* a user at a terminal answers each run; a pipe that ended is empty for all */
		input->is_consumed = input->start < 0 && !isatty(STDIN_FILENO) &&
				     state() != POLLHUP;
	} else if (input->start >= 0) {
		lseek(STDIN_FILENO, input->start, SEEK_SET);
	} else if (input->is_consumed && state()) {	/* not a pipe that nobody uses */
		report_note(report, "standard input is not a file: what one run reads, the next "
			    "runs cannot read again");
		input->is_consumed = false;
	}
}
