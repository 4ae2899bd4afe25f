/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmukit - all tools in one file, which can be copied to a machine alone.
 *
 * It is the tool by whose name it is called, or the tool that its first operand names.  The
 * Makefile renames main() and the struct command of each tool, and passes the list TOOLS.
 */
#include "base/sibling.h"
#include "host/mark.h"
#include "linux/proc.h"
#include "linux/rights.h"
#include "tool/command.h"
#include "tool/links.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#define TOOL(name) \
	int main_of_##name(int, char **); \
	extern const struct command command_of_##name;
TOOLS
extern const struct command command_of_perf_to_profile;
#undef TOOL

static const struct {
	const struct command *command;
	int (*main)(int, char **);
} tools[] = {
#define TOOL(name) { &command_of_##name, main_of_##name },
	TOOLS
	{ &command_of_perf_to_profile, main_of_pmu_topprof },
};

enum { COUNT = sizeof(tools) / sizeof(*tools), PREFIX = sizeof("pmu-") - 1 };

static const char *directory;

static void list_tools(FILE *out)
{
	fprintf(out, "\nTools; 'pmukit TOOL --help' explains each:\n");
	for (size_t i = 0; i < COUNT; i++)
		fprintf(out, "  %-16s %s\n", tools[i].command->name, tools[i].command->purpose);
}

static const struct command_option options[] = {
	{ 0, "link", "DIR", "make the name of each tool in DIR a link to this file",
	  SETS_TEXT(directory) },
	{ 0 }
};

static const struct command command = {
	.name = "pmukit",
	.purpose = PMUKIT_MARK_BEGIN PMUKIT_MARK_END,
	.operands = "TOOL [ARGUMENT]...",
	.options = options,
	.runs_command = true,
	.list_operands = list_tools,
};

/* Return the index of the tool NAME, or COUNT.  ALSO_SHORT: its name may be without "pmu-". */
static size_t find(const char *name, bool also_short)
{
	size_t i = 0;

	while (i < COUNT && strcmp(tools[i].command->name, name) &&
	       (!also_short || strncmp(tools[i].command->name, "pmu-", PREFIX) ||
		strcmp(tools[i].command->name + PREFIX, name)))
		i++;
	return i;
}

bool sibling_find_within(const char *name, char path[PATH_MAX])
{
	const char *own = find(name, false) < COUNT ? proc_own_program() : NULL;

	return own && snprintf(path, PATH_MAX, "%s", own) < PATH_MAX;
}

/*
 * A capability of this file is for pmu-sample.  The other tools read files that anybody may have
 * written, and must have no right that their caller does not have.
 */
static void refuse_rights(const char *name)
{
	if (!strcmp(name, "pmu-sample") || !rights_come_from_file())
		return;
	fprintf(stderr, "%s: this file has a capability, or is setuid; only pmu-sample may run so: "
		"remove that by setcap -r or chmod a-s, and give the capability to a pmu-sample "
		"that is a file of its own\n", name);
	exit(2);
}

/* Be tool number INDEX, with its arguments. */
static int run(size_t index, int argc, char **argv)
{
	const char *name = tools[index].command->name;

	refuse_rights(name);
	prctl(PR_SET_NAME, name);	/* ps(1) and top(1) show the tool, not "pmukit" */
	argv[0] = (char *)(uintptr_t)name;
	return tools[index].main(argc, argv);
}

/* Exit 2: NAME, the first operand, is NULL, or is not a tool, or comes after options. */
__attribute__((noreturn))
static void refuse(const char *name)
{
	if (!name)
		fprintf(stderr, "pmukit: name a tool\n");
	else if (find(name, true) < COUNT)
		fprintf(stderr, "pmukit: the name of the tool comes first: pmukit %s [OPTION]...\n",
			name);
	else
		fprintf(stderr, "pmukit: there is no tool '%s'\n", name);
	fprintf(stderr, "usage: pmukit %s\n", command.operands);
	list_tools(stderr);
	exit(2);
}

static void make_links(struct report *report)
{
	struct links *l = links_open(directory, report);

	for (size_t i = 0; l && i < COUNT; i++)
		links_make(l, tools[i].command->name);
	links_close(l);
}

int main(int argc, char **argv)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	size_t called = argc > 0 ? find(slash ? slash + 1 : argv[0], false) : COUNT;
	size_t named = argc > 1 ? find(argv[1], true) : COUNT;
	struct report report;

	if (called < COUNT)
		return run(called, argc, argv);
	if (named < COUNT)
		return run(named, argc - 1, argv + 1);
	refuse_rights(command.name);
	int first = command_begin(&command, &report, argc, argv);
	if (first < argc && directory)
		command_misused(&command, "--link makes links and runs no tool");
	if (!directory)
		refuse(first < argc ? argv[first] : NULL);
	make_links(&report);
	return command_end(&report);
}
