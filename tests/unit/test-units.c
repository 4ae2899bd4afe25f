/* SPDX-License-Identifier: Apache-2.0 */
/* units: every suffix, the limits, and what is not a number. */
#include "base/units.h"
#include "tests/unit/tap.h"

#include <stddef.h>
#include <string.h>

struct good {
	const char *text;
	uint64_t value;
};

static const struct good counts[] = {
	{ "0", 0 }, { "1", 1 }, { "250", 250 }, { "007", 7 }, { "0k", 0 },
	{ "10k", 10000 }, { "10K", 10000 }, { "1M", 1000000 }, { "2G", 2000000000 },
	{ "3Ki", 3072 }, { "64Ki", 65536 }, { "1Mi", 1048576 }, { "5Gi", 5368709120 },
	{ "0x10", 16 }, { "0XfF", 255 }, { "0x10k", 16000 }, { "0x1Mi", 1048576 },
	{ "18446744073709551615", UINT64_MAX }, { "0xffffffffffffffff", UINT64_MAX },
	{ "18446744073709551k", 18446744073709551000ULL },
	{ "18446744073709M", 18446744073709000000ULL }, { "18446744073G", 18446744073000000000ULL },
	{ "17179869183Gi", 17179869183ULL << 30 }, { "18014398509481983Ki", UINT64_MAX - 1023 },
	{ "2T", 2000000000000ULL }, { "1Ti", 1ULL << 40 }, { "16777215Ti", 16777215ULL << 40 },
};

static const char *const no_counts[] = {
	"", " ", "k", "Ki", "-1", "+1", " 1", "1 ", "1 k", "\t1", "1.5", "1.5k", "1e3", "1kk",
	"1ki", "1m", "1g", "1t", "1kB", "1KiB", "1Kib", "1,000", "0x", "0xk", "0xg", "0x-1", "0x 1",
	"0x0x1", "x10", "ff", "10h", "1_000", "\xc2\xb9",
	/* too large: by one, by their unit, by any measure */
	"18446744073709551616", "0x10000000000000000", "18446744073709552k", "18446744073710M",
	"18446744074G", "18014398509481984Ki", "17592186044416Mi", "17179869184Gi",
	"99999999999999999999999999999999999999", "99999999999999999999999999G",
};

#define S 1000000000ULL	/* ns */

static const struct good durations[] = {
	{ "0", 0 }, { "10", 10 * S }, { "10s", 10 * S }, { "7ns", 7 }, { "250us", 250000 },
	{ "10ms", 10000000 }, { "2m", 120 * S }, { "2min", 120 * S }, { "1h", 3600 * S },
	{ "1.5", 3 * S / 2 }, { "1.5s", 3 * S / 2 }, { "0.5ms", 500000 }, { "1.5us", 1500 },
	{ "0.25m", 15 * S }, { ".5", S / 2 }, { "0.5h", 1800 * S }, { "1.", S },
	{ "0.000000001", 1 },
	{ "0.0000000009", 0 }, { "0.9999999999999999999999999", S - 1 }, { "1.9ns", 1 },
	{ "0.001us", 1 }, { "0.0009us", 0 }, { "0.123456789", 123456789 },
	{ "0.123456789h", 444444440400ULL }, { "0.0000000001h", 0 },
	{ "18446744073709551615ns", UINT64_MAX }, { "18446744073709551us", UINT64_MAX - 615 },
	{ "18446744073.709551615", UINT64_MAX }, { "18446744073.709551615s", UINT64_MAX },
	{ "18446744073709551.615us", UINT64_MAX },
	{ "5124095h", 5124095 * 3600ULL * S }, { "307445734m", 307445734 * 60ULL * S },
};

static const char *const no_durations[] = {
	"", " ", ".", ".s", "s", "ms", "-1", "+1", " 1", "1 ", "1 s", "1.5.5", "1,5", "1e3", "0x10",
	"1S", "1sec", "1d", "1k", "1Ms", "1nss", "1.s.", "1.-5", "1. 5", "inf", "nan",
	"18446744073709551616ns", "18446744074", "18446744073.709551616", "5124096h", "307445735m",
	"18446744073709552us", "18446744073710ms", "18446744073709551.616us",
	"99999999999999999999999999999999999999", "99999999999999999999999.5ns",
};

/* Return how many of the N texts in GOOD do not give their value, and print those. */
static size_t count_wrong(bool parse(const char *, uint64_t *), const struct good *good, size_t n)
{
	size_t wrong = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t value = 12345;
		if (parse(good[i].text, &value) && value == good[i].value)
			continue;
		wrong++;
		printf("# '%s' gives %llu, not %llu\n", good[i].text, (unsigned long long)value,
		       (unsigned long long)good[i].value);
	}
	return wrong;
}

/* Return how many of the N texts give a value, and print those. */
static size_t count_taken(bool parse(const char *, uint64_t *), const char *const *text, size_t n)
{
	size_t taken = 0;
	uint64_t value = 0;

	for (size_t i = 0; i < n; i++)
		if (parse(text[i], &value)) {
			taken++;
			printf("# '%s' gives %llu\n", text[i], (unsigned long long)value);
		}
	return taken;
}

/* Return how often a share is misread, and print these. */
static size_t count_wrong_shares(void)
{
	static const struct {
		const char *text;
		double share;	/* -1: not a share */
	} shares[] = {
		{ "0", 0 }, { "1", 1 }, { "0.005", 0.005 }, { "0.5%", 0.005 }, { ".5", 0.5 },
		{ "100%", 1 }, { "1.%", 0.01 }, { "101%", -1 }, { "1.01", -1 }, { "", -1 },
		{ "%", -1 }, { ".", -1 }, { ".%", -1 }, { "-1%", -1 }, { " 1", -1 }, { "1 %", -1 },
		{ "1%%", -1 }, { "1e-3", -1 }, { "0x1", -1 }, { "nan", -1 }, { "inf%", -1 },
		{ "0.1.1", -1 }, { "1%x", -1 },
	};
	size_t wrong = 0;

	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		double share = -1;
		bool good = units_parse_share(shares[i].text, &share);
		double off = share - shares[i].share;
		if (good == (shares[i].share >= 0) && off < 1e-12 && off > -1e-12)
			continue;
		wrong++;
		printf("# '%s' gives %g\n", shares[i].text, share);
	}
	return wrong;
}

/* Return how many numbers are not written as they should be, or not read back, and print these. */
static size_t count_wrong_formats(void)
{
	static const struct good sizes[] = {
		{ "0", 0 }, { "1", 1 }, { "1000", 1000 }, { "1Ki", 1024 }, { "64Mi", 64 << 20 },
		{ "1Gi", 1 << 30 }, { "1025", 1025 }, { "18446744073709551615", UINT64_MAX },
	};
	static const struct good times[] = {
		{ "0ns", 0 }, { "5m", 300 * S }, { "1h", 3600 * S }, { "1500ms", 3 * S / 2 },
		{ "18446744073709551615ns", UINT64_MAX },
	};
	static const struct good grouped[] = {
		{ "0", 0 }, { "999", 999 }, { "1,000", 1000 }, { "12,345,678", 12345678 },
		{ "18,446,744,073,709,551,615", UINT64_MAX },
	};
	char text[UNITS_SIZE];
	size_t wrong = count_wrong(units_parse_count, sizes, sizeof(sizes) / sizeof(*sizes)) +
		       count_wrong(units_parse_duration, times, sizeof(times) / sizeof(*times));

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		units_format_size(text, sizes[i].value);
		wrong += strcmp(text, sizes[i].text) != 0;
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		units_format_duration(text, times[i].value);
		wrong += strcmp(text, times[i].text) != 0;
	}
	for (size_t i = 0; i < sizeof(grouped) / sizeof(*grouped); i++) {
		units_format_grouped(text, grouped[i].value);
		wrong += strcmp(text, grouped[i].text) != 0;
	}
	return wrong;
}

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

int main(void)
{
	tap(!count_wrong(units_parse_count, counts, LENGTH(counts)),
	    "counts with each unit, up to the largest");
	tap(!count_taken(units_parse_count, no_counts, LENGTH(no_counts)),
	    "what is not a count, or too large, is refused");
	tap(!count_wrong(units_parse_duration, durations, LENGTH(durations)),
	    "durations with each unit, fractions, up to the longest");
	tap(!count_taken(units_parse_duration, no_durations, LENGTH(no_durations)),
	    "what is not a duration, or too long, is refused");
	tap(!count_wrong_shares(), "shares, plain and in per cent, from 0 to 1");
	tap(!count_wrong_formats(), "sizes and durations are written as they are read");
	return tap_done();
}
