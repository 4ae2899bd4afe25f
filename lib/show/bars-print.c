/* SPDX-License-Identifier: Apache-2.0 */
#include "show/bars-print.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* If a larger part of the samples was lost, bars show the worst case instead of the estimate. */
#define MUCH_LOST 0.05

const char bars_note[] = "+/- covers chance in sampling and change within the recording, not "
			 "differences between runs, machines or inputs.";

static bool is_run(const struct share_bar *bar, enum bars_how how)
{
	return how == BARS_RUN || (how == BARS_AUTO && bar->is_marked);
}

bool bars_marks(const struct share_bar *bar, enum bars_how how)
{
	return how == BARS_AUTO && bar->is_marked;
}

bool bars_may_be_zero(const struct bars *b, const struct share_bar *bar, enum bars_how how)
{
	struct share_bar run = *bar;

	if (b->keeps_few || b->whole.is_complete || bar->is_measured ||
	    bar->share >= bars_least(b))
		return false;	/* few long phases have few effective samples, but a wide bar */
	if (!is_run(bar, how))
		return share_may_be_zero(bar);
	run.is_exact = bar->floor <= 0;
	double scale = b->whole.total / (b->whole.total + b->whole.measured);
	run.effective = run.is_exact ? 0
			: scale * scale * bar->sampled * (1 - bar->sampled) / bar->floor;
	return share_may_be_zero(&run);
}

void bars_keep_most(struct bars *b, enum bars_how how)
{
	double few = 0, all = 0;

	b->keeps_few = false;
	for (uint32_t i = 1; i < b->sums[BARS_FLAT].rows; i++) {
		const struct share_bar *bar = b->row[i].bar;
		double share = bar[BARS_FLAT].share;
		all += share;
		few += bars_may_be_zero(b, &bar[BARS_CUMULATIVE], how) ? share : 0;
	}
	b->keeps_few = few > all / 4;
}

/* Return NUMBER, which is not negative, rounded up to a multiple of STEP. */
static double round_up(double number, double step)
{
	return ceil(number / step - 1e-9) * step;
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
	bars_print_percent(round_up(number, step) / 100, out);
}

void bars_print_head(const struct bars *b, FILE *out)
{
	char count[UNITS_SIZE];

	units_format_grouped(count, (uint64_t)nearbyint(b->taken));
	fputs(count, out);
	fputs(b->taken == 1 ? " sample" : " samples", out);
	if (b->whole.most > 0)
		fprintf(out, ", worth %.0f of equal weight", b->whole.most);
	if (b->whole.runs > 1)
		fprintf(out, " in %" PRIu32 " runs", b->whole.runs);
	if (bars_lost(b) > MUCH_LOST) {
		fputs("; +/-: if all lost samples were of one row\n", out);
		return;
	}
	fputs("; a share is within +/- in 95 of 100 recordings", out);
	if (!b->has_slices)
		fputs(", if it does not change over time (pmu-topprof --slices 20)", out);
	else if (b->whole.price[0] == 0)
		fputs(", if it does not change over time (too short to tell)", out);
	fputc('\n', out);
}

static double worst_low(const struct bars *b, double low)
{
	return low * (1 - bars_lost(b));
}

static double worst_high(const struct bars *b, double high)
{
	return high * (1 - bars_lost(b)) + bars_lost(b);
}

/* The bar as it is shown. */
struct bounds {
	double low, high;
	bool is_exact;
};

static struct bounds bounds_of(const struct bars *b, const struct share_bar *bar,
			       enum bars_how how)
{
	bool run = is_run(bar, how), much = bars_lost(b) > MUCH_LOST;
	double low = run ? bar->low_run : bar->low, high = run ? bar->high_run : bar->high;

	if (bar->is_selected) {
		low = bar->low_selected;
		high = bar->high_selected;
	}

	if (much)
		return (struct bounds){ worst_low(b, low), worst_high(b, high), false };
	if (bar->is_exact || (run && b->whole.is_complete))
		return (struct bounds){ bar->share, bar->share, true };
	return (struct bounds){ low, high, false };
}

bool bars_half(const struct bars *b, const struct share_bar *bar, enum bars_how how, double *half)
{
	struct bounds it = bounds_of(b, bar, how);

	*half = round_up(50 * (it.high - it.low), 0.01);	/* as it is printed */
	return !it.is_exact;
}

bool bars_leave_out(const struct bars *b, const struct share_bar *flat,
		    const struct share_bar *cumulative, enum bars_how how, struct bars_left *left)
{
	if (!bars_may_be_zero(b, cumulative, how))
		return false;
	left->few++;
	left->share += flat->share;
	left->high = fmax(left->high, bounds_of(b, cumulative, how).high);
	return true;
}

/* Allow for the choice in the bars of ROW, unless it is sure to be larger than a share of CUT. */
static bool select_row(struct bars *b, uint32_t row, enum bars_of kind, enum bars_how how,
		       double level, double cut)
{
	struct share_bar bar[BARS_KINDS];

	for (int i = 0; i < BARS_KINDS; i++) {
		struct share_part part = bars_part(b, row, (enum bars_of)i);
		bar[i] = b->row[row].bar[i];
		share_select(&b->whole, &part, is_run(&bar[i], how), level, &bar[i]);
	}
	if (!bar[kind].is_selected || bar[kind].low_selected > cut)
		return false;
	memcpy(b->row[row].bar, bar, sizeof(bar));
	return true;
}

uint64_t bars_select(struct bars *b, const uint32_t *row, uint32_t count, uint64_t most,
		     enum bars_of kind, enum bars_how how)
{
	uint32_t *shown = mem_zeroed(count, sizeof(*shown)), n = 0;
	uint64_t unsure = 0;
	double cut = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct share_bar *bar = b->row[row[i]].bar;
		if (n < most && !bars_may_be_zero(b, &bar[BARS_CUMULATIVE], how))
			shown[n++] = row[i];
		else
			cut = fmax(cut, bar[kind].share);
	}
	for (uint32_t i = 0; i < n && n < count; i++)
		unsure = select_row(b, shown[i], kind, how, 0.05 * n / count, cut) ? unsure + 1 : 0;
	free(shown);
	return unsure;
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
	struct bounds it = bounds_of(b, bar, how);

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
		fputs(" of samples were lost; were they all of one function, its share would be up "
		      "to ", out);
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
	json_string(bars_note);
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
		printf(", \"low_worst\": %.6f, \"high_worst\": %.6f", worst_low(b, bar->low),
		       worst_high(b, bar->high));
	putchar('}');
}
