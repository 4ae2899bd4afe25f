/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit_suffix {
	const char *name;
	uint64_t factor;
};

static const struct unit_suffix counts[] = {
	{ "", 1 },
	{ "k", 1000 }, { "K", 1000 }, { "M", 1000000 }, { "G", 1000000000 },
	{ "Ki", 1 << 10 }, { "Mi", 1 << 20 }, { "Gi", 1 << 30 },
	{ "T", 1000000000000 }, { "Ti", 1ULL << 40 },
	{ NULL, 0 }
};

static const struct unit_suffix durations[] = {
	{ "", 1000000000 }, { "s", 1000000000 },
	{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 },
	{ "m", 60000000000 }, { "min", 60000000000 }, { "h", 3600000000000 },
	{ NULL, 0 }
};

/* Return the factor of the unit TEXT, or 0 if it is not a unit. */
static uint64_t factor_of(const struct unit_suffix *unit, const char *text)
{
	while (unit->name && strcmp(unit->name, text))
		unit++;
	return unit->factor;
}

bool units_parse_count(const char *text, uint64_t *count)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;	/* strtoull() would accept a sign or spaces */
	errno = 0;
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	unsigned long long number = strtoull(text, &end, hex ? 16 : 10);
	uint64_t factor = factor_of(counts, end);
	return !errno && factor && !__builtin_mul_overflow(number, factor, count);
}

bool units_parse_duration(const char *text, uint64_t *ns)
{
	uint64_t fraction = 0, scale = 1, whole;
	char *end;

	if (!isdigit((unsigned char)text[*text == '.']))
		return false;
	errno = 0;
	unsigned long long number = *text == '.' ? 0 : strtoull(text, &end, 10);
	end = *text == '.' ? (char *)text : end;
	if (errno)
		return false;
	if (*end == '.')
		for (end++; isdigit((unsigned char)*end); end++)
			/* digits below a nanosecond are ignored */
			if (scale < 1000000000) {
				fraction = fraction * 10 + (uint64_t)(*end - '0');
				scale *= 10;
			}
	uint64_t factor = factor_of(durations, end);
	if (!factor || __builtin_mul_overflow(number, factor, &whole))
		return false;
	uint64_t part = factor >= scale ? factor / scale * fraction : fraction * factor / scale;
	return !__builtin_add_overflow(whole, part, ns);
}

bool units_parse_share(const char *text, double *share)
{
	size_t digits = strspn(text, "0123456789.");	/* strtod() would accept more */
	char *end;

	double number = strtod(text, &end);
	if (digits == 0 || end != text + digits)
		return false;
	if (*end == '%')
		number /= 100;
	if (end[*end == '%'] || !(number <= 1))
		return false;
	*share = number;
	return true;
}

/* Write VALUE to TEXT in the first unit of SCALE that it is a multiple of; the last is 1. */
static void format(char text[UNITS_SIZE], uint64_t value, const struct unit_suffix *scale)
{
	while (value % scale->factor != 0 || (value == 0 && scale->factor != 1))
		scale++;
	snprintf(text, UNITS_SIZE, "%" PRIu64 "%s", value / scale->factor, scale->name);
}

void units_format_size(char text[UNITS_SIZE], uint64_t bytes)
{
	static const struct unit_suffix scale[] = {
		{ "Ti", 1ULL << 40 }, { "Gi", 1 << 30 }, { "Mi", 1 << 20 }, { "Ki", 1 << 10 },
		{ "", 1 },
	};

	format(text, bytes, scale);
}

void units_format_duration(char text[UNITS_SIZE], uint64_t ns)
{
	static const struct unit_suffix scale[] = {
		{ "h", 3600000000000 }, { "m", 60000000000 }, { "s", 1000000000 },
		{ "ms", 1000000 }, { "us", 1000 }, { "ns", 1 },
	};

	format(text, ns, scale);
}

void units_format_grouped(char text[UNITS_SIZE], uint64_t number)
{
	char digits[UNITS_SIZE];
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, number), to = 0;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			text[to++] = ',';
		text[to++] = digits[i];
	}
	text[to] = '\0';
}
