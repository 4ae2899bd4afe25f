/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-answer - any bytes as the answer of a server, a mark of what was sent, a URL, a pause. */
#include "base/arena.h"
#include "push/answer.h"
#include "push/authorization.h"
#include "push/lookup.h"
#include "push/pauses.h"
#include "push/push-url.h"
#include "push/sent.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Read the answer in pieces of STEP bytes. */
static struct answer read_answer(const uint8_t *bytes, size_t size, size_t step)
{
	struct answer a = { .status = 0 };

	for (size_t at = 0; at < size && a.state < ANSWER_WHOLE; at += step)
		answer_read(&a, bytes + at, size - at < step ? size - at : step);
	if (a.head > ANSWER_HEAD_MOST + 1 || strlen(a.text) != strnlen(a.text, a.text_size))
		__builtin_trap();
	return a;
}

static void check_answer(const uint8_t *bytes, size_t size)
{
	struct answer whole = read_answer(bytes, size, size), parts = read_answer(bytes, size, 1);

	/* a body that is too long is noticed at the end of a piece */
	if (whole.state != parts.state ||
	    (whole.state == ANSWER_WHOLE && (whole.status != parts.status ||
					     memcmp(whole.text, parts.text, sizeof(whole.text)))))
		__builtin_trap();
	answer_end(&whole);
	if (whole.state != ANSWER_WHOLE && (whole.state != ANSWER_WRONG || !whole.why))
		__builtin_trap();
}

static void check_mark(const char *text, size_t size)
{
	struct sent s;
	size_t again;

	if (!sent_parse(&s, text, size)) {
		if (s.files)
			__builtin_trap();
		return;
	}
	char *written = sent_format(&s, &again);
	free(written);
	sent_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = mem_zeroed(size + 1, 1), value[AUTHORIZATION_MOST];
	struct lookup_result found = { .addresses = 0 };
	struct push_url url;
	double seconds;

	memcpy(text, bytes, size);
	check_answer(bytes, size);
	check_mark(text, size);
	if (!push_url_parse(text, &url) && (*url.target != '/' || strchr(url.target, '\n')))
		__builtin_trap();
	push_url_release(&url);
	if (pauses_parse(text, 0, &seconds) && !(seconds >= 0 && seconds <= PAUSE_ASKED_MOST))
		__builtin_trap();
	if (authorization_make(text, value) && strlen(value) >= AUTHORIZATION_MOST)
		__builtin_trap();
	lookup_add_hosts(&found, text, "a", 1);
	free(text);
	return 0;
}
