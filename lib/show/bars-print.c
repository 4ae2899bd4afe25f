/* SPDX-License-Identifier: Apache-2.0 */
#include "show/bars-print.h"
#include "base/json.h"

#include <inttypes.h>
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

	if (bar->share >= bars_least(b))
		return false;	/* few long phases have few effective samples, but a wide bar */
	if (!is_run(bar, how))
		return share_may_be_zero(bar);
	run.is_exact = bar->floor <= 0;
	run.effective = run.is_exact ? 0 : bar->share * (1 - bar->share) / bar->floor;
	return share_may_be_zero(&run);
}

/* Print COUNT, below 10^15, with commas between thousands. */
static void print_count(double count, FILE *out)
{
	char digits[32];
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%.0f", count);

	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%c", i > 0 && (n - i) % 3 == 0 ? "," : "", digits[i]);
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

void bars_print_head(const struct bars *b, FILE *out)
{
	print_count(b->taken, out);
	fputs(b->taken == 1 ? " sample" : " samples", out);
	if (b->whole.price[0] > 0)
		fprintf(out, ", %" PRIu32 " spans of time", b->spans);
	if (b->whole.runs > 1)
		fprintf(out, "%s %" PRIu32 " runs", b->whole.price[0] > 0 ? " in" : ",",
			b->whole.runs);
	if (!b->has_slices)
		fputs(", no spans of time (pmu-topprof --slices 20)", out);
	else if (b->whole.price[0] == 0)
		fputs(", too short for spans of time", out);
	fputs(bars_lost(b) > MUCH_LOST ? "; +/-: if all lost samples were of one row\n"
				       : "; +/-: 95 %\n", out);
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

	if (much)
		return (struct bounds){ worst_low(b, low), worst_high(b, high), false };
	if (bar->is_exact || (run && b->whole.is_complete))
		return (struct bounds){ bar->share, bar->share, true };
	return (struct bounds){ low, high, false };
}

bool bars_half(const struct bars *b, const struct share_bar *bar, enum bars_how how, double *half)
{
	struct bounds it = bounds_of(b, bar, how);

	*half = 50 * (it.high - it.low);
	return !it.is_exact;
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
		fputs("~ changes over the recording: +/- holds for this recording; another one may "
		      "differ by more.\n", out);
	if (left->few) {
		fprintf(out, "%" PRIu64 " %s%s below what ", left->few, row_kind,
			left->few == 1 ? "" : "s");
		print_count(b->taken, out);
		fputs(" samples can tell (each under ", out);
		bars_print_percent(bars_least(b), out);
		fprintf(out, "), together %.1f %%.\n", 100 * left->share);
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
	if (b->lost > 0)
		printf(", \"low_worst\": %.6f, \"high_worst\": %.6f", worst_low(b, bar->low),
		       worst_high(b, bar->high));
	putchar('}');
}
