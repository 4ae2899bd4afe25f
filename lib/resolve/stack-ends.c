/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/stack-ends.h"
#include "record/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const name[STACK_ENDS] = {
	[STACK_NO_CODE] = "no code", [STACK_DUMP] = "dump too short",
	[STACK_NO_INFORMATION] = "no unwind information", [STACK_ONE_FRAME] = "one frame",
};

/*
 * Return whether the recorder with this COMMAND, or pmu-unwind after it, has unwound all stacks,
 * though the event has no copies of stacks.
 */
static bool is_unwound(const char *command)
{
	if (!command)
		return false;
	const char *program = strstr(command, " -- ");
	size_t size = program ? (size_t)(program - command) : strlen(command);
	bool itself = memmem(command, size, " --unwind", 9) || memmem(command, size, " --waits", 8);

	return strstr(command, WORD_UNWOUND) ||
	       (itself && !memmem(command, size, "--call-graph", 12));
}

bool stack_ends_follows(struct stack_ends *s, const struct perf_event_attr *attr,
			const struct stream_origin *origin)
{
	if (s->command != origin->command) {
		s->command = origin->command;
		s->is_unwound = is_unwound(s->command);
	}
	return attr->sample_type & PERF_SAMPLE_CALLCHAIN && !attr->exclude_callchain_user &&
	       !(attr->sample_type & PERF_SAMPLE_STACK_USER) &&
	       !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK) && !s->is_unwound;
}

const char *stack_end_name(enum stack_end end)
{
	static const char *const mark[STACK_ENDS] = {
		[STACK_NO_CODE] = WORD_NO_CODE, [STACK_DUMP] = WORD_SHORT_DUMP,
		[STACK_NO_INFORMATION] = WORD_NO_UNWINDING,
		[STACK_ONE_FRAME] = WORD_NO_UNWINDING,
	};

	return mark[end];
}

void stack_ends_add(struct stack_ends *s, const struct perf_event_attr *attr,
		    const struct stream_origin *origin, const struct sample *sample,
		    enum stack_end end, struct report *report)
{
	stack_ends_count(s, end, stack_ends_follows(s, attr, origin));
	if (sample->user_stack.size == 0 || !(attr->sample_type & PERF_SAMPLE_REGS_USER))
		return;
	if (s->dumps++ == 0)
		report_note(report, "samples hold stacks that were not unwound: put pmu-unwind "
			    "before %s", report->tool);
}

static uint64_t total(const uint64_t count[STACK_ENDS])
{
	uint64_t sum = 0;

	for (int i = STACK_WHOLE; i < STACK_ENDS; i++)
		sum += count[i];
	return sum;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

void stack_ends_text(const struct stack_ends *s, char *text, size_t size)
{
	uint64_t all = total(s->count);
	size_t used = 0;

	*text = '\0';
	for (int i = STACK_NO_CODE; i < STACK_ENDS && used < size; i++)
		if (s->count[i])
			used += (size_t)snprintf(text + used, size - used, "%s%.1f %% %s",
						 used ? ", " : "", percent(s->count[i], all),
						 name[i]);
}

void stack_ends_report(const struct stack_ends *s, struct report *report)
{
	enum { FEW = 20, MANY = 5 };	/* stacks that say little; percent */
	uint64_t all = total(s->followed);
	uint64_t cut = s->followed[STACK_NO_CODE] + s->followed[STACK_ONE_FRAME];
	bool many = all >= FEW && percent(cut, all) > MANY;
	char text[256];

	if (many && s->java > cut / 2)
		report_note(report, "%.0f %% of the stacks lack callers (Java's compiled code "
			    "keeps no frame pointers): start Java with -XX:+PreserveFramePointer",
			    percent(cut, all));
	else if (many)
		report_note(report, "%.0f %% of the stacks lack callers (code without frame "
			    "pointers): record with --unwind", percent(cut, all));
	stack_ends_text(s, text, sizeof(text));
	if (total(s->count))
		report_summary(report, "%" PRIu64 " stacks of programs%s%s", total(s->count),
			       *text ? ", cut: " : "", text);
	if (s->dumps)
		report_summary(report, "%" PRIu64 " stack dumps were not unwound", s->dumps);
}
