/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/internal.h"

#include <stdlib.h>

static void measure_all(struct facts *all)
{
	struct chosen chosen;

	survey_machine(all);
	if (!survey_stopped(all))
		survey_events(all);
	if (!survey_stopped(all))
		survey_branches(all);
	if (!survey_stopped(all))
		survey_addresses(all);
	if (!survey_stopped(all)) {
		survey_choose(&chosen);
		survey_rates(all, &chosen);
	}
	if (!survey_stopped(all))
		survey_counts(all);
	if (!survey_stopped(all))
		survey_accuracy(all);
	if (survey_stopped(all))
		facts_add(all, "report", "interrupted", "the rest was not measured");
}

void survey_print(const struct survey_options *options, struct report *report)
{
	struct facts all = { .options = options };
	struct output copy;

	if (options->file) {
		output_open_whole(&copy, options->file, false, report);
		all.copy = &copy;
	}
	measure_all(&all);
	if (options->json)
		facts_print_json(&all);
	if (options->file)
		output_close(&copy);
	free(all.fact);
}
