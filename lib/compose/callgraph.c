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

/*
 * Return whether T's callchains should be unwound instead of following frame pointers.  Set *WHY
 * to the reason, which completes a sentence.
 */
static bool is_better_unwound(const struct callgraph_target *t, const char **why)
{
	static const char *const reasons[] = {
		[PROGRAM_UNKNOWN] = "it works without frame pointers",
		[PROGRAM_32_BITS] = "the program has 32 bits, which cannot be unwound",
		[PROGRAM_GO] = "a Go program without cgo has them in all its code",
		[PROGRAM_GO_AND_C] = "it works without frame pointers",
		[PROGRAM_OTHER] = "it works without frame pointers",
	};

#if !defined(__x86_64__) && !defined(__aarch64__)
	*why = "stacks of this architecture cannot be unwound";
	return false;
#endif
	*why = "this pmu-sample has no --unwind";
	if (!t->can_unwind)
		return false;
	*why = "for many programs they cost least; --call-graph dwarf unwinds";
	if (t->is_many)
		return false;
	enum program_kind kind = program_kind(callgraph_open_program(t));
	*why = reasons[kind];
	return kind != PROGRAM_32_BITS && kind != PROGRAM_GO;
}

struct callgraph_options callgraph_options(const struct callgraph_target *t, const char *method)
{
	struct callgraph_options o = { .call_graph = method };

	if (!strcmp(method, "auto")) {
		o.unwind = is_better_unwound(t, &o.why);
		o.call_graph = o.unwind ? NULL : "fp";
	} else {
		o.unwind = t->can_unwind && !strncmp(method, "dwarf", strlen("dwarf"));
	}
	return o;
}
