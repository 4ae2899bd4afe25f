/* SPDX-License-Identifier: Apache-2.0 */
#include "compose/internal.h"
#include "elf/program-kind.h"

#include <string.h>

int callgraph_open_program(const struct callgraph_target *t)
{
	if (t->program)
		return program_open_command(t->program);
	return t->pid ? program_open_process(t->pid) : -1;
}

/* Return the options for many programs, T. */
static struct callgraph_options options_of_many(const struct callgraph_target *t)
{
	if (t->waits)
		return (struct callgraph_options){
			.call_graph = "fp",
			.why = "by frame pointers, as there may be very many context switches; "
			       "--call-graph dwarf unwinds",
		};
	return (struct callgraph_options){
		.unwind = "2%,64Mi",
		.why = "unwound with at most 2 % of the CPU time, and by frame pointers beyond "
		       "that",
	};
}

/* Return the options for the program of T. */
static struct callgraph_options options_of_program(const struct callgraph_target *t)
{
	switch (program_kind(callgraph_open_program(t))) {
	case PROGRAM_32_BITS:
		return (struct callgraph_options){
			.call_graph = "fp",
			.why = "by frame pointers, as the program has 32 bits, which cannot be "
			       "unwound",
		};
	case PROGRAM_GO:
		return (struct callgraph_options){
			.unwind = "needed",
			.why = "by frame pointers, as in a Go program without cgo, or unwound, if "
			       "more than 5 % of the first second's stacks lack callers",
		};
	default:
		return (struct callgraph_options){
			.unwind = "always", .why = "unwound, as it works without frame pointers",
		};
	}
}

static struct callgraph_options options_of(const struct callgraph_target *t)
{
#if !defined(__x86_64__) && !defined(__aarch64__)
	return (struct callgraph_options){
		.call_graph = "fp",
		.why = "by frame pointers, as stacks of this architecture cannot be unwound",
	};
#endif
	if (!t->can_unwind)
		return (struct callgraph_options){
			.call_graph = "fp",
			.why = "by frame pointers, as this pmu-sample has no --unwind",
		};
	return t->is_many ? options_of_many(t) : options_of_program(t);
}

struct callgraph_options callgraph_options(const struct callgraph_target *t, const char *method)
{
	if (!strcmp(method, "auto"))
		return options_of(t);
	bool unwinds = t->can_unwind && !strncmp(method, "dwarf", strlen("dwarf"));
	return (struct callgraph_options){ .call_graph = method,
					   .unwind = unwinds ? "always" : NULL };
}
