/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/push-request.h"
#include "base/arena.h"
#include "push/push-url.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_MOST = 4 << 20 };		/* bytes of rows in a request */

bool push_request_authorize(const struct serve_settings *s, char value[AUTHORIZATION_MOST],
			    char why[SECRET_WHY])
{
	const char *file = s->push_credentials;
	char line[AUTHORIZATION_MOST];

	*value = '\0';
	if (!file)
		return true;
	if (secret_read(file, "secret", line, sizeof(line), why) < 0)
		return false;
	if (authorization_make(line, value))
		return true;
	snprintf(why, SECRET_WHY, "the first line of '%s' is neither USER:PASSWORD nor a token nor "
		 "a value of Authorization", file);
	return false;
}

/* Return TEXT without what separates labels in a name of Pyroscope.  The caller frees. */
static char *plain(const char *text)
{
	char *copy = mem_text(text);

	for (char *c = copy; *c; c++)
		if (strchr("{}=,\"", *c))
			*c = '_';
	return copy;
}

/* Add the parameters that Pyroscope takes to *TARGET. */
static void add_ingest(char **target, const struct serve_settings *s, const char *host,
		       uint64_t start, uint64_t length)
{
	char *service = plain(s->service ? s->service : s->comm ? s->comm : "pmu");
	char *plain_host = plain(host), number[24];
	size_t size = strlen(service) + strlen(plain_host) + 16;
	char *name = mem_zeroed(size, 1);

	snprintf(name, size, "%s{host=%s}", service, plain_host);
	push_target_add(target, "name", name);
	snprintf(number, sizeof(number), "%" PRIu64, start);
	push_target_add(target, "from", number);
	snprintf(number, sizeof(number), "%" PRIu64, start + length);
	push_target_add(target, "until", number);
	push_target_add(target, "format", "pprof");
	free(service);
	free(plain_host);
	free(name);
}

char *push_request_target(const struct serve_settings *s, const char *host, uint64_t start,
			  uint64_t length)
{
	static const char path[] = "/ingest";
	const char *given = s->push->target;
	bool is_root = push_target_is_root(given);

	if (s->push_as != PUSH_PPROF) {
		char *target = mem_text(given);
		if (is_root && !push_target_has(target, "query"))
			push_target_add(&target, "query",
					"INSERT INTO pmu.rows FORMAT JSONEachRow");
		return target;
	}
	size_t size = strlen(path) + strlen(given) + 1;
	char *target = mem_zeroed(size, 1);
	snprintf(target, size, "%s%s", is_root ? path : "", given + is_root);
	add_ingest(&target, s, host, start, length);
	return target;
}

off_t push_request_piece(const struct serve_settings *s, int fd, off_t offset, off_t size)
{
	enum { STEP = 1 << 16 };
	off_t end = offset + PIECE_MOST;
	char bytes[STEP];

	if (size - offset <= PIECE_MOST || s->push_as == PUSH_PPROF)
		return size - offset;
	for (off_t at = end - STEP; at >= offset; at -= STEP) {
		ssize_t n = pread(fd, bytes, STEP, at);
		const char *newline = n > 0 ? memrchr(bytes, '\n', (size_t)n) : NULL;
		if (newline)
			return at + (newline + 1 - bytes) - offset;
	}
	for (off_t at = end; at < size; at += STEP) {	/* a row is longer than a piece */
		ssize_t n = pread(fd, bytes, STEP, at);
		const char *newline = n > 0 ? memchr(bytes, '\n', (size_t)n) : NULL;
		if (newline)
			return at + (newline + 1 - bytes) - offset;
	}
	return size - offset;
}
