/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses as one JSON object. */
#include "base/json.h"
#include "show/access-internal.h"

#include <inttypes.h>

/* Print the members that all sums have, the first of their object. */
static void print_sums(const struct access_printing *p, const struct access_sums *sums)
{
	fprintf(p->out, "\"samples\": %" PRIu64 ", \"periods\": %.0f, \"loads\": %" PRIu64
		", \"stores\": %" PRIu64 ", \"elsewhere\": %" PRIu64 ", \"weighed\": %" PRIu64
		", \"weight\": %" PRIu64, sums->samples, sums->total, sums->loads, sums->stores,
		sums->elsewhere, sums->weighed, sums->weight);
	if (sums->weighed)
		fprintf(p->out, ", \"latency\": %.6g", access_mean_weight(sums));
}

static void print_bar(const struct bars *b, uint32_t row, const char *key)
{
	if (!b->row)
		return;
	json_key(key, false);
	bars_print_json(b, &b->row[row + 1].bar[BARS_FLAT]);
}

static void print_limit(const struct access_printing *p, const char *key, bool has, uint64_t value)
{
	if (has)
		fprintf(p->out, ", \"%s\": %" PRIu64, key, value);
	else
		fprintf(p->out, ", \"%s\": null", key);
}

static void print_percentiles(const struct access_printing *p, uint32_t row)
{
	struct access_percentile is;

	for (int i = 0; p->a->how.weights && i < ACCESS_PERCENTILES; i++) {
		if (!access_percentile(p->a, row, access_percentiles[i], &is))
			return;
		json_key(access_percentile_name[i], false);
		fprintf(p->out, "{\"value\": %" PRIu64, is.value);
		print_limit(p, "low", is.has_low, is.low);
		print_limit(p, "high", is.has_high, is.high);
		fputc('}', p->out);
	}
}

static void print_parts(const struct access_printing *p, uint32_t row)
{
	json_key(p->a->how.by == ACCESS_BY_THREAD ? "objects" : "functions", false);
	fputc('[', p->out);
	for (uint32_t i = 0; i < access_parts_of(p, row); i++) {
		const struct access_part *part = access_part_at(p, row, i);
		fputs(i ? ", {" : "{", p->out);
		print_sums(p, &part->sums);
		json_text("name", access_part_name(p, part));
		fputc('}', p->out);
	}
	fputc(']', p->out);
}

static void print_line_parts(const struct access_printing *p, uint32_t row)
{
	json_key("accesses", false);
	fputc('[', p->out);
	for (uint32_t i = 0; i < access_parts_of(p, row); i++) {
		const struct access_part *part = access_part_at(p, row, i);
		fputs(i ? ",\n  {" : "\n  {", p->out);
		print_sums(p, &part->sums);
		fprintf(p->out, ", \"offset\": %" PRIu64 ", \"pid\": %d, \"tid\": %d",
			part->offset, part->pid, part->tid);
		json_text("thread", p->a->names.text[part->thread]);
		json_text("function", p->a->names.text[part->function]);
		json_text("object", p->a->names.text[part->object]);
		if (part->has_offset)
			fprintf(p->out, ", \"object_offset\": %" PRIu64, part->object_offset);
		fputc('}', p->out);
	}
	fputc(']', p->out);
}

static void print_line(const struct access_printing *p, uint32_t row)
{
	const struct access_row *r = &p->a->row[row];

	fprintf(p->out, ", \"address\": \"0x%" PRIx64 "\", \"is_physical\": %s",
		access_line_address(p, row), r->is_physical ? "true" : "false");
	if (r->pid)
		fprintf(p->out, ", \"pid\": %d", r->pid);
	fprintf(p->out, ", \"threads\": %" PRIu32 ", \"shared_offsets\": %" PRIu32,
		access_threads(p->a, &p->parts, row),
		access_shared_offsets(p->a, &p->parts, row));
	if (p->a->all.elsewhere)
		print_bar(&p->elsewhere, row, "elsewhere_bar");
	print_line_parts(p, row);
}

static void print_row(const struct access_printing *p, uint32_t row)
{
	char name[ACCESS_NAME_SIZE];

	access_row_name(p, row, name);
	print_sums(p, &p->a->row[row].sums);
	json_text("name", name);
	if (p->a->row[row].file)
		json_text("file", p->a->names.text[p->a->row[row].file]);
	print_bar(&p->bars, row, "bar");
	print_percentiles(p, row);
	if (p->a->how.by == ACCESS_BY_THREAD)
		fprintf(p->out, ", \"pid\": %d, \"tid\": %d", p->a->row[row].pid,
			p->a->row[row].tid);
	if (p->a->how.by == ACCESS_BY_LINE)
		print_line(p, row);
	else
		print_parts(p, row);
}

void access_print_json(struct access_printing *p)
{
	struct access_sums rest = p->a->others;
	uint64_t lines;

	if (p->a->how.by == ACCESS_BY_LINE)
		rest = access_uncontended(p, &lines);
	fprintf(p->out, "{\"by\": \"%s\"", access_by_name[p->a->how.by]);
	json_text("event", p->view->facts->event);
	fprintf(p->out, ", \"events\": %" PRIu32 ", \"without_address\": %" PRIu64
		", \"total\": %.0f, \"count\": %" PRIu32, p->view->facts->events,
		p->view->facts->without, p->a->all.total, p->count);
	if (p->a->how.by == ACCESS_BY_LINE)
		fprintf(p->out, ", \"line_bytes\": %" PRIu64, p->a->how.line);
	bars_print_json_head(&p->bars);
	fprintf(p->out, ", \"others\": {\"samples\": %" PRIu64 ", \"periods\": %.0f}"
		", \"rows\": [", rest.samples, rest.total);
	for (uint32_t i = 0; i < access_rows_shown(p); i++) {
		fputs(i ? ",\n{" : "\n{", p->out);
		print_row(p, p->order[i]);
		fputc('}', p->out);
	}
	fputs("\n]}\n", p->out);
}
