/* SPDX-License-Identifier: Apache-2.0 */
#include "compose/counted-comparison.h"
#include "base/arena.h"
#include "counting/counting-machine.h"
#include "results/stat-vs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Return whether the values of the base are per the same unit as those of now.  False: reported. */
static bool has_same_unit(const struct counted_comparison *c, struct report *report)
{
	const char *theirs = c->earlier.per, *ours = c->per ? c->per : "";

	if (strcmp(theirs, ours))
		report_error(report, "'%s' has values per %s, but these are per %s: --per must be "
			     "the same", c->base, *theirs ? theirs : "run", *ours ? ours : "run");
	return !strcmp(theirs, ours);
}

bool counted_comparison_begin(struct counted_comparison *c, struct report *report)
{
	struct counting_rows rows = { 0 };

	if (c->base && !(earlier_read(&c->earlier, c->base, report) && has_same_unit(c, report)))
		return false;
	c->commands.make_rows(&rows, NULL, 0);
	bool good = counting_gates_resolve(&c->gates, &rows, report);
	counting_rows_release(&rows);
	return good;
}

/* Note if the base was counted on another machine. */
static void warn(const struct counted_comparison *c, struct report *report)
{
	const struct counting_machine *of = &c->earlier.machine;
	struct counting_machine here;

	counting_machine_read(&here);
	if (!counting_machine_is(of, &here))
		report_note(report, "'%s' is from another machine: %s, kernel %s, CPU %s; this is "
			    "%s, kernel %s, CPU %s", c->base, of->name, of->kernel, of->cpu,
			    here.name, here.kernel, here.cpu);
}

/* Report that the user stopped the runs: an error if the comparison decides something. */
static void report_stopped(const struct counted_comparison *c, struct report *report)
{
	size_t runs = c->commands.command[c->commands.count - 1].runs;

	if (c->gates.count)
		report_error(report, "--fail-if: stopped after %zu of %" PRIu64 " runs", runs,
			     c->commands.runs);
	else
		report_note(report, "stopped after %zu of %" PRIu64 " runs", runs,
			    c->commands.runs);
}

/* Report the runs of SIDE that failed: an error if the comparison decides something. */
static void report_failed(const struct counted_comparison *c, const struct stat_side *side,
			  struct report *report)
{
	if (side->failed && c->gates.count)
		report_error(report, "--fail-if: %zu of %zu runs of '%s' failed", side->failed,
			     side->runs, side->text);
	else if (side->failed)
		report_note(report, "%zu of %zu runs of '%s' failed", side->failed, side->runs,
			    side->text);
}

static void print_json(const void *vs)
{
	stat_vs_print_json(vs);
}

/* Compare the SIDES with the first one.  Return whether a gate is exceeded. */
static bool compare(const struct counted_comparison *c, const struct stat_side *side,
		    size_t sides, struct report *report)
{
	struct comparison *made = mem_zeroed(sides, sizeof(*made));
	const struct stat_vs view = { .side = side, .sides = sides, .comparison = made,
				      .fdr = COMPARISON_USUAL_FDR, .per = c->per,
				      .per_number = c->per_number };
	bool exceeded, is_whole = !c->commands.counting->is_stopped;

	for (size_t i = 1; i < sides; i++)
		comparison_make(&made[i - 1], side[0].rows, side[i].rows);
	comparison_judge(made, sides - 1, view.fdr);
	if (c->save && !side[sides - 1].runs)
		report_error(report, "no run was complete: '%s' stays as it was", c->save->file);
	else if (c->save)
		stat_save(c->save, print_json, &view);
	if (c->format == STAT_JSON)
		stat_vs_print_json(&view);
	else if (c->format == STAT_CSV)
		stat_vs_print_csv(&view);
	else
		stat_vs_print_text(&view);
	for (size_t i = 0; i < sides; i++) {
		report_failed(c, &side[i], report);
		is_whole &= !side[i].failed;
	}
	exceeded = is_whole &&
		   counting_gates_exceeded(&c->gates, made, sides - 1, view.fdr, report);
	for (size_t i = 0; i < sides; i++)
		comparison_release(&made[i]);
	free(made);
	return exceeded;
}

bool counted_comparison_make(struct counted_comparison *c, struct report *report)
{
	struct stat_side *side = mem_zeroed(c->commands.count + 1, sizeof(*side));
	size_t sides = 0;
	bool exceeded = false;

	if (c->base)
		side[sides++] = (struct stat_side){
			.text = c->earlier.command, .file = c->base, .rows = &c->earlier.rows,
			.runs = c->earlier.rows.runs, .failed = c->earlier.failed,
		};
	if (counted_commands_run(&c->commands, report)) {
		for (size_t i = 0; i < c->commands.count; i++) {
			const struct counted_command *command = &c->commands.command[i];
			side[sides++] = (struct stat_side){
				.text = command->text, .runs = command->runs,
				.failed = command->failed, .has_shell = command->has_shell,
				.rows = &command->rows,
			};
		}
		if (c->base)
			warn(c, report);
		exceeded = compare(c, side, sides, report);
		if (c->commands.counting->is_stopped)
			report_stopped(c, report);
	}
	free(side);
	return exceeded;
}

void counted_comparison_release(struct counted_comparison *c)
{
	counted_commands_release(&c->commands);
	counting_gates_release(&c->gates);
	earlier_release(&c->earlier);
}
