/* SPDX-License-Identifier: Apache-2.0 */
#include "show/access-print.h"
#include "record/data-source.h"
#include "record/words.h"
#include "show/access-internal.h"

#include <inttypes.h>
#include <stdlib.h>

const char *const access_format_name[ACCESS_FORMATS + 1] = {
	[ACCESS_TEXT] = "text", [ACCESS_JSON] = "json", [ACCESS_CSV] = "csv",
	[ACCESS_PPROF] = "pprof", NULL
};

const char *const access_by_name[ACCESS_WAYS + 1] = {
	[ACCESS_BY_OBJECT] = "object", [ACCESS_BY_LINE] = "line", [ACCESS_BY_SOURCE] = "source",
	[ACCESS_BY_THREAD] = "thread", [ACCESS_BY_FIELD] = "field", NULL
};

const double access_percentiles[ACCESS_PERCENTILES] = { 0.5, 0.9, 0.99 };
const char *const access_percentile_name[ACCESS_PERCENTILES] = { "p50", "p90", "p99" };

const struct access_part *access_part_at(const struct access_printing *p, uint32_t row, uint32_t i)
{
	return &p->a->part[p->parts.order[p->parts.first[row] + i]];
}

const char *access_part_name(const struct access_printing *p, const struct access_part *part)
{
	const char *name = p->a->names.text[part->function ? part->function : part->object];

	return *name ? name : WORD_UNKNOWN;
}

uint64_t access_line_address(const struct access_printing *p, uint32_t row)
{
	return p->a->row[row].key * p->a->how.line;
}

void access_place_name(const struct access_printing *p, const struct access_part *part,
		       char name[ACCESS_NAME_SIZE])
{
	const char *object = p->a->names.text[part->object];

	if (part->has_offset)
		snprintf(name, ACCESS_NAME_SIZE, "%s+0x%" PRIx64, object, part->object_offset);
	else
		snprintf(name, ACCESS_NAME_SIZE, "%s", object);
}

void access_row_name(const struct access_printing *p, uint32_t row, char name[ACCESS_NAME_SIZE])
{
	const struct access_row *r = &p->a->row[row];
	const char *text = p->a->names.text[r->name];

	if (p->a->how.by == ACCESS_BY_SOURCE) {
		data_source_place_name(r->key, name, ACCESS_NAME_SIZE);
	} else if (p->a->how.by == ACCESS_BY_THREAD) {
		snprintf(name, ACCESS_NAME_SIZE, "%s/%d", text, r->tid);
	} else if (p->a->how.by == ACCESS_BY_LINE && access_parts_of(p, row)) {
		access_place_name(p, access_part_at(p, row, 0), name);
	} else {
		snprintf(name, ACCESS_NAME_SIZE, "%s", text);
	}
}

struct access_sums access_uncontended(const struct access_printing *p, uint64_t *lines)
{
	struct access_sums sums = p->a->others;

	*lines = p->a->rows_left_out;
	for (uint32_t i = 0; i < p->a->rows; i++)
		if (!access_is_contended(&p->a->row[i])) {
			sums.samples += p->a->row[i].sums.samples;
			sums.total += p->a->row[i].sums.total;
			++*lines;
		}
	return sums;
}

void access_print(struct accesses *a, const struct access_view *view, enum access_format format,
		  FILE *out)
{
	struct access_printing p = { .a = a, .view = view, .out = out };

	access_sort_weights(a);
	access_shares(&p.bars, a, view->facts, ACCESS_OF_ALL);
	access_shares(&p.elsewhere, a, view->facts, ACCESS_OF_ELSEWHERE);
	p.order = access_order_rows(a, &p.count);
	p.parts = access_parts_sorted(a);
	if (format == ACCESS_JSON)
		access_print_json(&p);
	else if (format == ACCESS_CSV)
		access_print_csv(&p);
	else if (a->how.by == ACCESS_BY_LINE)
		access_print_lines(&p);
	else
		access_print_text(&p);
	access_parts_release(&p.parts);
	bars_release(&p.bars);
	bars_release(&p.elsewhere);
	free(p.order);
}
