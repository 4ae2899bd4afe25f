/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json-reader - reads JSON (RFC 8259) that is in memory, value by value, without a tree.
 *
 *	struct json_reader r = { text, text + size };
 *	for (bool more = json_enter(&r, '['); more && json_next(&r, ']');)
 *		json_skip(&r);
 *
 * An error sticks: from then on all functions fail, and WHY and AT say what is wrong, and where.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { JSON_DEEPEST = 64 };	/* levels of nested values that are read */

struct json_reader {
	const char *at, *end;
	const char *why;	/* what is wrong, or NULL */
	char broken;		/* what zero bytes and broken surrogates become; 0: '?' */
	bool first;		/* no value of the current array or object has been read */
};

/* Return the first character of the next value ('{', '[', '"', a digit, 't', ...); 0: error. */
char json_peek(struct json_reader *r);

/* Enter the array or object that starts with OPEN.  False: the next value is something else. */
bool json_enter(struct json_reader *r, char open);

/* Advance to the next element or key.  False: CLOSE ended the array or object, or an error. */
bool json_next(struct json_reader *r, char close);

/* Read the key of an object's member, and its colon, to KEY; a longer key is cut. */
bool json_read_key(struct json_reader *r, char *key, size_t size);

/*
 * Read a string, a number, true, false or null to TEXT, as text; a longer one is cut.  An array or
 * an object is skipped, and TEXT is "".  Zero bytes and broken surrogates become
 * R->broken.
 */
bool json_read_text(struct json_reader *r, char *text, size_t size);

/* Skip the next value. */
bool json_skip(struct json_reader *r);

/* Return whether nothing but white space is left, and no error occurred. */
bool json_ended(struct json_reader *r);
