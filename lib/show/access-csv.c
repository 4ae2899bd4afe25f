/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses as CSV, RFC 4180.  Of a line, each part is a row. */
#include "show/access-internal.h"
#include "show/csv.h"

#include <inttypes.h>

static void print_sums(const struct access_printing *p, const struct access_sums *sums)
{
	fprintf(p->out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", sums->samples,
		sums->loads, sums->stores, sums->elsewhere);
	if (sums->weighed)
		fprintf(p->out, "%.6g", access_mean_weight(sums));
	fputc(',', p->out);
}

static void print_share(const struct access_printing *p, uint32_t row)
{
	const struct share_bar *bar = p->bars.row ? &p->bars.row[row + 1].bar[BARS_FLAT] : NULL;
	double all = p->a->all.total;

	fprintf(p->out, "%.6f,", bar ? bar->share : all > 0 ? p->a->row[row].sums.total / all : 0);
	if (bar)
		bars_print_csv(&p->bars, bar, BARS_AUTO, p->out);
	else
		fputs(",,,", p->out);
}

static void print_percentiles(const struct access_printing *p, uint32_t row)
{
	struct access_percentile is;

	for (int i = 0; p->a->how.weights && i < ACCESS_PERCENTILES; i++) {
		if (access_percentile(p->a, row, access_percentiles[i], &is))
			fprintf(p->out, "%" PRIu64, is.value);
		fputc(',', p->out);
	}
}

static void print_line_parts(const struct access_printing *p, uint32_t row)
{
	for (uint32_t i = 0; i < access_parts_of(p, row); i++) {
		const struct access_part *part = access_part_at(p, row, i);
		fprintf(p->out, "0x%" PRIx64 ",%d,%" PRIu64 ",", access_line_address(p, row),
			p->a->row[row].pid, part->offset);
		print_share(p, row);
		print_sums(p, &part->sums);
		fprintf(p->out, "%d,", part->tid);
		csv_text(p->a->names.text[part->thread], p->out);
		fputc(',', p->out);
		csv_text(p->a->names.text[part->function], p->out);
		if (part->has_offset)
			fprintf(p->out, ",%" PRIu64 ",", part->object_offset);
		else
			fputs(",,", p->out);
		csv_text(p->a->names.text[part->object], p->out);
		fputs("\r\n", p->out);
	}
}

void access_print_csv(struct access_printing *p)
{
	bool lines = p->a->how.by == ACCESS_BY_LINE;

	fputs(lines ? "line,pid,offset,line_share,low,high,mark,samples,loads,stores,elsewhere,"
		      "latency,tid,thread,function,object_offset,object\r\n"
	      : p->a->how.weights ? "share,low,high,mark,samples,loads,stores,elsewhere,latency,"
				    "p50,p90,p99,file,name\r\n"
	      : "share,low,high,mark,samples,loads,stores,elsewhere,latency,file,name\r\n", p->out);
	for (uint32_t i = 0; i < access_rows_shown(p); i++) {
		uint32_t row = p->order[i];
		char name[ACCESS_NAME_SIZE];
		if (lines) {
			print_line_parts(p, row);
			continue;
		}
		print_share(p, row);
		print_sums(p, &p->a->row[row].sums);
		print_percentiles(p, row);
		csv_text(p->a->names.text[p->a->row[row].file], p->out);
		fputc(',', p->out);
		access_row_name(p, row, name);
		csv_text(name, p->out);
		fputs("\r\n", p->out);
	}
}
