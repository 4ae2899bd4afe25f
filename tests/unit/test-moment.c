/* SPDX-License-Identifier: Apache-2.0 */
/* moment: times as people write them; the values are those of date -u -d TEXT +%s. */
#include "serve/internal.h"
#include "tests/unit/tap.h"

#include <stddef.h>
#include <string.h>

enum { NOW = 1795355000 };

static const struct {
	const char *text;
	uint64_t moment;
} good[] = {
	{ "2026-11-22T03:12:00Z", 1795317120 }, { "2026-11-22t03:12:00z", 1795317120 },
	{ "2026-11-22T03:12Z", 1795317120 }, { "2026-11-22 03:12:00Z", 1795317120 },
	{ "2026-11-22T03:12:59.999Z", 1795317179 },
	{ "2026-11-22T03:12:00+01:00", 1795313520 }, { "2026-11-22T03:12:00 01:00", 1795313520 },
	{ "2026-11-22T03:12:00-05:30", 1795336920 }, { "1970-01-01T00:00:00Z", 0 },
	{ "2024-02-29T12:00:00Z", 1709208000 }, { "2016-12-31T23:59:60Z", 1483228800 },
	{ "9999-12-31T23:59:59Z", 253402300799 },
	{ "0", 0 }, { "1795317120", 1795317120 }, { "1795317120.7", 1795317120 },
	{ "-0", NOW }, { "-90", NOW - 90 }, { "-1h", NOW - 3600 }, { "-1.5m", NOW - 90 },
	{ "-999999h", 0 },
};

static const char *const bad[] = {
	"", "-", "now", "1h", "+1h", "--1h", "-1x", " 1", "1 ", ".", "1.2.3", "0x10",
	"99999999999999999999", "2026-11-22", "03:12", "2026-11-22T03:12:00",
	"2026-13-22T03:12:00Z", "2026-00-22T03:12:00Z", "2026-02-30T03:12:00Z",
	"2026-02-29T23:59:60Z",
	"2026-11-31T03:12:00Z", "2026-11-00T03:12:00Z", "2026-11-22T24:12:00Z",
	"2026-11-22T03:60:00Z", "2026-11-22T03:12:61Z", "2026-11-22T03:12:00ZZ",
	"2026-11-22T03:12:00.Z", "2026-11-22T03:12:Z", "2026-1-22T03:12:00Z",
	"2026-11-22T03:12:00+0100", "2026-11-22T03:12:00+24:00", "2026-11-22T03:12:00+01:60",
	"2026-11-22T03:12:00+01:00x", "2026-11-22T03:12:00+", "1969-12-31T23:59:59Z",
	"1970-01-01T00:00:00+01:00", "2026-11-22X03:12:00Z", "2026/11/22T03:12:00Z",
};

int main(void)
{
	uint64_t moment;
	char text[MOMENT_SIZE];

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		tap(moment_parse(good[i].text, NOW, &moment) && moment == good[i].moment,
		    good[i].text);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		tap(!moment_parse(bad[i], NOW, &moment), *bad[i] ? bad[i] : "nothing");
	moment_format(text, 1795317120);
	tap(!strcmp(text, "2026-11-22T03:12:00Z"), "a moment as text");
	moment_format(text, UINT64_MAX);
	tap(strlen(text) < sizeof(text), "any moment as text");
	return tap_done();
}
