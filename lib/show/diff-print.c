/* SPDX-License-Identifier: Apache-2.0 */
#include "show/diff-print.h"
#include "base/json.h"
#include "record/words.h"
#include "show/bars-print.h"
#include "show/name-print.h"
#include "show/value.h"

#include <inttypes.h>
#include <math.h>

static bool is_time(const struct diff *d)
{
	return !strcmp(d->unit, UNIT_TIME);
}

enum { VALUE_COLUMNS = 11 };	/* width of a value */

static void format_value(const struct diff *d, bool is_total, double v, char text[VALUE_SIZE])
{
	if (d->how.per == DIFF_PER_SHARE && !is_total)
		snprintf(text, VALUE_SIZE, "%.2f %%", 100 * v);
	else
		value_format(text, v, d->unit);
}

/*
 * Print the change of R: of shares in percentage points, else in per cent of the base.  Return how
 * many columns that takes.
 */
static int print_change(const struct diff *d, const struct diff_row *r, FILE *out)
{
	char text[80];
	const char *unit = diff_is_single(d) ? "points" : "%";

	if (isinf(r->change))
		snprintf(text, sizeof(text), "-");
	else
		snprintf(text, sizeof(text), "%+.1f %s [%+.1f, %+.1f]", 100 * r->change, unit,
			 100 * r->low_called, 100 * r->high_called);
	return fprintf(out, "  %-28s", text);
}

/* Return what the values are, for the head of the table. */
static const char *value_kind(const struct diff *d)
{
	bool time = is_time(d);

	switch (d->how.per) {
	case DIFF_PER_SHARE:
		return "shares of the total";
	case DIFF_PER_SECOND:
		return time ? "time per second" : "values per second";
	case DIFF_PER_UNIT:
		return time ? "time per unit of work" : "values per unit of work";
	default:
		return time ? "time per run (right if both did the same work)"
			    : "values per run (right if both did the same work)";
	}
}

const char *const diff_verdict_name[] = {
	[VERDICT_FEW] = "few samples", [VERDICT_CHANCE] = "chance",
	[VERDICT_UNSTEADY] = "unsteady", [VERDICT_SURE] = "sure",
};

static const char *group_name(const struct diff *d, enum diff_group group)
{
	static const char *const values[] = {
		[DIFF_GREW] = "grew", [DIFF_SHRANK] = "shrank", [DIFF_NEW] = "new",
		[DIFF_GONE] = "gone", [DIFF_SAME] = "same", [DIFF_FEW] = "few samples",
	};

	if (d->how.per == DIFF_PER_SHARE && group == DIFF_GREW)
		return "takes more of the total";
	if (d->how.per == DIFF_PER_SHARE && group == DIFF_SHRANK)
		return "takes less of the total";
	return values[group];
}

static void print_head(const struct diff *d, const struct diff_view *view, FILE *out)
{
	const struct diff_runs *s = d->side;

	fprintf(out, "%s: base %zu run%s, after %zu run%s; %s%s%s%s; differences called at %g %% "
		"false discovery rate\n", d->type, s[0].count, s[0].count == 1 ? "" : "s",
		s[1].count, s[1].count == 1 ? "" : "s", value_kind(d), view->unit ? " (" : "",
		view->unit ? view->unit : "", view->unit ? ")" : "", 100 * d->how.fdr);
	for (size_t i = 0; d->how.paired && i < s[0].count; i++)
		fprintf(out, "pair %zu: %s%s%s, %s%s%s\n", i + 1, s[0].run[i].file,
			*s[0].run[i].name ? " run " : "", s[0].run[i].name, s[1].run[i].file,
			*s[1].run[i].name ? " run " : "", s[1].run[i].name);
}

/* Print how long the recording of SIDE took, if it has only one. */
static void print_length(const struct diff *d, enum diff_side side, FILE *out)
{
	const struct diff_run *r = d->side[side].run;
	char text[VALUE_SIZE];

	if (!diff_is_single(d) || r->duration <= 0)
		return;
	value_format(text, (double)r->duration, UNIT_TIME);
	fprintf(out, " in %s", text);
}

static void print_total(const struct diff *d, FILE *out)
{
	const struct diff_row *t = &d->total;
	char base[VALUE_SIZE], after[VALUE_SIZE];

	format_value(d, true, t->base, base);
	format_value(d, true, t->after, after);
	fprintf(out, "total %s", base);
	print_length(d, DIFF_BASE, out);
	fprintf(out, " -> %s", after);
	print_length(d, DIFF_AFTER, out);
	if (diff_is_single(d))
		fprintf(out, " (with one run on each side, noise cannot be ruled out)\n");
	else if (d->has_total_test)
		fprintf(out, "  %+.1f %% [%+.1f, %+.1f]\n", 100 * t->change, 100 * t->low,
			100 * t->high);
	else
		fputc('\n', out);
}

/* Return how much R adds to the change of the total, in percentage points of the base's total. */
static double points(const struct diff *d, const struct diff_row *r)
{
	return d->total.base > 0 ? 100 * (r->after - r->base) / d->total.base : 0;
}

/* Return how R changed, in a word. */
static const char *direction(const struct diff_row *r)
{
	return r->base <= 0 ? "new" : r->after <= 0 ? "gone" : r->after > r->base ? "more" : "less";
}

static void print_row(const struct diff *d, const struct diff_view *view, const struct diff_row *r,
		      FILE *out)
{
	char base[VALUE_SIZE], after[VALUE_SIZE];

	format_value(d, false, r->base, base);
	format_value(d, false, r->after, after);
	int used = fprintf(out, "%*s -> %*s", VALUE_COLUMNS, base, VALUE_COLUMNS, after);
	used += print_change(d, r, out);
	used += fprintf(out, "  q %-7.2g", r->q);
	if (d->how.per != DIFF_PER_SHARE)
		used += fprintf(out, " %+6.2f", points(d, r));
	used += fprintf(out, "  %-4s  ", direction(r));
	name_end_line(r->name, view->columns, used > 0 ? (size_t)used : 0, out);
}

/* Print what VERDICT means, before its rows. */
static void print_verdict(const struct diff *d, enum verdict verdict, FILE *out)
{
	if (verdict == VERDICT_SURE)
		fputs("sure changes, the largest first", out);
	else
		fprintf(out, "large, but unsteady: differs as much %s", diff_is_single(d)
			? "within a run" : "between runs of one side");
	fputs(d->how.per == DIFF_PER_SHARE ? "\n" : " (with points of the total)\n", out);
}

/* Print the rows with VERDICT. */
static void print_rows(const struct diff *d, const struct diff_view *view, enum verdict verdict,
		       FILE *out)
{
	uint64_t shown = 0, more = 0;

	for (size_t i = 0; i < d->rows; i++) {
		if (d->row[i].verdict != verdict)
			continue;
		if (shown + more == 0)
			print_verdict(d, verdict, out);
		if (shown < view->rows) {
			print_row(d, view, &d->row[i], out);
			shown++;
		} else {
			more++;
		}
	}
	if (more)
		fprintf(out, "%*s%" PRIu64 " more\n", 2, "", more);
}

/* Return the largest row with VERDICT, or NULL.  Set *COUNT to the number of these rows. */
static const struct diff_row *largest(const struct diff *d, enum verdict verdict, size_t *count)
{
	const struct diff_row *first = NULL;

	*count = 0;
	for (size_t i = 0; i < d->rows; i++)
		if (d->row[i].verdict == verdict) {
			first = first ? first : &d->row[i];
			++*count;
		}
	return first;
}

/* Print COUNT with the word for rows: functions, objects, stacks ... */
static void print_row_count(const struct diff *d, size_t count, FILE *out)
{
	fprintf(out, "%zu %s%s", count, top_row_kind(&d->how.rows), count == 1 ? "" : "s");
}

/* Print how many runs or samples would show a change of R by SMALLEST, if that is known. */
static void print_needed(const struct diff *d, const struct diff_row *r, double smallest,
			 FILE *out)
{
	enum { MANY = 10 };	/* a prediction above this multiple of the present data is vague */
	double needed = diff_needed(d, r, smallest), most = MANY * diff_has(d);
	bool is_single = diff_is_single(d);

	if (!(needed > 0 && isfinite(needed)))
		return;
	if (is_single && needed > most)
		fputs("; several runs of each side (-b a1 -b a2 ...) show less, such as ", out);
	else
		fprintf(out, "; %s %.0f %s of each side would show ",
			needed > most ? "more than" : "about", fmin(needed, most),
			is_single ? "samples" : "runs");
	bars_print_percent(smallest, out);
}

static void print_unchanged(const struct diff *d, const struct diff_view *view, FILE *out)
{
	size_t count;
	const struct diff_row *r = largest(d, VERDICT_CHANCE, &count);

	if (!r)
		return;
	double seen = diff_change_seen(d, r);
	print_row_count(d, count, out);
	fprintf(out, ": no change found. Of '%s', the largest, ", r->name);
	if (seen > 10) {
		fputs("these runs can show no change, unless it is gone", out);
	} else {
		fputs("these runs would have shown only changes above ", out);
		bars_print_percent(seen, out);
	}
	print_needed(d, r, view->smallest, out);
	fputs(".\n", out);
}

static void print_foot(const struct diff *d, FILE *out)
{
	size_t few;

	if (largest(d, VERDICT_FEW, &few)) {
		print_row_count(d, few, out);
		fputs(": too few samples (under 5 per run) to compare.\n", out);
	}
	if (!diff_is_single(d))
		return;
	fputs("one run a side: differences between runs are not in this. Of programs that do much "
	      "in a few long bursts, 10 to 15 % differ so from themselves. Give several: "
	      "pmu-diff -b a1 -b a2 -b a3 b1 b2 b3\n", out);
	if (!d->side[0].run[0].bars.has_slices || !d->side[1].run[0].bars.has_slices)
		fputs("phases of the program are not included: use pmu-topprof --slices\n", out);
}

void diff_print(const struct diff *d, const struct diff_view *view, FILE *out)
{
	print_head(d, view, out);
	print_total(d, out);
	print_rows(d, view, VERDICT_SURE, out);
	print_rows(d, view, VERDICT_UNSTEADY, out);
	print_unchanged(d, view, out);
	print_foot(d, out);
}

/* Print KEY with NUMBER, or with null if NUMBER is infinite. */
static void json_number(const char *key, double number)
{
	json_key(key, false);
	if (isfinite(number))
		printf("%.9g", number);
	else
		printf("null");
}

static void print_json_row(const struct diff *d, const struct diff_row *r, bool is_first)
{
	printf("%s\n{", is_first ? "" : ",");
	json_key("name", true);
	json_string(r->name);
	json_text("group", group_name(d, r->group));
	json_text("verdict", diff_verdict_name[r->verdict]);
	json_number("base", r->base);
	json_number("after", r->after);
	if (r->group != DIFF_FEW) {
		json_number("change", r->change);
		json_number("low", r->low);
		json_number("high", r->high);
		if (r->group < DIFF_SAME) {
			json_number("low_called", r->low_called);
			json_number("high_called", r->high_called);
		}
		json_number("p", r->p);
		json_number("q", r->q);
		printf(", \"called\": %s", r->group < DIFF_SAME ? "true" : "false");
	}
	if (d->how.per != DIFF_PER_SHARE)
		json_number("points", points(d, r));
	putchar('}');
}

void diff_print_json(const struct diff *d, const struct diff_view *view)
{
	static const char *const per[] = {
		[DIFF_PER_RUN] = "run", [DIFF_PER_SECOND] = "second", [DIFF_PER_SHARE] = "share",
		[DIFF_PER_UNIT] = "unit",
	};

	printf("{\"type\": ");
	json_string(d->type);
	json_text("unit", d->unit);
	json_text("per", view->unit ? view->unit : per[d->how.per]);
	printf(", \"base_runs\": %zu, \"after_runs\": %zu, \"fdr\": %.9g, \"tested\": %zu"
	       ", \"change_of\": \"%s\", \"total\": {\"base\": %.9g, \"after\": %.9g",
	       d->side[0].count, d->side[1].count, d->how.fdr, d->tested,
	       diff_is_single(d) ? "share" : "base", d->total.base, d->total.after);
	if (!diff_is_single(d) && d->has_total_test) {
		json_number("change", d->total.change);
		json_number("low", d->total.low);
		json_number("high", d->total.high);
		json_number("p", d->total.p);
	}
	printf("}, \"rows\": [");
	for (size_t i = 0; i < d->rows; i++)
		print_json_row(d, &d->row[i], i == 0);
	fputs("\n]}\n", stdout);
}
