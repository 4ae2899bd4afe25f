/* SPDX-License-Identifier: Apache-2.0 */
#include "show/value.h"
#include "record/words.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scale {
	double from;		/* the smallest size that is written so; 0: any */
	double by;		/* how many of the unit one of these is */
	const char *suffix;
	int places;		/* after the decimal point, at most */
};

static const struct scale times[] = {
	{ 0, 1, "ns", 0 }, { 1e2, 1e3, "us", 1 }, { 1e5, 1e6, "ms", 1 }, { 1e9, 1e9, "s", 2 },
	{ 1e14, 3.6e12, "h", 1 }, { 3.6e16, 3.15576e16, "y", 2 }, { 0, 0, NULL, 0 },
};

static const struct scale counts[] = {
	{ 0, 1, "", 0 }, { 1e7, 1e6, "M", 2 }, { 1e9, 1e9, "G", 2 }, { 1e12, 1e12, "T", 2 },
	{ 1e15, 1e15, "P", 2 }, { 1e18, 1e18, "E", 2 }, { 0, 0, NULL, 0 },
};

/* Write VALUE, a count that is not a whole number, below 1 in size. */
static void format_fraction(char text[VALUE_SIZE], double value)
{
	if (fabs(value) < 1e-4 || snprintf(text, VALUE_SIZE, "%.3g", value) > VALUE_WIDTH)
		snprintf(text, VALUE_SIZE, "%.0e", value);
}

/*
 * Write VALUE in SCALE, with as many places as fit.  Return whether it fits: a value that is
 * rounded up to the next scale does not.
 */
static bool format_in(char text[VALUE_SIZE], double value, const struct scale *scale)
{
	int most = scale == counts && value != trunc(value) ? 1 : scale->places;

	for (int places = most; places >= 0; places--) {
		int length = snprintf(text, VALUE_SIZE, "%.*f%s", places, value / scale->by,
				      scale->suffix);
		double rounded = fabs(strtod(text, NULL)) * scale->by;
		if (length <= VALUE_WIDTH && (!scale[1].suffix || rounded < scale[1].from))
			return true;
	}
	return false;
}

void value_format(char text[VALUE_SIZE], double value, const char *unit)
{
	const struct scale *scale = !strcmp(unit, UNIT_TIME) ? times : counts;

	if (value == 0 && scale == times) {
		snprintf(text, VALUE_SIZE, "0.0ms");
		return;
	}
	if (fabs(value) < 1 && value != 0 && scale == counts) {
		format_fraction(text, value);
		return;
	}
	while (scale[1].suffix && fabs(value) >= scale[1].from)
		scale++;
	while (!format_in(text, value, scale) && scale[1].suffix)
		scale++;
}

void value_print(double value, const char *unit, FILE *out)
{
	char text[VALUE_SIZE];

	value_format(text, value, unit);
	fprintf(out, "%*s", VALUE_WIDTH + 1, text);
}
