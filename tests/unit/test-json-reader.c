/* SPDX-License-Identifier: Apache-2.0 */
/* JSON, read value by value: texts, numbers, nested values, and what is wrong where. */
#include "base/json-reader.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>

static struct json_reader reader;
static char *copy;	/* exactly as many bytes, for ASan */
static char text[16];

static void begin(const char *json)
{
	free(copy);
	copy = memcpy(malloc(strlen(json) + 1), json, strlen(json));
	reader = (struct json_reader){ .at = copy, .end = copy + strlen(json) };
}

/* Return whether JSON is one value, which is read as WANT. */
static bool reads(const char *json, const char *want)
{
	begin(json);
	memset(text, '#', sizeof(text));
	return json_read_text(&reader, text, sizeof(text)) && !strcmp(text, want) &&
	       json_ended(&reader);
}

/* Return whether JSON cannot be skipped, and what is wrong is AT bytes after its start. */
static bool fails(const char *json, size_t at)
{
	begin(json);
	bool good = json_skip(&reader) && json_ended(&reader);

	return !good && reader.why && (size_t)(reader.at - copy) == at &&
	       !json_read_text(&reader, text, sizeof(text));
}

static void test_texts(void)
{
	tap(reads("\"abc\"", "abc") && reads(" -12.5e3 ", "-12.5e3") && reads("true", "true") &&
	    reads("null", "null") && reads("\"\"", ""), "texts, numbers and words, as text");
	tap(reads("\"0123456789abcdef\"", "0123456789abcde") &&
	    reads("\"0123456789abcde\"", "0123456789abcde"), "a longer text is cut");
	tap(reads("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"), "escapes");
	tap(reads("\"\\u0041\\u00e9\\u20aC\\ud83d\\ude00\"", "A\u00e9\u20ac\U0001f600"),
	    "characters by their numbers, of one to four bytes");
	tap(reads("\"a\\u0000b\\ud83dc\\ude00\"", "a?b?c?"),
	    "zeros and broken surrogates become question marks");
	tap(reads("[1, {\"a\": [\"]\"]}]", "") && reads("{\"}\": {}}", ""),
	    "an array or an object is skipped");
}

/* Append the keys and values of the object that comes next to OUT. */
static void append_members(char *out, size_t size)
{
	char key[4];

	for (bool more = json_enter(&reader, '{'); more && json_next(&reader, '}');) {
		if (!json_read_key(&reader, key, sizeof(key)) ||
		    !json_read_text(&reader, text, sizeof(text)))
			break;
		size_t used = strlen(out);
		snprintf(out + used, size - used, "%s=%s;", key, text);
	}
}

static void test_nested(void)
{
	char out[64] = "";

	begin("[{\"k\": 1, \"longer\": \"x\"}, {}, {\"z\" : [7]}] ");
	for (bool more = json_enter(&reader, '['); more && json_next(&reader, ']');)
		append_members(out, sizeof(out));
	tap(!strcmp(out, "k=1;lon=x;z=;") && json_ended(&reader), "members of objects in an array");
	begin("[]x");
	tap(json_enter(&reader, '[') && !json_next(&reader, ']') && !json_ended(&reader) &&
	    reader.at == copy + 2, "nothing may follow the end");
	begin("[1 2]");
	tap(json_enter(&reader, '[') && json_next(&reader, ']') && json_skip(&reader) &&
	    !json_next(&reader, ']') && reader.why, "a comma stands between two elements");
	begin("{\"a\" 1}");
	tap(json_enter(&reader, '{') && json_next(&reader, '}') &&
	    !json_read_key(&reader, text, sizeof(text)) && reader.why, "a colon follows a key");
	begin("7");
	tap(!json_enter(&reader, '['), "a number is not an array");
}

static void test_depth(void)
{
	char deep[2 * JSON_DEEPEST + 3];

	memset(deep, '[', JSON_DEEPEST);
	memset(deep + JSON_DEEPEST, ']', JSON_DEEPEST);
	deep[2 * JSON_DEEPEST] = '\0';
	begin(deep);
	tap(json_skip(&reader) && json_ended(&reader), "so many levels are read");
	memset(deep, '[', JSON_DEEPEST + 1);
	memset(deep + JSON_DEEPEST + 1, ']', JSON_DEEPEST + 1);
	deep[2 * JSON_DEEPEST + 2] = '\0';
	begin(deep);
	tap(!json_skip(&reader) && reader.why, "and no more");
}

int main(void)
{
	test_texts();
	test_nested();
	test_depth();
	tap(fails("\"abc", 4) && fails("\"a\\x\"", 4) && fails("\"\\u12g4\"", 5) && fails("", 0),
	    "texts that do not end, and wrong escapes");
	free(copy);
	return tap_done();
}
