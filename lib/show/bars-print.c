/* SPDX-License-Identifier: Apache-2.0 */
#include "show/bars-print.h"
#include "base/json.h"
#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char complete_note[] = "all events were recorded: shares are exact for this "
				    "recording, and say nothing about another";

const char *bars_note(const struct bars *b)
{
	return b->whole.is_complete ? complete_note
	       : "+/- covers chance in sampling and change within the recording, not differences "
		 "between runs, machines or inputs.";
}

const char *bars_noun(const struct bars *b)
{
	return b->has_contentions ? "contention" : "sample";
}

/* Print NUMBER with two digits, or as an integer if that has more. */
static void print_two_digits(double number, FILE *out)
{
	fprintf(out, number < 99.5 ? "%.2g" : "%.0f", number);
}

void bars_print_percent(double share, FILE *out)
{
	print_two_digits(100 * share, out);
	fputs(" %", out);
}

/* Print a limit: it is rounded up, so that no share is above it. */
static void print_limit(double share, FILE *out)
{
	double number = 100 * share, step = 1;

	while (number > 0 && number < 10 * step && step > 1e-6)
		step /= 10;
	bars_print_percent(bars_round_up(number, step) / 100, out);
}

void bars_print_head(const struct bars *b, FILE *out)
{
	char count[UNITS_SIZE];

	units_format_grouped(count, (uint64_t)nearbyint(b->taken));
	fprintf(out, "%s %s%s", count, bars_noun(b), b->taken == 1 ? "" : "s");
	if (b->whole.most > 0)
		fprintf(out, ", worth %.0f of equal weight", b->whole.most);
	if (b->whole.runs > 1)
		fprintf(out, " in %" PRIu32 " runs", b->whole.runs);
	if (bars_show_worst(b)) {
		fprintf(out, "; +/-: if all lost %ss were of one row\n", bars_noun(b));
		return;
	}
	if (b->whole.is_complete) {
		fprintf(out, "; %s\n", complete_note);
		return;
	}
	fputs("; a share is within +/- in 95 of 100 recordings", out);
	if (!b->has_slices)
		fputs(", if it does not change over time (pmu-topprof --slices 20)", out);
	else if (b->whole.price[0] == 0)
		fputs(", if it does not change over time (too short to tell)", out);
	fputc('\n', out);
}

void bars_print_half(const struct bars *b, const struct share_bar *bar, enum bars_how how,
		     FILE *out)
{
	double half;

	fputc(bars_marks(bar, how) ? '~' : ' ', out);
	if (bars_half(b, bar, how, &half))
		fprintf(out, " %5.2f", half);
	else
		fputs(" exact", out);
}

void bars_print_csv(const struct bars *b, const struct share_bar *bar, enum bars_how how,
		    FILE *out)
{
	struct bars_bounds it = bars_bounds(b, bar, how);

	fprintf(out, "%.6f,%.6f,%s,", it.low, it.high, bars_marks(bar, how) ? "~" : "");
}

void bars_print_foot(const struct bars *b, const struct bars_left *left, const char *row_kind,
		     FILE *out)
{
	double lost = bars_lost(b);

	if (left->any_mark)
		fputs("~ this share rose or fell during the recording: another run may differ by "
		      "more than +/-.\n", out);
	if (left->unsure)
		fprintf(out, "the order of the last %" PRIu64 " %s%s is chance; +/- allows for "
			"this choice.\n", left->unsure, row_kind, left->unsure == 1 ? "" : "s");
	if (left->few) {
		bool one = left->few == 1;

		fprintf(out, "%" PRIu64 " more %s%s, too rare to measure (%s", left->few, row_kind,
			one ? "" : "s", one ? "under " : "each under ");
		print_limit(left->high, out);
		fprintf(out, one ? "), takes %.1f %%.\n" : "), take %.1f %% together.\n",
			100 * left->share);
	}
	if (lost > 0) {
		bars_print_percent(lost, out);
		fprintf(out, " of %ss were lost; were they all of one function, its share would "
			"be up to ", bars_noun(b));
		print_two_digits(100 * lost, out);
		fputs(" points higher.\n", out);
	}
	if (b->whole.runs == 2)
		fputs("+/- does not include differences between runs: this needs three runs or "
		      "more.\n", out);
}

void bars_print_json_head(const struct bars *b)
{
	if (b->why_not) {
		json_text("no_bars", b->why_not);
		return;
	}
	printf(", \"samples\": %.0f, \"spans\": %" PRIu32 ", \"runs\": %" PRIu32
	       ", \"lost\": %.0f, \"lost_share\": %.6f, \"note\": ", b->taken,
	       b->whole.price[0] > 0 ? b->spans : 0, b->whole.runs, b->lost, bars_lost(b));
	json_string(bars_note(b));
}

void bars_print_json(const struct bars *b, const struct share_bar *bar)
{
	printf("{\"share\": %.6f, \"low\": %.6f, \"high\": %.6f, \"low_run\": %.6f"
	       ", \"high_run\": %.6f, \"deff\": ", bar->share, bar->low, bar->high, bar->low_run,
	       bar->high_run);
	if (bar->floor > 0)
		printf("%.4g", bar->variance / bar->floor);
	else
		printf("null");
	printf(", \"exact\": %s, \"mark\": %s", bar->is_exact ? "true" : "false",
	       bar->is_marked ? "true" : "false");
	if (bar->is_selected)
		printf(", \"low_selected\": %.6f, \"high_selected\": %.6f", bar->low_selected,
		       bar->high_selected);
	if (b->lost > 0)
		printf(", \"low_worst\": %.6f, \"high_worst\": %.6f", bars_worst_low(b, bar->low),
		       bars_worst_high(b, bar->high));
	putchar('}');
}
