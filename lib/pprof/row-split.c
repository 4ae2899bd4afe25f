/* SPDX-License-Identifier: Apache-2.0 */
#include "pprof/row-split.h"
#include "base/json-reader.h"

#include <string.h>

enum { KEY_SIZE = 16, NUMBER_SIZE = 64 };	/* bytes of a key that we know; of a number */

#define NAME(TEXT) { "\"" TEXT "\":", sizeof(TEXT) + 2 }

/* The keys as they are in rows, with their colons. */
static const struct {
	const char *text;
	size_t size;
} names[ROW_KEYS] = {
	[ROW_TIME] = NAME("time"), [ROW_TIME_NS] = NAME("time_ns"),
	[ROW_DURATION] = NAME("duration_ns"), [ROW_HOST] = NAME("host"),
	[ROW_SERVICE] = NAME("service"), [ROW_TYPE] = NAME("type"), [ROW_UNIT] = NAME("unit"),
	[ROW_VALUE] = NAME("value"), [ROW_SAMPLES] = NAME("samples"), [ROW_HASH] = NAME("hash"),
	[ROW_STACK] = NAME("stack"), [ROW_LABELS] = NAME("labels"), [ROW_UNITS] = NAME("units"),
	[ROW_FILE] = NAME("file"), [ROW_LINE] = NAME("line"), [ROW_BUILD_ID] = NAME("build_id"),
};

struct splitting {
	struct json_reader in;
	struct row_line *row;
	const struct row_stacks *known;
	unsigned next;		/* the key that probably comes next: keys have an order */
};

/* Return the end of the string that starts at AT, after its last quote, or NULL. */
static const char *end_of_string(const char *at, const char *end)
{
	for (const char *from = at + 1, *quote; from < end; from = quote + 1) {
		size_t escapes = 0;
		quote = memchr(from, '"', (size_t)(end - from));
		if (!quote)
			break;
		while (quote - escapes > from && quote[-1 - (ptrdiff_t)escapes] == '\\')
			escapes++;
		if (escapes % 2 == 0)
			return quote + 1;
	}
	return NULL;
}

/* Return the end of the array or object that starts at AT, or NULL. */
static const char *end_of_nested(const char *at, const char *end)
{
	size_t depth = 0;

	while (at && at < end) {
		if (*at == '"') {
			at = end_of_string(at, end);
			continue;
		}
		if (*at == '[' || *at == '{')
			depth++;
		else if ((*at == ']' || *at == '}') && --depth == 0)
			return at + 1;
		at++;
	}
	return NULL;
}

static const char *end_of_word(const char *at, const char *end)
{
	while (at < end && !memchr(",}] \t\r", *at, 6))
		at++;
	return at;
}

/* Return whether the next value is a stack whose text is known by the row's hash. */
static bool is_known_stack(struct splitting *s)
{
	const struct row_value *hash = &s->row->value[ROW_HASH];
	const char *at = s->in.at;

	if (hash->size == 0)
		return false;
	uint32_t id = byte_ids_find(&s->known->hashes, hash->at, hash->size);
	if (id == TABLE_NONE)
		return false;
	id = s->known->of_hash[id];
	const struct byte_ids_item *text = &s->known->texts.item[id];
	if ((size_t)(s->in.end - at) < text->size || memcmp(at, text->bytes, text->size) != 0)
		return false;
	s->row->stack = id;
	s->row->value[ROW_STACK] = (struct row_value){ at, text->size };
	s->in.at = at + text->size;
	return true;
}

/* Take the value of KEY.  Return NULL, or what is wrong. */
static const char *take_value(struct splitting *s, unsigned key)
{
	struct row_value *value = &s->row->value[key];
	char c = json_peek(&s->in);
	const char *at = s->in.at, *end = NULL;

	if (!c)
		return s->in.why;
	if (value->at)
		return "a key is there twice";
	if (key == ROW_STACK && is_known_stack(s))
		return NULL;
	end = c == '"' ? end_of_string(at, s->in.end)
	    : c == '[' || c == '{' ? end_of_nested(at, s->in.end) : end_of_word(at, s->in.end);
	if (!end || end == at)
		return "a value is missing, or does not end";
	bool is_null = end - at == 4 && !memcmp(at, "null", 4);
	*value = (struct row_value){ at, is_null ? 0 : (size_t)(end - at) };
	s->in.at = end;
	return NULL;
}

/* Return whether the key with this number is next, and if so, read it. */
static bool is_next(struct splitting *s, unsigned key)
{
	size_t size = names[key].size;

	if ((size_t)(s->in.end - s->in.at) < size || memcmp(s->in.at, names[key].text, size) != 0)
		return false;
	s->in.at += size;
	return true;
}

/* Read a key.  Return its number, or ROW_KEYS if it is another, or not read (s->in.why). */
static unsigned read_key(struct splitting *s)
{
	char name[KEY_SIZE];

	for (unsigned key = s->next; key < ROW_KEYS; key++)
		if (is_next(s, key))
			return key;
	if (!json_read_key(&s->in, name, sizeof(name)))
		return ROW_KEYS;
	size_t size = strlen(name);
	for (unsigned key = 0; key < ROW_KEYS; key++)
		if (size + 3 == names[key].size && !memcmp(name, names[key].text + 1, size))
			return key;
	return ROW_KEYS;
}

const char *row_split(struct row_line *row, const char *line, size_t size,
		      const struct row_stacks *known)
{
	struct splitting s = { .in = { .at = line, .end = line + size }, .row = row,
			       .known = known };
	const char *wrong = NULL;

	*row = (struct row_line){ .stack = TABLE_NONE };
	if (!json_enter(&s.in, '{'))
		return "it does not start with {";
	while (!wrong && json_next(&s.in, '}')) {
		unsigned key = read_key(&s);
		if (key < ROW_KEYS)
			wrong = take_value(&s, key);
		else if (!s.in.why)
			json_skip(&s.in);
		s.next = key < ROW_KEYS ? key + 1 : s.next;
	}
	return wrong || json_ended(&s.in) ? wrong : s.in.why;
}

/* Read V, digits and perhaps a minus.  Return false if it is another number, or does not fit. */
static bool read_whole(struct row_value v, int64_t *number)
{
	bool negative = v.size > 0 && v.at[0] == '-';
	const uint64_t most = (uint64_t)INT64_MAX + negative;
	uint64_t sum = 0;

	if (v.size <= negative)
		return false;
	for (size_t i = negative; i < v.size; i++) {
		unsigned digit = (unsigned char)v.at[i] - '0';
		if (digit > 9 || sum > most / 10 || sum * 10 > most - digit)
			return false;
		sum = sum * 10 + digit;
	}
	*number = (int64_t)(negative ? -sum : sum);
	return true;
}

/* A number as it is written: -12.50e3. */
struct written {
	bool negative;
	char digit[NUMBER_SIZE];	/* all of 1250 */
	size_t digits, fraction;	/* how many digits; how many come after the point */
	int exponent;
};

/* Read the digits at *AT to W, as many as fit.  Return how many there are. */
static size_t take_digits(const char **at, const char *end, struct written *w)
{
	const char *from = *at;

	for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
		if (w->digits < NUMBER_SIZE)
			w->digit[w->digits++] = **at;
	return (size_t)(*at - from);
}

/* Read the exponent from AT to END.  Return false if it has no digits or is malformed. */
static bool take_exponent(const char *at, const char *end, struct written *w)
{
	const int most = 10000;
	bool negative = at < end && *at == '-';

	at += at < end && (*at == '-' || *at == '+');
	if (at == end)
		return false;
	for (; at < end && *at >= '0' && *at <= '9'; at++)
		w->exponent = w->exponent < most ? w->exponent * 10 + *at - '0' : most;
	w->exponent = negative ? -w->exponent : w->exponent;
	return at == end;
}

/* Read V, a number of JSON.  Return false if it is something else. */
static bool read_written(struct row_value v, struct written *w)
{
	const char *at = v.at, *end = v.at + v.size;

	*w = (struct written){ .negative = v.size > 0 && *at == '-' };
	at += w->negative;
	if (take_digits(&at, end, w) == 0)
		return false;
	if (at < end && *at == '.') {
		at++;
		w->fraction = take_digits(&at, end, w);
		if (w->fraction == 0)
			return false;
	}
	return at == end || ((*at == 'e' || *at == 'E') && take_exponent(at + 1, end, w));
}

/*
 * The same for V with a fraction or an exponent, as 12.0 or 1.5e3.  It is computed without floating
 * point: what is not whole must not become so.
 */
static bool read_scaled(struct row_value v, int64_t *number)
{
	const size_t longest = 19;	/* digits of a number of 64 bits */
	char text[24] = "-";
	struct written w;

	if (v.size >= NUMBER_SIZE || !read_written(v, &w))
		return false;
	size_t first = 0, digits = w.digits;
	while (first < digits && w.digit[first] == '0')
		first++;
	long zeros = w.exponent - (long)w.fraction;
	for (; digits > first && w.digit[digits - 1] == '0'; zeros++)
		digits--;
	if (digits == first)
		zeros = 0;
	if (zeros < 0 || digits - first + (size_t)zeros > longest)
		return false;
	char *to = mempcpy(text + w.negative, w.digit + first, digits - first);
	memset(to, '0', (size_t)zeros + (digits == first));
	to += zeros + (digits == first);
	return read_whole((struct row_value){ text, (size_t)(to - text) }, number);
}

bool row_is_number(struct row_value v)
{
	struct written w;

	return read_written(v, &w);
}

bool row_number(struct row_value v, int64_t *number)
{
	if (v.size >= 2 && v.at[0] == '"')
		v = (struct row_value){ v.at + 1, v.size - 2 };
	return read_whole(v, number) || read_scaled(v, number);
}

bool row_number_to(struct row_value v, int64_t most, int64_t *number)
{
	*number = 0;
	return v.size == 0 || (row_number(v, number) && *number >= 0 && *number <= most);
}
