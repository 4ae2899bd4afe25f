/* SPDX-License-Identifier: Apache-2.0 */
#include "push/push-url.h"
#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

enum { URL_MOST = 8192, HOST_MOST = 253 };	/* bytes */

/* Characters of a URL that separate its parts, and those that never need an escape (RFC 3986). */
static const char separators[] = ":/?@!$&'()*+,;=%[]", plain[] = "-._~";

static bool is_alphanumeric(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Return a copy of SIZE bytes of TEXT; each byte that is not in KEPT is percent-encoded. */
static char *encode(const char *text, size_t size, const char *kept)
{
	static const char digits[] = "0123456789ABCDEF";
	char *copy = mem_zeroed(3 * size + 1, 1), *to = copy;

	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];
		if (is_alphanumeric(text[i]) || strchr(plain, c) || strchr(kept, c)) {
			*to++ = text[i];
			continue;
		}
		*to++ = '%';
		*to++ = digits[c >> 4];
		*to++ = digits[c & 15];
	}
	return copy;
}

static char *copy_of(const char *text, size_t size)
{
	char *copy = mem_zeroed(size + 1, 1);

	memcpy(copy, text, size);
	return copy;
}

/* Set the target of U from REST, which is what follows the authority. */
static const char *parse_target(struct push_url *u, const char *rest)
{
	if (strchr(rest, '#'))
		return "it has a '#', which no server ever sees; write %23";
	char *target = encode(rest, strlen(rest), separators);
	u->target = mem_zeroed(strlen(target) + 2, 1);
	snprintf(u->target, strlen(target) + 2, "%s%s", *target == '/' ? "" : "/", target);
	free(target);
	return NULL;
}

/* Parse "PATH" or "PATH:/TARGET". */
static const char *parse_socket(struct push_url *u, const char *text)
{
	size_t size = strcspn(text, ":");

	if (size == 0 || size >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
		return "the path of a Unix socket has 1 to 107 bytes";
	if (text[size] && text[size + 1] != '/')
		return "what follows the path of the Unix socket starts with ':/'";
	u->socket = copy_of(text, size);
	u->authority = mem_text("localhost");
	return parse_target(u, text[size] ? text + size + 1 : "");
}

/* Parse the port in SIZE bytes at TEXT.  If SIZE is 0, the port is 80. */
static bool parse_port(const char *text, size_t size, uint16_t *port)
{
	unsigned number = 0;

	*port = 80;
	if (size == 0)
		return true;
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '0' || text[i] > '9' || number > 65535)
			return false;
		number = 10 * number + (unsigned)(text[i] - '0');
	}
	*port = (uint16_t)number;
	return number >= 1 && number <= 65535;
}

static bool is_host(const char *text, size_t size, bool in_brackets)
{
	for (size_t i = 0; i < size; i++)
		if (!is_alphanumeric(text[i]) && !strchr(in_brackets ? ":." : "-._", text[i]))
			return false;
	return size >= 1 && size <= HOST_MOST;
}

static const char *parse_host(struct push_url *u, const char *text)
{
	size_t size = strcspn(text, "/?#");
	bool in_brackets = *text == '[';

	if (memchr(text, '@', size))
		return "it has a user or a password, which others could read in a list of "
		       "processes; give --push-credentials FILE";
	const char *host = text + in_brackets;
	size_t host_size = strcspn(host, in_brackets ? "]/?#" : ":/?#");
	const char *after = host + host_size;
	if (!is_host(host, host_size, in_brackets) || (in_brackets && *after++ != ']'))
		return "its host is not a name or an address";
	const char *port = after + (*after == ':');
	size_t port_size = (size_t)(text + size - port);
	if ((*after != ':' && after != text + size) || !parse_port(port, port_size, &u->port))
		return "its port is not a number from 1 to 65535";
	u->host = copy_of(host, host_size);
	u->authority = copy_of(text, port_size ? size : (size_t)(after - text));
	return parse_target(u, text + size);
}

const char *push_url_parse(const char *text, struct push_url *u)
{
	static const char http[] = "http://", https[] = "https://", local[] = "unix:";

	*u = (struct push_url){ .port = 0 };
	if (strlen(text) > URL_MOST)
		return "it is longer than 8192 bytes";
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return "it has a control character";
	if (!strncasecmp(text, https, strlen(https)))
		return "TLS is not supported; run a local proxy that speaks TLS, and give its "
		       "http:// address or unix:PATH";
	if (!strncmp(text, local, strlen(local)))
		return parse_socket(u, text + strlen(local));
	if (!strncasecmp(text, http, strlen(http)))
		return parse_host(u, text + strlen(http));
	return "it does not start with http:// or unix:";
}

void push_url_release(struct push_url *u)
{
	free(u->host);
	free(u->socket);
	free(u->authority);
	free(u->target);
	*u = (struct push_url){ .port = 0 };
}

bool push_target_is_root(const char *target)
{
	return strcspn(target, "?") == 1;
}

bool push_target_has(const char *target, const char *name)
{
	size_t size = strlen(name);

	for (const char *at = strchr(target, '?'); at; at = strchr(at + 1, '&'))
		if (!strncmp(at + 1, name, size) && (at[1 + size] == '=' || !at[1 + size] ||
						     at[1 + size] == '&'))
			return true;
	return false;
}

void push_target_add(char **target, const char *name, const char *value)
{
	char *encoded = encode(value, strlen(value), "");
	const char *query = strchr(*target, '?'), *separator = !query ? "?" : query[1] ? "&" : "";
	size_t size = strlen(*target) + strlen(name) + strlen(encoded) + 3;
	char *longer = mem_zeroed(size, 1);

	snprintf(longer, size, "%s%s%s=%s", *target, separator, name, encoded);
	free(encoded);
	free(*target);
	*target = longer;
}
