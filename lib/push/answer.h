/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer - reads the answer to an HTTP request, byte by byte (RFC 9112).
 *
 * The server is not trusted: it may send anything, in pieces of any size.  What is kept has fixed
 * bounds.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ANSWER_HEAD_MOST = 16384,	/* bytes before the body, with those of answers 1xx */
	ANSWER_BODY_MOST = 65536,	/* bytes of the body, with the sizes of its chunks */
};

enum answer_state {
	ANSWER_STATUS,		/* the first line comes next */
	ANSWER_HEADER,
	ANSWER_SIZED,		/* LEFT bytes of the body */
	ANSWER_CHUNK_SIZE,
	ANSWER_CHUNK,		/* LEFT bytes of a chunk */
	ANSWER_CHUNK_END,
	ANSWER_TRAILER,
	ANSWER_TO_END,		/* the body ends with the connection */
	ANSWER_WHOLE,
	ANSWER_WRONG,		/* not HTTP, or too long: see WHY */
};

/* Zero-initialised: nothing was read. */
struct answer {
	enum answer_state state;
	int status;		/* valid once the state is after ANSWER_HEADER; 0 before */
	bool has_length, is_chunked, closes;
	bool is_old;		/* HTTP/1.0: the connection closes unless it says otherwise */
	uint64_t left;
	size_t head, body;	/* bytes read */
	char line[256];		/* of the head, without the rest of a longer line */
	size_t line_size;	/* bytes of the line so far, also those that LINE has no room for */
	char retry_after[64];	/* value of the header; "": none */
	char location[160];	/* the same, its first bytes */
	char text[160];		/* the first bytes of the body */
	size_t text_size;
	const char *why;	/* ANSWER_WRONG: what is wrong */
};

/* Read SIZE bytes.  Return how many were read: fewer only if the answer is whole or wrong. */
size_t answer_read(struct answer *a, const void *bytes, size_t size);

/* The connection has ended: set the state to ANSWER_WHOLE if the answer may end here. */
void answer_end(struct answer *a);
