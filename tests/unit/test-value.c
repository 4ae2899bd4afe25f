/* SPDX-License-Identifier: Apache-2.0 */
/* value: each size and unit fits in its column, and is the number. */
#include "show/value.h"
#include "tests/unit/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct good {
	double value;
	const char *unit, *text;
};

static const struct good some[] = {
	{ 0, "count", "0" }, { 0, "nanoseconds", "0.0ms" }, { 17250, "count", "17250" },
	{ 9999999, "count", "9999999" }, { 17250000, "count", "17.25M" },
	{ 8982000000, "count", "8.98G" }, { 999999999, "count", "1.00G" },
	{ 30093e9, "count", "30.09T" }, { 9.3e18, "bytes", "9.30E" }, { 1e19, "count", "10.00E" },
	{ -9999999, "count", "-10.00M" }, { -123456789, "count", "-123.5M" },
	{ 749000000, "nanoseconds", "749.0ms" }, { 2480000000, "nanoseconds", "2.48s" },
	{ 999990000, "nanoseconds", "1.00s" }, { 1592970e6, "nanoseconds", "1593.0s" },
	{ -120.04e6, "nanoseconds", "-120ms" },
	{ -999.9e6, "nanoseconds", "-1.00s" }, { 360000e9, "nanoseconds", "100.0h" },
	{ 1e19, "nanoseconds", "316.88y" },
	{ 12345678, "count", "12.35M" }, { 114000000, "nanoseconds", "114.0ms" },
	{ 12, "nanoseconds", "12ns" }, { 99.6, "nanoseconds", "0.1us" },
	{ 12500, "nanoseconds", "12.5us" }, { 99999, "nanoseconds", "0.1ms" },
	{ 1234.56, "count", "1234.6" }, { 123456.7, "count", "123457" },
	{ 0.5625, "count", "0.562" }, { 0.9996, "count", "1" }, { 0.000123, "count", "1e-04" },
	{ 0.0001, "count", "0.0001" }, { 11125000, "count", "11.12M" },
};

static double scale_of(const char *suffix)
{
	static const struct good scales[] = {
		{ 1, "", "" }, { 1e6, "", "M" }, { 1e9, "", "G" }, { 1e12, "", "T" },
		{ 1, "", "ns" }, { 1e3, "", "us" },
		{ 1e15, "", "P" }, { 1e18, "", "E" }, { 1e6, "", "ms" }, { 1e9, "", "s" },
		{ 3.6e12, "", "h" }, { 3.15576e16, "", "y" },
	};

	for (size_t i = 0; i < sizeof(scales) / sizeof(*scales); i++)
		if (!strcmp(scales[i].text, suffix))
			return scales[i].value;
	return 0;
}

/* Return whether VALUE fits, and its text is the number: to 1 %, or half of its unit of time. */
static bool is_right(double value, const char *unit)
{
	char text[VALUE_SIZE], *end;

	value_format(text, value, unit);
	double number = strtod(text, &end), scale = scale_of(end);
	double error = fabs(number * scale - value);
	if (strlen(text) <= VALUE_WIDTH && scale > 0 &&
	    (error <= 0.01 * fabs(value) || (error <= 0.501 * scale && scale <= 1e6)))
		return true;
	printf("# %.17g %s: \"%s\"\n", value, unit, text);
	return false;
}

int main(void)
{
	static const char *const units[] = { "count", "nanoseconds", "bytes", "" };
	char text[VALUE_SIZE];
	bool right = true;

	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		value_format(text, some[i].value, some[i].unit);
		if (strcmp(text, some[i].text) != 0)
			printf("# %.17g %s: \"%s\", not \"%s\"\n", some[i].value, some[i].unit,
			       text, some[i].text);
		right &= !strcmp(text, some[i].text);
	}
	tap(right, "a value has the unit that suits its size");
	right = true;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		for (double value = 1; value <= 1.0001e19; value *= 1.003)
			right &= is_right(floor(value), units[i]) &&
				 is_right(-floor(value), units[i]);
	tap(right, "values from 1 to 10^19, and negative ones, fit in their column");
	right = true;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		for (double ten = 1; ten < 1e20; ten *= 10)
			for (int k = -2; k <= 2; k++)
				right &= is_right(ten + k, units[i]) &&
					 is_right(ten * (1 - 4e-6 * k), units[i]);
	tap(right, "so do the values next to the powers of ten");
	return tap_done();
}
