/* SPDX-License-Identifier: Apache-2.0 */
/* What pmu-stat wrote earlier: read, cut, and hostile. */
#include "counting/earlier.h"
#include "tests/unit/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROW(name, values) "{\"name\": \"" name "\", \"kind\": \"event\", \"unit\": \"count\", " \
	"\"scaled\": false, \"running\": 1, \"values\": [" values "], \"new\": {\"a\": [1]}}"

static const char whole[] =
	"{\"machine\": {\"name\": \"h\", \"kernel\": \"6.1\", \"cpu\": \"c\"}, "
	"\"per\": {\"unit\": \"op\", \"number\": 10}, "
	"\"command\": [\"./x\", \"-a\"], \"runs\": 3, \"failed\": 1, \"rows\": [\n"
	ROW("cycles", "1, 2.5, 3e2") ", " ROW("faults", "7, null, 9") "]}\n";

static bool parse(struct earlier *e, const char *text, size_t size)
{
	struct report report = { .quiet = true };
	char *copy = malloc(size);	/* so that a sanitizer sees one byte too far */

	memcpy(copy, text, size);
	bool good = earlier_parse(e, "f", copy, size, &report);
	free(copy);
	return good && report.status == 0;
}

static void test_good(void)
{
	struct earlier e;

	tap(parse(&e, whole, strlen(whole)), "a plain run");
	tap(!strcmp(e.machine.name, "h") && !strcmp(e.machine.kernel, "6.1") &&
	    !strcmp(e.machine.cpu, "c") && !strcmp(e.command, "./x -a") &&
	    !strcmp(e.per, "op") && e.runs == 3 &&
	    e.failed == 1, "its machine, its command, its runs");
	tap(e.rows.count == 2 && e.rows.runs == 3 && !strcmp(e.rows.row[0].name, "cycles") &&
	    e.rows.row[0].value[2] == 300 && e.rows.row[0].runs == 3 &&
	    isnan(e.rows.row[1].value[1]) && e.rows.row[1].mean == 8 && e.rows.row[1].runs == 2,
	    "its values, and one that is unknown");
	earlier_release(&e);
	static const char several[] =
		"{\"commands\": [{\"command\": \"a\", \"rows\": [" ROW("x", "1") "]}, "
		"{\"command\": \"b\", \"rows\": [" ROW("y", "2, 3") "]}], \"comparisons\": []}";
	tap(parse(&e, several, strlen(several)) && !strcmp(e.command, "b") && e.rows.count == 1 &&
	    !strcmp(e.rows.row[0].name, "y") && e.rows.runs == 2, "the last of several commands");
	earlier_release(&e);
}

static void test_cut(void)
{
	struct earlier e;
	bool refused = true;

	for (size_t size = 0; size < strlen(whole) - 1; size++) {
		refused &= !parse(&e, whole, size);
		earlier_release(&e);
	}
	tap(refused, "it is refused wherever it is cut");
}

static void test_hostile(void)
{
	static const char *const texts[] = {
		"", "[]", "{}", "7", "{\"rows\": []}", "{\"rows\": {}}", "{\"rows\": [1]}",
		"{\"rows\": [{\"name\": \"x\", \"unit\": \"count\"}]}",
		"{\"rows\": [{\"name\": 1, \"unit\": \"count\", \"values\": [1]}]}",
		"{\"rows\": [{\"name\": \"x\", \"unit\": \"count\", \"values\": [\"1\"]}]}",
		"{\"rows\": [{\"name\": \"x\", \"unit\": \"count\", \"values\": [[]]}]}",
		"{\"rows\": [{\"name\": \"x\", \"unit\": \"count\", \"values\": {}}]}",
		"{\"rows\": [{\"name\": \"x\", \"unit\": \"u\", \"kind\": \"z\", "
		"\"values\": [1]}]}",
		"{\"rows\": [" ROW("x", "1") ", " ROW("x", "1") "]}",
		"{\"rows\": [" ROW("x", "1") ", " ROW("y", "1, 2") "]}",
		"{\"rows\": [" ROW("x", "1e999") "]}", "{\"rows\": [" ROW("x", "nan") "]}",
		"{\"rows\": [" ROW("x", "1,") "]}", "{\"rows\": [" ROW("x", "0x10") "]}",
		"{\"runs\": -1, \"rows\": [" ROW("x", "1") "]}",
		"{\"runs\": 1e99, \"rows\": [" ROW("x", "1") "]}",
		"{\"failed\": \"a\", \"rows\": [" ROW("x", "1") "]}",
		"{\"rows\": [" ROW("x", "1") "]} x",
	};
	struct earlier e;
	bool refused = true;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (parse(&e, texts[i], strlen(texts[i]))) {
			printf("# %s\n", texts[i]);
			refused = false;
		}
		earlier_release(&e);
	}
	tap(refused, "what is not such JSON is refused");
	char name[2000], text[4000];
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(text, sizeof(text), "{\"rows\": [{\"name\": \"%s\", \"unit\": \"u\", "
		 "\"values\": [1]}]}", name);
	tap(!parse(&e, text, strlen(text)), "so is a name that is too long");
	earlier_release(&e);
	static const char escape[] =
		"{\"command\": \"\\u001b[31m\", \"rows\": [" ROW("x", "1") "]}";
	tap(parse(&e, escape, strlen(escape)) && !strchr(e.command, '\033'),
	    "characters that a terminal obeys are replaced");
	earlier_release(&e);
}

int main(void)
{
	test_good();
	test_cut();
	test_hostile();
	return tap_done();
}
