/* SPDX-License-Identifier: Apache-2.0 */
/* Shared inside access-print: what is being printed. */
#pragma once
#include "show/access-print.h"

enum {
	ACCESS_NAME_SIZE = 640,
	ACCESS_PERCENTILES = 3,
	ACCESS_FUNCTIONS = 3,	/* of a row in a table */
	ACCESS_LINE_PARTS = 12,	/* of a line in a table */
};

extern const double access_percentiles[ACCESS_PERCENTILES];
extern const char *const access_percentile_name[ACCESS_PERCENTILES];

struct access_printing {
	const struct accesses *a;
	const struct access_view *view;
	FILE *out;
	struct bars bars;	/* of all accesses */
	struct bars elsewhere;	/* of those that found a line modified in another cache */
	uint32_t *order, count;	/* rows to print, and their number */
	struct access_parts parts;
};

/* Write the name of ROW to NAME; of a line, the object and offset of its costliest part. */
void access_row_name(const struct access_printing *p, uint32_t row, char name[ACCESS_NAME_SIZE]);

/* Write the object of PART, and the offset in it, to NAME. */
void access_place_name(const struct access_printing *p, const struct access_part *part,
		       char name[ACCESS_NAME_SIZE]);

/* Return part number I of ROW. */
const struct access_part *access_part_at(const struct access_printing *p, uint32_t row, uint32_t i);

/* Return the number of parts of ROW. */
static inline uint32_t access_parts_of(const struct access_printing *p, uint32_t row)
{
	return p->parts.first[row + 1] - p->parts.first[row];
}

/* Return the name of a part: its function, or the object that a thread accessed. */
const char *access_part_name(const struct access_printing *p, const struct access_part *part);

/* Return the first address of ROW, a line. */
uint64_t access_line_address(const struct access_printing *p, uint32_t row);

/* Return the rows that are printed. */
static inline uint32_t access_rows_shown(const struct access_printing *p)
{
	return p->count < p->view->rows ? p->count : (uint32_t)p->view->rows;
}

/* Return the sums of the rows that are not lines to print: of one thread, or only read. */
struct access_sums access_uncontended(const struct access_printing *p, uint64_t *lines);

/* The formats. */
void access_print_text(struct access_printing *p);
void access_print_lines(struct access_printing *p);
void access_print_json(struct access_printing *p);
void access_print_csv(struct access_printing *p);
