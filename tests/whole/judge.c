/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Return whether an output is what the tool promises, by readers of our own: not the tools' code.
 */
#include "whole.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { PLAIN_MAX = 64 << 20 };	/* bytes of a profile */

/* The character at *AT, which moves on; -1: that is not UTF-8 (RFC 3629). */
static int32_t take_character(const uint8_t **at, const uint8_t *end)
{
	static const int32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	uint8_t first = *(*at)++;
	int more = first < 0x80 ? 0 : first >= 0xf8 ? -1 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2
		   : first >= 0xc0 ? 1 : -1;

	if (more < 0 || end - *at < more)
		return -1;
	int32_t c = more ? first & (0x3f >> more) : first;
	for (int i = 0; i < more; i++) {
		if ((**at & 0xc0) != 0x80)
			return -1;
		c = c << 6 | (*(*at)++ & 0x3f);
	}
	return c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? -1 : c;
}

static bool is_utf8(struct span s)
{
	const uint8_t *at = s.at, *end = at + s.size;

	while (at < end)
		if (take_character(&at, end) < 0)
			return false;
	return true;
}

const char *judge_text(struct span text)
{
	const uint8_t *at = text.at, *end = at + text.size;

	while (at < end) {
		int32_t c = take_character(&at, end);
		if (c < 0)
			return "text that is not UTF-8";
		if ((c < ' ' && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0))
			return "text with control characters";
	}
	return text.size && end[-1] != '\n' ? "text without the end of its last line" : NULL;
}

const char *judge_folded(struct span text)
{
	const uint8_t *at = text.at, *end = at + text.size;

	while (at < end) {
		const uint8_t *line = memchr(at, '\n', (size_t)(end - at)), *digit = line;
		if (!line)
			break;
		while (digit > at && isdigit(digit[-1]))
			digit--;
		digit -= digit > at && digit[-1] == '-';
		if (digit == line || digit - at < 2 || digit[-1] != ' ')
			return "a folded line without a stack or value";
		at = line + 1;
	}
	return judge_text(text);
}

static bool take_json(const uint8_t **at, const uint8_t *end, int depth);

static void skip_spaces(const uint8_t **at, const uint8_t *end)
{
	while (*at < end && (**at == ' ' || **at == '\t' || **at == '\n'))
		++*at;
}

static bool take_byte(const uint8_t **at, const uint8_t *end, int byte)
{
	skip_spaces(at, end);
	if (*at == end || **at != byte)
		return false;
	++*at;
	return true;
}

static bool take_json_string(const uint8_t **at, const uint8_t *end)
{
	if (!take_byte(at, end, '"'))
		return false;
	while (*at < end && **at != '"') {
		if (**at < ' ')
			return false;
		if (*(*at)++ != '\\')
			continue;
		if (*at == end || !strchr("\"\\/bfnrtu", **at))
			return false;
		if (*(*at)++ == 'u')
			for (int i = 0; i < 4; i++)
				if (*at == end || !isxdigit(*(*at)++))
					return false;
	}
	return take_byte(at, end, '"');
}

/* The members of an object or array up to CLOSING. */
static bool take_members(const uint8_t **at, const uint8_t *end, int closing, int depth)
{
	if (take_byte(at, end, closing))
		return true;
	do
		if ((closing == '}' && (!take_json_string(at, end) || !take_byte(at, end, ':'))) ||
		    !take_json(at, end, depth + 1))
			return false;
	while (take_byte(at, end, ','));
	return take_byte(at, end, closing);
}

static bool take_json(const uint8_t **at, const uint8_t *end, int depth)
{
	static const char *const words[] = { "true", "false", "null" };

	skip_spaces(at, end);
	if (*at == end || depth > 20)
		return false;
	if (take_byte(at, end, '{'))
		return take_members(at, end, '}', depth);
	if (take_byte(at, end, '['))
		return take_members(at, end, ']', depth);
	if (**at == '"')
		return take_json_string(at, end);
	for (size_t i = 0; i < 3; i++) {
		size_t size = strlen(words[i]);
		if ((size_t)(end - *at) >= size && !memcmp(*at, words[i], size)) {
			*at += size;
			return true;
		}
	}
	const uint8_t *begin = *at;
	while (*at < end && (isdigit(**at) || strchr("+-.eE", **at)) && **at)
		++*at;
	return *at > begin;
}

const char *judge_json(struct span text)
{
	const uint8_t *at = text.at, *end = at + text.size;

	if (!is_utf8(text))
		return "JSON that is not UTF-8";
	for (skip_spaces(&at, end); at < end; skip_spaces(&at, end))
		if (!take_json(&at, end, 0))
			return "JSON that is none";
	return NULL;
}

/* Return how often WORD is in TEXT, whatever the case of its letters. */
static unsigned times(struct span text, const char *word)
{
	size_t size = strlen(word);
	unsigned n = 0;

	for (size_t i = 0; i + size <= text.size; i++)
		n += !strncasecmp((const char *)text.at + i, word, size);
	return n;
}

/*
 * A page has two scripts, ours and the data, whatever is in the names; the data is JSON in
 * which nothing can begin or end an element.
 */
const char *judge_page(struct span text, bool is_whole)
{
	static const char opens[] = "<script type=\"application/json\" id=\"data\">";
	static const char ends[] = "</script>";
	const uint8_t *data = memmem(text.at, text.size, opens, strlen(opens)), *end;

	if (!text.size)
		return is_whole ? "no page, and exit status 0" : NULL;
	if (!is_utf8(text))
		return "a page that is not UTF-8";
	if (times(text, "<script") != 2 || times(text, ends) != 2 || !data)
		return "a page with other scripts than its own";
	data += strlen(opens);
	end = memmem(data, text.size - (size_t)(data - text.at), ends, strlen(ends));
	if (!end || memchr(data, '<', (size_t)(end - data)))
		return "data with an element in it";
	return judge_json((struct span){ (uint8_t *)(uintptr_t)data, (size_t)(end - data) });
}

/* A reader of protocol buffers, for profile.proto. */
struct bytes {
	const uint8_t *at, *end;
	bool failed;
};

struct entry {
	unsigned number, wire;
	uint64_t value;
	struct bytes bytes;
};

static uint64_t take_varint(struct bytes *b)
{
	uint64_t v = 0;

	for (unsigned shift = 0; b->at < b->end && shift < 70; shift += 7) {
		uint8_t byte = *b->at++;
		v |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
		if (byte < 0x80)
			return v;
	}
	b->failed = true;
	b->at = b->end;
	return 0;
}

static bool take_field(struct bytes *b, struct entry *f)
{
	if (b->at == b->end)
		return false;
	uint64_t tag = take_varint(b);
	*f = (struct entry){ .number = (unsigned)(tag >> 3), .wire = tag & 7,
			     .value = take_varint(b) };
	if (f->wire == 2 && f->value <= (uint64_t)(b->end - b->at)) {
		f->bytes = (struct bytes){ .at = b->at, .end = b->at + f->value };
		b->at += f->value;
	} else if (f->wire != 0) {
		b->failed = true;
	}
	return !b->failed;
}

/* Numbers of one kind: the ids that a profile defines. */
struct ids {
	uint64_t *id;
	size_t count;
};

struct checking {
	struct ids mapping, location, function;
	uint64_t strings, types;
	const char *wrong;
};

static void blame(struct checking *k, const char *wrong)
{
	k->wrong = k->wrong ? k->wrong : wrong;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, 8);
	memcpy(&y, b, 8);
	return x < y ? -1 : x > y;
}

static void sort_ids(struct checking *k, struct ids *ids)
{
	if (ids->count)
		qsort(ids->id, ids->count, 8, by_number);
	for (size_t i = 0; i < ids->count; i++)
		if (ids->id[i] == 0 || (i && ids->id[i] == ids->id[i - 1]))
			blame(k, "a profile with an id that is 0, or there twice");
}

static bool has_id(const struct ids *ids, uint64_t id)
{
	return ids->count && bsearch(&id, ids->id, ids->count, 8, by_number);
}

static uint64_t id_of(struct bytes b)
{
	struct entry f;
	uint64_t id = 0;

	while (take_field(&b, &f))
		if (f.number == 1)
			id = f.value;
	return id;
}

static void add_id(struct ids *ids, uint64_t id)
{
	ids->id = array_grow(ids->id, ids->count, 8);
	ids->id[ids->count++] = id;
}

/* First what is defined. */
static void take_definitions(struct checking *k, struct bytes b)
{
	struct entry f;

	while (take_field(&b, &f)) {
		k->types += f.number == 1;
		k->strings += f.number == 6;
		if (f.number >= 3 && f.number <= 5)
			add_id(f.number == 3 ? &k->mapping : f.number == 4 ? &k->location
			       : &k->function, id_of(f.bytes));
		if (f.number == 6 && k->strings == 1 && f.value > 0)
			blame(k, "a profile whose first string is not empty");
		if (f.number == 6 && !is_utf8((struct span){ (uint8_t *)(uintptr_t)f.bytes.at,
							     f.value }))
			blame(k, "a profile with a string that is not UTF-8");
	}
	if (b.failed)
		blame(k, "a profile that cannot be parsed");
	sort_ids(k, &k->mapping);
	sort_ids(k, &k->location);
	sort_ids(k, &k->function);
}

static void check_string(struct checking *k, uint64_t index)
{
	if (index >= k->strings)
		blame(k, "a profile that names a string it does not have");
}

static void check_sample(struct checking *k, struct bytes b)
{
	struct entry f = { 0 };
	uint64_t values = 0;

	while (take_field(&b, &f)) {
		struct entry inner;
		while (f.number == 3 && take_field(&f.bytes, &inner))
			if (inner.number != 3)
				check_string(k, inner.value);
		if (f.number == 3)
			continue;
		do {
			uint64_t v = f.wire == 2 && f.value ? take_varint(&f.bytes) : f.value;
			if (f.wire == 2 && f.value == 0)
				break;
			values += f.number == 2;
			if (f.number == 1 && !has_id(&k->location, v))
				blame(k, "a sample at a location that is not defined");
		} while (f.wire == 2 && f.bytes.at < f.bytes.end);
	}
	if (b.failed || f.bytes.failed)
		blame(k, "a sample that cannot be parsed");
	if (values != k->types)
		blame(k, "a sample with more or fewer values than there are types");
}

static void check_location(struct checking *k, struct bytes b)
{
	struct entry f, inner;

	while (take_field(&b, &f)) {
		if (f.number == 2 && f.value && !has_id(&k->mapping, f.value))
			blame(k, "a location in a mapping that is not defined");
		while (f.number == 4 && take_field(&f.bytes, &inner))
			if (inner.number == 1 && !has_id(&k->function, inner.value))
				blame(k, "a line of a function that is not defined");
	}
}

static void check_uses(struct checking *k, struct bytes b)
{
	struct entry f, inner;

	while (take_field(&b, &f)) {
		if (f.number == 2)
			check_sample(k, f.bytes);
		else if (f.number == 4)
			check_location(k, f.bytes);
		else if (f.number == 1 || f.number == 11)
			while (take_field(&f.bytes, &inner))
				check_string(k, inner.value);
		else if (f.number == 5 || f.number == 3)
			while (take_field(&f.bytes, &inner))
				if (f.number == 5 ? inner.number >= 2 && inner.number <= 4
				    : inner.number == 5 || inner.number == 6)
					check_string(k, inner.value);
	}
}

static size_t unpack(struct span from, uint8_t *to)
{
	if (from.size > 4 && from.at[0] == 0x28 && from.at[1] == 0xb5) {
		size_t n = ZSTD_decompress(to, PLAIN_MAX, from.at, from.size);
		return ZSTD_isError(n) ? SIZE_MAX : n;
	}
	z_stream z = { .next_in = from.at, .avail_in = (uInt)from.size, .next_out = to,
		       .avail_out = PLAIN_MAX };
	if (inflateInit2(&z, 15 + 16) != Z_OK)
		return SIZE_MAX;
	int end = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	return end == Z_STREAM_END ? z.total_out : SIZE_MAX;
}

const char *judge_profile(struct span bytes, bool is_whole)
{
	struct checking k = { .wrong = NULL };
	uint8_t *plain = NULL;

	if (bytes.size == 0)
		return is_whole ? "no profile, and no error" : NULL;
	bool packed = bytes.size > 4 && (bytes.at[0] == 0x1f || bytes.at[0] == 0x28);
	struct bytes b = { .at = bytes.at, .end = bytes.at + bytes.size };
	if (packed) {
		plain = mem_resize(NULL, PLAIN_MAX);
		size_t size = unpack(bytes, plain);
		if (size == SIZE_MAX) {
			free(plain);
			return "a profile whose compression is damaged";
		}
		b = (struct bytes){ .at = plain, .end = plain + size };
	}
	take_definitions(&k, b);
	check_uses(&k, b);
	free(plain);
	free(k.mapping.id);
	free(k.location.id);
	free(k.function.id);
	return k.wrong;
}
