/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-events - list, encode and test events.
 *
 * Reads the machine: /sys, /proc, the kernel's answers.  Writes text.
 */
#include "base/command.h"
#include "event/event.h"
#include "event/catalog.h"

static bool list;

static const struct command_option options[] = {
	{ 'l', "list", NULL, "list events, and which can be opened here", &list, NULL },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-events",
	.purpose = "list, encode and test events",
	.operands = "[GLOB]...",
	.options = options,
};

int main(int argc, char **argv)
{
	struct report report;
	int first = command_begin(&command, &report, argc, argv);

	if (!list)
		command_misused(&command, "say what to do: --list");
	catalog_print(argv + first, (size_t)(argc - first));
	return command_end(&report);
}
