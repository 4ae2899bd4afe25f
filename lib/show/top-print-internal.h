/* SPDX-License-Identifier: Apache-2.0 */
/* Shared inside top-print: a top that is being printed, and what all formats print of it. */
#pragma once
#include "show/top-print.h"

/* Numbers of calls, sorted by row and then by size; those of a row are next to each other. */
struct sorted_calls {
	const struct top *t;
	bool by_caller;
	uint32_t *order;
	uint32_t *first;	/* by row: index in ORDER of its first call; ROWS + 1 items */
};

struct top_printing {
	struct top *t;
	const struct top_view *view;
	FILE *out;
	double whole;		/* what shares are shares of; 0: they are 0 */
	struct sorted_calls callers, callees;	/* of each row; only if T has calls */
	const struct bars *bars;	/* of T; NULL: none */
	struct bars_left left;	/* rows that a table leaves out */
	uint32_t *row;		/* those that are printed, in order */
	uint32_t rows;
	size_t objects;		/* columns of the widest object in a table; 0: not printed */
};

/* Return the row at the other end of CALL, or its name. */
uint32_t top_other_end(const struct sorted_calls *s, uint32_t call);
const char *top_name_at_other_end(const struct sorted_calls *s, uint32_t call);

/* Return VALUE as a share of the whole. */
double top_share_of(const struct top_printing *p, double value);

/* Return the share of ROW's value: that of its bar makes up for what was lost. */
double top_share(const struct top_printing *p, uint32_t row, enum bars_of kind);

/* Return the value of CALL as a share of ROW's. */
double top_share_of_call(const struct sorted_calls *s, uint32_t row, uint32_t call);

/* Return how many of the calls of ROW, the largest, are shown. */
uint32_t top_calls_shown(const struct top_printing *p, const struct sorted_calls *s, uint32_t row);

/* Return the ratio number I of ROW, of the cost that the table is sorted by. */
struct ratio top_ratio_in(const struct top_printing *p, uint32_t row, size_t i);

/* Return whether ROW costs nothing by itself: a flat table has it only if it was asked for. */
bool top_is_caller_only(const struct top_printing *p, uint32_t row);

/* Return whether a table has ROW, if there is room. */
bool top_is_in_table(const struct top_printing *p, uint32_t row);

/* The formats. */
void top_text_head(struct top_printing *p);
void top_text_row(struct top_printing *p, uint32_t row, bool is_first);
void top_text_foot(struct top_printing *p);
void top_json_head(struct top_printing *p);
void top_json_row(struct top_printing *p, uint32_t row, bool is_first);
void top_json_foot(struct top_printing *p);
void top_csv_head(struct top_printing *p);
void top_csv_row(struct top_printing *p, uint32_t row, bool is_first);
