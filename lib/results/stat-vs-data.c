/* SPDX-License-Identifier: Apache-2.0 */
/* The comparisons of pmu-stat --vs for programs: CSV and JSON. */
#include "base/json.h"
#include "counting/outlying-runs.h"
#include "results/stat-print.h"
#include "results/stat-vs.h"
#include "show/csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Print a number as a field of CSV, after a comma; nothing if it is unknown. */
static void print_number(double number)
{
	putchar(',');
	if (isfinite(number))
		printf("%.15g", number);
}

static void print_csv_row(const struct stat_vs *vs, size_t side, const struct comparison_row *row)
{
	const double numbers[] = { row->base->mean, row->after->mean, row->change, row->low,
				   row->high, row->p, row->q, row->rank_p };

	csv_text(vs->side[0].text, stdout);
	putchar(',');
	csv_text(vs->side[side].text, stdout);
	putchar(',');
	csv_text(row->after->name, stdout);
	putchar(',');
	stat_print_csv_unit(row->after, vs->per);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		print_number(numbers[i]);
	printf(",%s,%s\r\n", row->is_exact ? "yes" : "no",
	       !row->is_tested ? "" : row->is_called ? "yes" : "no");
}

void stat_vs_print_csv(const struct stat_vs *vs)
{
	printf("base,new,event,unit,base_mean,new_mean,change,low,high,p,q,rank_p,exact,"
	       "called\r\n");
	for (size_t i = 1; i < vs->sides; i++)
		for (size_t k = 0; k < vs->comparison[i - 1].rows; k++)
			print_csv_row(vs, i, &vs->comparison[i - 1].row[k]);
}

/* Print the rows of SIDE, and its outliers. */
static void print_side(const struct stat_side *side)
{
	struct outlying_value *found;
	size_t count = outlying_runs_find(side->rows, &found);

	putchar('{');
	json_key("command", true);
	json_string(side->text);
	json_text("file", side->file);
	printf(", \"shell\": %s, \"runs\": %zu, \"failed\": %zu, \"rows\": [",
	       side->has_shell ? "true" : "false", side->runs, side->failed);
	for (size_t i = 0; i < side->rows->count; i++) {
		printf("%s\n", i ? "," : "");
		stat_print_json_row(&side->rows->row[i], side->rows->runs);
	}
	printf("],\n \"outliers\": [");
	for (size_t i = 0; i < count; i++) {
		printf("%s{\"run\": %zu", i ? ", " : "", found[i].run + 1);
		json_text("name", found[i].row->name);
		stat_print_json_number("value", found[i].value);
		stat_print_json_number("median", found[i].median);
		putchar('}');
	}
	printf("]}");
	free(found);
}

static void print_change(const struct comparison_row *row)
{
	static const char *const ranks[] = { [RANKS_AGREE] = "agree",
					     [RANKS_DISAGREE] = "disagree",
					     [RANKS_TOO_FEW] = "too few runs" };

	putchar('{');
	json_key("name", true);
	json_string(row->after->name);
	stat_print_json_number("base", row->base->mean);
	stat_print_json_number("new", row->after->mean);
	printf(", \"tested\": %s", row->is_tested ? "true" : "false");
	if (row->is_tested) {
		stat_print_json_number("change", row->change);
		stat_print_json_number("low", row->low);
		stat_print_json_number("high", row->high);
		printf(", \"exact\": %s", row->is_exact ? "true" : "false");
		stat_print_json_number("p", row->p);
		stat_print_json_number("q", row->q);
		printf(", \"called\": %s", row->is_called ? "true" : "false");
		stat_print_json_number("rank_p", row->rank_p);
		stat_print_json_number("rank_q", row->rank_q);
		json_text("ranks", ranks[row->ranks]);
	}
	putchar('}');
}

void stat_vs_print_json(const struct stat_vs *vs)
{
	putchar('{');
	stat_print_json_machine();
	stat_print_json_per(vs->per, vs->per_number);
	stat_print_json_number("fdr", vs->fdr);
	printf(", \"commands\": [");
	for (size_t i = 0; i < vs->sides; i++) {
		printf("%s\n", i ? "," : "");
		print_side(&vs->side[i]);
	}
	printf("],\n\"comparisons\": [");
	for (size_t i = 1; i < vs->sides; i++) {
		printf("%s\n{\"base\": 0, \"new\": %zu, \"rows\": [", i > 1 ? "," : "", i);
		for (size_t k = 0; k < vs->comparison[i - 1].rows; k++) {
			printf("%s\n", k ? "," : "");
			print_change(&vs->comparison[i - 1].row[k]);
		}
		printf("]}");
	}
	printf("]}\n");
}
