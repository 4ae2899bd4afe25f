/* SPDX-License-Identifier: Apache-2.0 */
#include "push/answer.h"
#include "base/hex.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static void wrong(struct answer *a, const char *why)
{
	a->state = ANSWER_WRONG;
	a->why = why;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Parse "HTTP/1.1 200 OK". */
static void parse_status(struct answer *a)
{
	const char *line = a->line;
	bool good = !strncmp(line, "HTTP/1.", 7) && is_digit(line[7]) && line[8] == ' ' &&
		    is_digit(line[9]) && is_digit(line[10]) && is_digit(line[11]) &&
		    (line[12] == ' ' || !line[12]);

	if (!good) {
		wrong(a, "the answer is not HTTP");
		return;
	}
	a->is_old = line[7] == '0';
	a->closes = a->is_old;
	a->status = 100 * (line[9] - '0') + 10 * (line[10] - '0') + line[11] - '0';
	a->state = ANSWER_HEADER;
	if (a->status < 100 || a->status > 599 || a->status == 101)
		wrong(a, "the status of the answer does not exist");
}

/* Parse a whole number at TEXT.  Return false if it is not one, or larger than 2^50. */
static bool parse_length(const char *text, uint64_t *length)
{
	*length = 0;
	if (!is_digit(*text))
		return false;
	while (is_digit(*text) && *length < (uint64_t)1 << 50)
		*length = 10 * *length + (uint64_t)(*text++ - '0');
	return !text[strspn(text, " \t")];
}

/* Return whether the list VALUE, separated by commas, ends with WORD. */
static bool ends_with(const char *value, const char *word)
{
	const char *comma = strrchr(value, ',');
	const char *last = comma ? comma + 1 + strspn(comma + 1, " \t") : value;

	return !strncasecmp(last, word, strlen(word)) &&
	       !last[strlen(word) + strspn(last + strlen(word), " \t")];
}

static void parse_header(struct answer *a)
{
	char *colon = strchr(a->line, ':');
	uint64_t length;

	if (!colon) {
		wrong(a, "a header of the answer has no colon");
		return;
	}
	*colon = '\0';
	const char *value = colon + 1 + strspn(colon + 1, " \t");
	if (!strcasecmp(a->line, "Content-Length")) {
		if (!parse_length(value, &length) || (a->has_length && length != a->left))
			wrong(a, "the Content-Length of the answer is not a number");
		a->has_length = true;
		a->left = length;
	} else if (!strcasecmp(a->line, "Transfer-Encoding")) {
		a->is_chunked = ends_with(value, "chunked");
		if (!a->is_chunked)
			wrong(a, "the Transfer-Encoding of the answer is not known");
	} else if (!strcasecmp(a->line, "Connection")) {
		a->closes = ends_with(value, "close") ||
			    (a->is_old && !ends_with(value, "keep-alive"));
	} else if (!strcasecmp(a->line, "Retry-After")) {
		snprintf(a->retry_after, sizeof(a->retry_after), "%.*s",
			 (int)sizeof(a->retry_after) - 1, value);
	} else if (!strcasecmp(a->line, "Location")) {
		snprintf(a->location, sizeof(a->location), "%.*s", (int)sizeof(a->location) - 1,
			 value);
	}
}

/* The head has ended: set how the body ends. */
static void start_body(struct answer *a)
{
	if (a->status < 200) {	/* the answer itself comes later */
		*a = (struct answer){ .head = a->head };
		return;
	}
	if (a->status == 204 || a->status == 304)
		a->state = ANSWER_WHOLE;
	else if (a->is_chunked)
		a->state = ANSWER_CHUNK_SIZE;
	else if (a->has_length)
		a->state = a->left ? ANSWER_SIZED : ANSWER_WHOLE;
	else
		a->state = ANSWER_TO_END;
	a->closes |= a->state == ANSWER_TO_END || (a->is_chunked && a->has_length);
}

static void parse_chunk_size(struct answer *a)
{
	const char *end = hex_number(a->line, a->line + strlen(a->line), &a->left);
	size_t digits = (size_t)(end - a->line);

	if (digits == 0 || digits > 8 || (*end && !strchr("; \t", *end)))
		wrong(a, "the size of a chunk of the answer is not a number");
	else
		a->state = a->left ? ANSWER_CHUNK : ANSWER_TRAILER;
}

static void end_line(struct answer *a)
{
	size_t size = a->line_size < sizeof(a->line) ? a->line_size : sizeof(a->line) - 1;

	if (size > 0 && size == a->line_size && a->line[size - 1] == '\r')
		size--;
	a->line[size] = '\0';
	a->line_size = 0;
	switch (a->state) {
	case ANSWER_STATUS:
		parse_status(a);
		break;
	case ANSWER_HEADER:
		if (*a->line)
			parse_header(a);
		else
			start_body(a);
		break;
	case ANSWER_CHUNK_SIZE:
		parse_chunk_size(a);
		break;
	case ANSWER_CHUNK_END:
		a->state = ANSWER_CHUNK_SIZE;
		if (*a->line)
			wrong(a, "a chunk of the answer is longer than its size");
		break;
	default:	/* ANSWER_TRAILER */
		if (!*a->line)
			a->state = ANSWER_WHOLE;
	}
}

/* Take bytes of the body from BYTES, at most SIZE.  Return how many. */
static size_t take(struct answer *a, const char *bytes, size_t size)
{
	size_t most = a->state == ANSWER_TO_END || size < a->left ? size : (size_t)a->left;
	size_t room = sizeof(a->text) - 1 - a->text_size;
	size_t copied = most < room ? most : room;

	memcpy(a->text + a->text_size, bytes, copied);
	a->text_size += copied;
	a->body += most;
	if (a->state == ANSWER_TO_END)
		return most;
	a->left -= most;
	if (a->left == 0)
		a->state = a->state == ANSWER_SIZED ? ANSWER_WHOLE : ANSWER_CHUNK_END;
	return most;
}

static bool is_in_body(const struct answer *a)
{
	return a->state == ANSWER_SIZED || a->state == ANSWER_CHUNK || a->state == ANSWER_TO_END;
}

size_t answer_read(struct answer *a, const void *bytes, size_t size)
{
	const char *from = bytes;
	size_t at = 0;

	while (at < size && a->state < ANSWER_WHOLE) {
		if (is_in_body(a)) {
			at += take(a, from + at, size - at);
		} else {
			char c = from[at++];
			*(a->state <= ANSWER_HEADER ? &a->head : &a->body) += 1;
			if (c == '\n') {
				end_line(a);
			} else {
				if (a->line_size < sizeof(a->line))
					a->line[a->line_size] = c;
				a->line_size++;
			}
		}
		if (a->state < ANSWER_WHOLE &&
		    (a->head > ANSWER_HEAD_MOST || a->body > ANSWER_BODY_MOST))
			wrong(a, "the answer is too long");
	}
	return at;
}

void answer_end(struct answer *a)
{
	if (a->state == ANSWER_TO_END)
		a->state = ANSWER_WHOLE;
	else if (a->state < ANSWER_WHOLE)
		wrong(a, "the connection ended before the answer did");
}
