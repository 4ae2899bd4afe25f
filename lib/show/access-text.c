/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses as tables for people. */
#include "base/text.h"
#include "base/units.h"
#include "record/words.h"
#include "show/access-internal.h"
#include "show/name-print.h"
#include "show/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Print the first line of a table. */
static void print_title(const struct access_printing *p, const char *rows)
{
	const struct access_facts *f = p->view->facts;

	fputs(f->event ? f->event : "", p->out);
	if (f->events > 1)
		fprintf(p->out, " and %" PRIu32 " more", f->events - 1);
	fprintf(p->out, ": %s\n", rows);
	if (!p->bars.why_not)
		bars_print_head(&p->bars, p->out);
}

/* Print the share of ROW with its bar. */
static void print_share(const struct access_printing *p, uint32_t row)
{
	const struct share_bar *bar = p->bars.row ? &p->bars.row[row + 1].bar[BARS_FLAT] : NULL;
	double whole = p->a->all.total;

	fprintf(p->out, " %6.2f%%", 100 * (bar ? bar->share : whole <= 0 ? 0
					   : p->a->row[row].sums.total / whole));
	if (bar)
		bars_print_half(&p->bars, bar, BARS_AUTO, p->out);
}

/* Print the percentiles of ROW on a line, each with its interval: "p50 123 [110,150]". */
static void print_percentiles(const struct access_printing *p, uint32_t row)
{
	for (int i = 0; p->a->how.weights && i < ACCESS_PERCENTILES; i++) {
		struct access_percentile is;
		char low[24] = "-", high[24] = "-";
		if (!access_percentile(p->a, row, access_percentiles[i], &is))
			return;
		if (is.has_low)
			snprintf(low, sizeof(low), "%" PRIu64, is.low);
		if (is.has_high)
			snprintf(high, sizeof(high), "%" PRIu64, is.high);
		fprintf(p->out, "%s%s %" PRIu64 " [%s,%s]%s", i ? "  " : "         latency: ",
			access_percentile_name[i], is.value, low, high,
			i + 1 < ACCESS_PERCENTILES ? "" : "\n");
	}
}

/* Print the mean weight of SUMS in 8 columns. */
static void print_mean(const struct access_printing *p, const struct access_sums *sums)
{
	if (!p->view->facts->has_weights)
		return;
	if (sums->weighed)
		value_print(access_mean_weight(sums), "cycles", p->out);
	else
		fprintf(p->out, " %*s", VALUE_WIDTH, "-");
}

/* Print what a row and a part have in common.  Return the columns. */
static size_t print_counts(const struct access_printing *p, const struct access_sums *sums)
{
	size_t columns = 18;

	fprintf(p->out, " %8" PRIu64 " %8" PRIu64, sums->loads, sums->stores);
	if (p->view->facts->has_sources) {
		fprintf(p->out, " %9" PRIu64, sums->elsewhere);
		columns += 10;
	}
	print_mean(p, sums);
	return columns + (p->view->facts->has_weights ? VALUE_WIDTH + 1 : 0);
}

static void print_counts_head(const struct access_printing *p)
{
	fputs("    loads   stores", p->out);
	if (p->view->facts->has_sources)
		fputs(" elsewhere", p->out);
	if (p->view->facts->has_weights)
		fprintf(p->out, " %*s", VALUE_WIDTH, "latency");
}

static void print_head(const struct access_printing *p, const char *last)
{
	bool bars = p->bars.row != NULL;

	fprintf(p->out, " samples  share%%%s", bars ? "    +/-" : "");
	print_counts_head(p);
	fprintf(p->out, "  %s\n", last);
}

/* Print the largest parts of ROW: functions, or objects. */
static void print_parts(const struct access_printing *p, uint32_t row)
{
	enum { BEFORE_NAME = 24 };
	const double least = 0.01;
	uint32_t count = access_parts_of(p, row);
	double total = p->a->row[row].sums.total;

	if (count == 1 && !strcmp(access_part_name(p, access_part_at(p, row, 0)), WORD_UNKNOWN))
		return;
	for (uint32_t i = 0; i < count && i < ACCESS_FUNCTIONS; i++) {
		const struct access_part *part = access_part_at(p, row, i);
		double share = total > 0 ? part->sums.total / total : 0;
		if (share < least && i > 0)
			break;
		fprintf(p->out, "%*s%5.1f%%  ", BEFORE_NAME - 8, "", 100 * share);
		name_end_line(access_part_name(p, part), p->view->columns, BEFORE_NAME, p->out);
	}
}

/* Print NAME at the end of a line, and the FILE that it is in, if it is not "". */
static void print_name(const struct access_printing *p, const char *name, const char *file,
		       size_t used)
{
	size_t after = *file ? text_width(file) + 3 : 0, columns = p->view->columns;

	if (!*file) {
		name_end_line(name, columns, used, p->out);
		return;
	}
	name_print(name, columns > used + after ? columns - used - after : 0, p->out);
	fprintf(p->out, " (%s)\n", file);
}

static void print_row(const struct access_printing *p, uint32_t row)
{
	const struct access_sums *sums = &p->a->row[row].sums;
	bool bars = p->bars.row != NULL;
	char name[ACCESS_NAME_SIZE];
	size_t used = 16 + (bars ? 7 : 0) + 2;

	fprintf(p->out, "%8" PRIu64, sums->samples);
	print_share(p, row);
	used += print_counts(p, sums);
	access_row_name(p, row, name);
	fputs("  ", p->out);
	print_name(p, name, p->a->names.text[p->a->row[row].file], used);
	print_percentiles(p, row);
	print_parts(p, row);
}

/* Print the rows that are in no row of their own. */
static void print_others(const struct access_printing *p, const struct access_sums *sums,
			 const char *why)
{
	char samples[UNITS_SIZE];

	if (sums->samples == 0)
		return;
	units_format_grouped(samples, sums->samples);
	fprintf(p->out, WORD_OTHER " %s sample%s, %.2f%%: %s\n", samples,
		sums->samples == 1 ? "" : "s",
		p->a->all.total > 0 ? 100 * sums->total / p->a->all.total : 0, why);
}

/* Print what the table leaves out, and the notes on bars. */
static void print_foot(struct access_printing *p, const char *kind, uint64_t unsure)
{
	uint32_t shown = access_rows_shown(p);
	struct bars_left left = { .unsure = unsure };

	for (uint32_t i = 0; p->bars.row && i < shown; i++)
		left.any_mark |= bars_marks(&p->bars.row[p->order[i] + 1].bar[BARS_FLAT],
					    BARS_AUTO);
	if (shown < p->count)
		fprintf(p->out, "%" PRIu32 " more %ss; --to csv has all.\n", p->count - shown,
			kind);
	print_others(p, &p->a->others, p->a->how.by == ACCESS_BY_LINE
		     ? "part of them: lines with few samples, when there was no more room"
		     : "rows with few samples, when there was no more room");
	if (p->bars.row)
		bars_print_foot(&p->bars, &left, kind, p->out);
	if (p->view->facts->without)
		fprintf(p->out, "%" PRIu64 " samples without a data address are in no row.\n",
			p->view->facts->without);
}

/* Allow in the bars for the choice of the rows that are shown. */
static uint64_t select_rows(struct access_printing *p)
{
	uint32_t *row = mem_zeroed((size_t)p->count + 1, sizeof(*row));
	uint64_t unsure = 0;

	for (uint32_t i = 0; i < p->count; i++)
		row[i] = p->order[i] + 1;
	if (p->bars.row && p->count > p->view->rows)
		unsure = bars_select(&p->bars, row, p->count, p->view->rows, BARS_FLAT,
				     BARS_AUTO);
	free(row);
	return unsure;
}

void access_print_text(struct access_printing *p)
{
	static const char *const kinds[ACCESS_WAYS] = {
		[ACCESS_BY_OBJECT] = "object", [ACCESS_BY_SOURCE] = "source",
		[ACCESS_BY_THREAD] = "thread", [ACCESS_BY_LINE] = "line",
		[ACCESS_BY_FIELD] = "field",
	};
	const char *kind = kinds[p->a->how.by];
	uint64_t unsure = select_rows(p);
	char title[80];

	snprintf(title, sizeof(title), "accesses by %s, %" PRIu32 " %s%s", kind, p->count, kind,
		 p->count == 1 ? "" : "s");
	print_title(p, title);
	print_head(p, kind);
	for (uint32_t i = 0; i < access_rows_shown(p); i++)
		print_row(p, p->order[i]);
	print_foot(p, kind, unsure);
}

/* --- lines --- */

/* Print the rows of ROW, a line: who accessed what in it. */
static void print_line_parts(const struct access_printing *p, uint32_t row)
{
	uint32_t count = access_parts_of(p, row);

	fputs("  offset  samples", p->out);
	print_counts_head(p);
	fputs("  thread                  function, object\n", p->out);
	for (uint32_t i = 0; i < count && i < ACCESS_LINE_PARTS; i++) {
		const struct access_part *part = access_part_at(p, row, i);
		char thread[80], offset[24], object[ACCESS_NAME_SIZE];
		size_t used = 17;

		snprintf(offset, sizeof(offset), "+0x%" PRIx64, part->offset);
		fprintf(p->out, "%8s %8" PRIu64, offset, part->sums.samples);
		used += print_counts(p, &part->sums) + 26;
		snprintf(thread, sizeof(thread), "%.15s/%d", p->a->names.text[part->thread],
			 part->tid);
		text_make_safe(thread);	/* the cut may be inside a character */
		size_t width = text_width(thread);
		fprintf(p->out, "  %s%*s  ", thread, width < 22 ? (int)(22 - width) : 0, "");
		size_t half = p->view->columns > used + 20 ? (p->view->columns - used) / 2 : 0;
		used += name_print(access_part_name(p, part), half, p->out) + 2;
		access_place_name(p, part, object);
		fputs("  ", p->out);
		name_end_line(object, p->view->columns, used, p->out);
	}
	if (count > ACCESS_LINE_PARTS)
		fprintf(p->out, "         %" PRIu32 " more\n", count - ACCESS_LINE_PARTS);
}

/* Print the share of ROW, PART of WHOLE, with its bar in a sentence: "12.57% +/- 0.12 of ". */
static void print_share_of(const struct bars *b, uint32_t row, double part, double whole,
			   FILE *out)
{
	const struct share_bar *bar = b->row ? &b->row[row + 1].bar[BARS_FLAT] : NULL;
	double half;

	fprintf(out, "%.2f%%", 100 * (bar ? bar->share : whole > 0 ? part / whole : 0));
	if (bar && bars_half(b, bar, BARS_AUTO, &half))
		fprintf(out, " +/- %.2f%s", half, bars_marks(bar, BARS_AUTO) ? "~" : "");
	fputs(" of ", out);
}

static void print_line(const struct access_printing *p, uint32_t row, uint32_t number)
{
	const struct access_row *r = &p->a->row[row];
	uint32_t threads = access_threads(p->a, &p->parts, row);
	uint32_t shared = access_shared_offsets(p->a, &p->parts, row);
	char name[ACCESS_NAME_SIZE];

	access_row_name(p, row, name);
	fprintf(p->out, "\nline %" PRIu32 ": %s0x%" PRIx64, number,
		r->is_physical ? "physical " : "", access_line_address(p, row));
	if (r->pid)
		fprintf(p->out, " of process %d", r->pid);
	fprintf(p->out, ", %" PRIu32 " threads, ", threads);
	name_end_line(name, 0, 0, p->out);
	fputs("  ", p->out);
	print_share_of(&p->bars, row, r->sums.total, p->a->all.total, p->out);
	fputs("accesses", p->out);
	if (p->a->all.elsewhere) {
		fputs(", ", p->out);
		print_share_of(&p->elsewhere, row, r->sums.total_elsewhere,
			       p->a->all.total_elsewhere, p->out);
		fputs("those that found a line modified elsewhere", p->out);
	}
	if (shared)
		fprintf(p->out, "\n  %" PRIu32 " offset%s used by several threads: they share "
			"data\n", shared, shared == 1 ? " is" : "s are");
	else
		fputs("\n  each offset is used by one thread: false sharing, which padding "
		      "prevents\n", p->out);
	print_percentiles(p, row);
	print_line_parts(p, row);
}

void access_print_lines(struct access_printing *p)
{
	uint64_t unsure = select_rows(p), lines;
	struct access_sums rest = access_uncontended(p, &lines);
	char title[120], why[120];

	snprintf(title, sizeof(title), "%" PRIu32 " cache line%s of %" PRIu64 " bytes that threads "
		 "contend for", p->count, p->count == 1 ? "" : "s", p->a->how.line);
	print_title(p, title);
	for (uint32_t i = 0; i < access_rows_shown(p); i++)
		print_line(p, p->order[i], i + 1);
	if (p->count)
		fputc('\n', p->out);
	snprintf(why, sizeof(why), "%s%" PRIu64 " line%s used by one thread, or only read",
		 p->a->rows_left_out ? "about " : "", lines, lines == 1 ? " is" : "s are");
	print_others(p, &rest, why);
	print_foot(p, "line", unsure);
}
