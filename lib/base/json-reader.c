/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json-reader.h"

#include <stdint.h>
#include <string.h>

/* Where decoded characters go; those that do not fit are dropped. */
struct json_text {
	char *text;
	size_t size, used;
};

static bool wrong(struct json_reader *r, const char *why)
{
	if (!r->why)
		r->why = why;
	return false;
}

static void put(struct json_text *t, char c)
{
	if (t->used + 1 < t->size)
		t->text[t->used++] = c;
}

/* Put the code point CODE as UTF-8.  If CODE is not a character, put BROKEN, or '?' without it. */
static void put_code(struct json_text *t, uint32_t code, char broken)
{
	if (code == 0 || (code >= 0xd800 && code < 0xe000)) {
		put(t, broken ? broken : '?');
	} else if (code < 0x80) {
		put(t, (char)code);
	} else if (code < 0x800) {
		put(t, (char)(0xc0 | code >> 6));
		put(t, (char)(0x80 | (code & 0x3f)));
	} else {
		if (code < 0x10000) {
			put(t, (char)(0xe0 | code >> 12));
		} else {
			put(t, (char)(0xf0 | code >> 18));
			put(t, (char)(0x80 | (code >> 12 & 0x3f)));
		}
		put(t, (char)(0x80 | (code >> 6 & 0x3f)));
		put(t, (char)(0x80 | (code & 0x3f)));
	}
}

static void skip_space(struct json_reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' ||
				  *r->at == '\r'))
		r->at++;
}

char json_peek(struct json_reader *r)
{
	if (r->why)
		return 0;
	skip_space(r);
	if (r->at == r->end) {
		wrong(r, "it ends too early");
		return 0;
	}
	if (!*r->at)
		wrong(r, "a zero byte");
	return *r->at;
}

bool json_enter(struct json_reader *r, char open)
{
	if (json_peek(r) != open)
		return false;
	r->at++;
	r->first = true;
	return true;
}

bool json_next(struct json_reader *r, char close)
{
	char c = json_peek(r);

	if (c == close) {
		r->at++;
		r->first = false;
		return false;
	}
	if (!c)
		return false;
	if (!r->first) {
		if (c != ',')
			return wrong(r, "a comma is missing");
		r->at++;
		if (json_peek(r) == close)
			return wrong(r, "nothing follows a comma");
	}
	r->first = false;
	return !r->why;
}

/* Read the four hexadecimal digits of \uXXXX. */
static bool read_digits(struct json_reader *r, uint32_t *code)
{
	static const char digits[] = "0123456789abcdef";

	*code = 0;
	for (int i = 0; i < 4; i++, r->at++) {
		const char *digit = r->at < r->end && *r->at ? strchr(digits, *r->at | 0x20) : NULL;
		if (!digit)
			return wrong(r, "\\u needs four hexadecimal digits");
		*code = *code << 4 | (uint32_t)(digit - digits);
	}
	return true;
}

/* Read the escape sequence after a backslash. */
static bool read_escape(struct json_reader *r, struct json_text *t)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	uint32_t code, low;

	if (r->at == r->end || !*r->at)
		return wrong(r, "a string is not closed");
	const char *name = strchr(names, *r->at);
	if (name) {
		put(t, values[name - names]);
		r->at++;
		return true;
	}
	if (*r->at++ != 'u')
		return wrong(r, "an unknown escape sequence");
	if (!read_digits(r, &code))
		return false;
	if (code >= 0xd800 && code < 0xdc00 && r->end - r->at >= 2 && r->at[0] == '\\' &&
	    r->at[1] == 'u') {
		r->at += 2;
		if (!read_digits(r, &low))
			return false;
		code = low >= 0xdc00 && low < 0xe000
		     ? 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff) : 0;
	}
	put_code(t, code, r->broken);
	return true;
}

static bool read_string(struct json_reader *r, struct json_text *t)
{
	r->at++;
	while (r->at < r->end && *r->at != '"') {
		char c = *r->at++;
		if (c == '\\') {
			if (!read_escape(r, t))
				return false;
		} else if ((unsigned char)c < 0x20) {
			return wrong(r, "a control character in a string");
		} else {
			put(t, c);
		}
	}
	if (r->at == r->end)
		return wrong(r, "a string is not closed");
	r->at++;
	return true;
}

/* Read a number or a word. */
static bool read_word(struct json_reader *r, struct json_text *t)
{
	const char *from = r->at;
	static const char *const words[] = { "true", "false", "null" };

	while (r->at < r->end && *r->at && strchr("+-.0123456789eEtrufalsn", *r->at))
		put(t, *r->at++);
	size_t size = (size_t)(r->at - from);
	if (size > 0 && (*from == '-' || (*from >= '0' && *from <= '9')))
		return true;
	for (size_t i = 0; i < 3; i++)
		if (size == strlen(words[i]) && !memcmp(from, words[i], size))
			return true;
	return wrong(r, "not a value");
}

/* Skip the rest of the array or object that was entered, at depth 1. */
static bool skip_rest(struct json_reader *r, char close)
{
	char closes[JSON_DEEPEST] = { close };
	struct json_text nowhere = { NULL, 0, 0 };
	int depth = 1;

	while (depth > 0) {
		char end = closes[depth - 1];
		if (!json_next(r, end)) {
			if (r->why)
				return false;
			depth--;
			continue;
		}
		if (end == '}' && !json_read_key(r, NULL, 0))
			return false;
		char c = json_peek(r);
		if (c == '{' || c == '[') {
			if (depth == JSON_DEEPEST)
				return wrong(r, "too many values within values");
			json_enter(r, c);
			closes[depth++] = c == '{' ? '}' : ']';
		} else if (!(c == '"' ? read_string(r, &nowhere) : c && read_word(r, &nowhere))) {
			return false;
		}
	}
	return true;
}

bool json_read_key(struct json_reader *r, char *key, size_t size)
{
	struct json_text t = { key, size, 0 };

	if (size > 0)
		*key = '\0';
	if (json_peek(r) != '"')
		return wrong(r, "a name in quotes is missing");
	if (!read_string(r, &t))
		return false;
	if (size > 0)
		key[t.used] = '\0';
	if (json_peek(r) != ':')
		return wrong(r, "a colon is missing");
	r->at++;
	return true;
}

bool json_read_text(struct json_reader *r, char *text, size_t size)
{
	struct json_text t = { text, size, 0 };
	char c = json_peek(r);
	bool good;

	if (size > 0)
		*text = '\0';
	if (!c)
		return false;
	if (c == '{' || c == '[')
		return json_enter(r, c) && skip_rest(r, c == '{' ? '}' : ']');
	good = c == '"' ? read_string(r, &t) : read_word(r, &t);
	if (size > 0)
		text[t.used] = '\0';
	return good;
}

bool json_skip(struct json_reader *r)
{
	return json_read_text(r, NULL, 0);
}

bool json_ended(struct json_reader *r)
{
	if (r->why)
		return false;
	skip_space(r);
	return r->at == r->end || wrong(r, "something follows the end");
}
