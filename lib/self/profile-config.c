/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of a profile: checked, and as arguments of pmu-sample. */
#include "base/arena.h"
#include "library/given.h"
#include "self/running-profile.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Options of pmu-sample by which the library starts it, or that do something else. */
static const char *const refused[] = {
	"all", "all-cpus", "cgroup", "comm", "command-output", "control", "delay", "exit-status",
	"help", "output", "pid", "switch-output", "tid", "uid", "version",
};

/* Return 0 if OPTION is one long option that the library does not set itself, or fail. */
static int check_option(const char *option)
{
	size_t length = strncmp(option, "--", 2) ? 0 : strcspn(option + 2, "=");

	if (length == 0)
		return fail(PMUKIT_WRONG_ARGUMENT, "'%s' is not a long option of pmu-sample, such "
			    "as --buffer=1Mi", option);
	/* getopt_long() also takes the start of a name */
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		if (!strncmp(option + 2, refused[i], length))
			return fail(PMUKIT_WRONG_ARGUMENT, "'%s' cannot be given: the library "
				    "itself says where and what pmu-sample records", option);
	return 0;
}

/* Return 0 if C has a place for its result, or fail. */
static int check_result(const struct pmukit_profile_config *c)
{
	int flags = c->fd != 0 && !c->write ? fcntl(c->fd, F_GETFL) : O_WRONLY;

	if ((unsigned int)c->result > PMUKIT_RECORDS)
		return fail(PMUKIT_WRONG_ARGUMENT, "pmukit_profile_config.result is %d: it is not "
			    "in enum pmukit_result", (int)c->result);
	if (!c->write && c->fd == 0)
		return fail(PMUKIT_WRONG_ARGUMENT, "the result has no place: set "
			    "pmukit_profile_config.fd or .write");
	if (flags < 0)
		return fail(PMUKIT_WRONG_ARGUMENT, "the descriptor %d for the result is not open",
			    c->fd);
	if ((flags & O_ACCMODE) == O_RDONLY)
		return fail(PMUKIT_WRONG_ARGUMENT, "the descriptor %d for the result cannot be "
			    "written to", c->fd);
	return 0;
}

static int check_flags(unsigned int flags)
{
	const unsigned int known = PMUKIT_NO_KERNEL | PMUKIT_CHILDREN | PMUKIT_LABELS |
				   PMUKIT_START_PAUSED | PMUKIT_NO_CALLCHAINS | PMUKIT_UNWIND;

	if (flags & ~known)
		return fail(PMUKIT_WRONG_ARGUMENT, "pmukit_profile_config.flags has unknown bits: "
			    "0x%x", flags & ~known);
	if (flags & PMUKIT_NO_CALLCHAINS && flags & PMUKIT_UNWIND)
		return fail(PMUKIT_WRONG_ARGUMENT, "PMUKIT_NO_CALLCHAINS and PMUKIT_UNWIND exclude "
			    "each other");
	return 0;
}

int profile_given(struct pmukit_profile_config *own, const struct pmukit_profile_config *given)
{
	const size_t least = offsetof(struct pmukit_profile_config, options) + sizeof(void *);

	*own = (struct pmukit_profile_config){ .size = sizeof(*own), .result = PMUKIT_RECORDS };
	if (!given)
		return 0;
	int status = structure_given(own, sizeof(*own), least, given, "pmukit_profile_config");
	if (status < 0)
		return status;
	if (own->period && own->frequency)
		return fail(PMUKIT_WRONG_ARGUMENT, "period and frequency are both given");
	if (own->pid < 0)
		return fail(PMUKIT_WRONG_ARGUMENT, "pmukit_profile_config.pid is %d: it is not a "
			    "process", (int)own->pid);
	for (const char *const *o = own->options; o && *o; o++)
		if (check_option(*o) < 0)
			return PMUKIT_WRONG_ARGUMENT;
	return check_flags(own->flags) < 0 ? PMUKIT_WRONG_ARGUMENT : check_result(own);
}

static void add(struct profile_arguments *a, const char *text)
{
	a->item = array_grow(a->item, a->count, sizeof(*a->item));
	a->item[a->count++] = text ? mem_text(text) : NULL;
}

static void add_number(struct profile_arguments *a, const char *option, uint64_t number)
{
	char text[64];

	snprintf(text, sizeof(text), "%s=%" PRIu64, option, number);
	add(a, text);
}

void profile_arguments_make(struct profile_arguments *a, const struct pmukit_profile_config *given,
			    int control)
{
	static const struct { unsigned int flag; const char *option; } by_flag[] = {
		{ PMUKIT_NO_KERNEL, "--all-user" }, { PMUKIT_CHILDREN, "--children" },
		{ PMUKIT_LABELS, "--labels" }, { PMUKIT_START_PAUSED, "--delay=-1" },
		{ PMUKIT_UNWIND, "--unwind" },
	};
	char text[64];

	add(a, "pmu-sample");	/* also for pmukit: it is then this tool */
	snprintf(text, sizeof(text), "--control=fd:%d,%d,%d", control, control, (int)getpid());
	add(a, text);
	add_number(a, "--pid", (uint64_t)(given->pid ? given->pid : getpid()));
	for (const char *const *event = given->events; event && *event; event++) {
		add(a, "--event");
		add(a, *event);
	}
	if (given->period)
		add_number(a, "--period", given->period);
	if (given->frequency)
		add_number(a, "--frequency", given->frequency);
	if (!(given->flags & PMUKIT_NO_CALLCHAINS))
		add(a, "--call-graph=auto");
	for (size_t i = 0; i < sizeof(by_flag) / sizeof(*by_flag); i++)
		if (given->flags & by_flag[i].flag)
			add(a, by_flag[i].option);
	for (const char *const *option = given->options; option && *option; option++)
		add(a, *option);
	add(a, NULL);
}

void profile_arguments_release(struct profile_arguments *a)
{
	for (size_t i = 0; i < a->count; i++)
		free(a->item[i]);
	free(a->item);
}
