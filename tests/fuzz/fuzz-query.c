/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz-query - what comes after '?' in a request, the headers that say who asks, and what
 * pmu-events prints.
 *
 * A query that is accepted has texts without control characters, and numbers within bounds.
 */
#include "base/arena.h"
#include "base/text.h"
#include "serve/access.h"
#include "serve/allow.h"
#include "serve/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_text(const struct query *q, const char *text)
{
	if (!text)
		return;
	if (text < q->text || text + strlen(text) >= q->text + sizeof(q->text) ||
	    text_needs_care(text))
		abort();
}

static void check_query(const char *text)
{
	static struct query q;

	if (!query_parse(&q, text, ~0u)) {
		if (!*q.wrong || text_needs_care(q.wrong))
			abort();
		return;
	}
	if (q.events > QUERY_EVENTS || q.frequency > QUERY_FREQUENCY || q.pid < 0)
		abort();
	if (query_is_by_time(&q) && q.rate > QUERY_FREQUENCY)
		abort();
	for (size_t i = 0; i < q.events; i++)
		check_text(&q, q.event[i]);
	check_text(&q, q.callgraph);
	check_text(&q, q.label);
	check_text(&q, q.comm);
}

static void check_access(const char *text)
{
	const struct access_rules rules = { .token = "0123456789abcdef", .token_size = 16 };
	const struct access_rules open = { .token_size = 0 };
	struct access_request request = { .authorization = text, .local = "127.0.0.1" };
	const char *why;
	bool with_token;

	if ((access_check(&rules, &request, &with_token, &why) == 0) != with_token)
		abort();
	request = (struct access_request){ .host = text, .local = "10.1.2.3" };
	access_check(&open, &request, &with_token, &why);
	if (with_token)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = mem_resize(NULL, size + 1), why[256];	/* of exactly that size */

	memcpy(text, bytes, size);
	text[size] = '\0';
	check_query(text);
	check_access(text);
	allow_all("hardware,software,x", text, why, sizeof(why));
	free(text);
	return 0;
}
