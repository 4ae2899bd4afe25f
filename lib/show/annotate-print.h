/* SPDX-License-Identifier: Apache-2.0 */
/* annotate-print - prints an annotation as text, and as an HTML page. */
#pragma once
#include "show/annotate.h"
#include "show/bars-print.h"
#include "show/page-asset.h"

#include <stdio.h>

struct annotate_view {
	const char *type, *unit;	/* of the values */
	const char *title;	/* name of the profile */
	const char *tool;	/* name and version */
	enum bars_how bars;
	struct ratio_column *ratio;	/* columns after the shares */
	size_t ratios;
	size_t columns;		/* width of the terminal; 0: lines are not shortened */
};

/* Print A as text to OUT. */
void annotate_print(struct annotate *a, const struct annotate_view *view, FILE *out);

/* Print A to OUT as an HTML page that needs nothing else. */
void annotate_print_page(struct annotate *a, const struct annotate_view *view, FILE *out);

/* The style of the page: made by the build from annotate.css. */
extern const struct page_asset annotate_style;
