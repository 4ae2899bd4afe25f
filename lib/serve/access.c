/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/access.h"
#include "serve/secret.h"

#include <string.h>
#include <strings.h>

/* Return whether a header can carry TEXT as it is: spaces at its end, for example, are dropped. */
static bool is_visible(const char *text)
{
	while (*text > ' ' && *text <= '~')
		text++;
	return !*text;
}

bool access_read_token(struct access_rules *rules, const char *file, struct report *report)
{
	char text[ACCESS_TOKEN_MOST + 2], why[SECRET_WHY];
	ssize_t size = secret_read(file, "token", text, sizeof(text), why);

	if (size < 0) {
		report_error(report, "%s", why);
		return false;
	}
	size_t length = (size_t)size;
	if (length < ACCESS_TOKEN_LEAST || length > ACCESS_TOKEN_MOST) {
		report_error(report, "the first line of '%s' is not a token: it has %zu bytes, not "
			     "%d to %d; 'openssl rand -hex 32' makes one", file, length,
			     ACCESS_TOKEN_LEAST, ACCESS_TOKEN_MOST);
		return false;
	}
	if (!is_visible(text)) {
		report_error(report, "the first line of '%s' is not a token: it has a space or "
			     "another character that is not visible ASCII", file);
		return false;
	}
	memcpy(rules->token, text, length + 1);
	rules->token_size = length;
	return true;
}

/* Return whether GIVEN is the token.  The time this takes depends only on SIZE. */
static bool is_token(const struct access_rules *rules, const char *given, size_t size)
{
	volatile unsigned char difference = rules->token_size != size;

	for (size_t i = 0; i < size; i++)
		difference |= (unsigned char)(rules->token[i % rules->token_size] ^ given[i]);
	return difference == 0;
}

/* Decode base64 (RFC 4648) to BYTES.  Return the number of bytes, or -1 if TEXT is not base64. */
static ssize_t decode_base64(const char *text, char *bytes, size_t room)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned value = 0, bits = 0;
	size_t size = 0;

	for (; *text && *text != '='; text++) {
		const char *digit = strchr(digits, *text);
		if (!digit)
			return -1;
		value = value << 6 | (unsigned)(digit - digits);
		bits += 6;
		if (bits < 8)
			continue;
		if (size == room)
			return -1;
		bits -= 8;
		bytes[size++] = (char)(value >> bits);
		value &= (1u << bits) - 1;
	}
	return text[strspn(text, "=")] ? -1 : (ssize_t)size;
}

/* Return the text after SCHEME and spaces in HEADER, or NULL if HEADER has another scheme. */
static const char *credentials(const char *header, const char *scheme)
{
	size_t size = strlen(scheme);

	if (strncasecmp(header, scheme, size) || header[size] != ' ')
		return NULL;
	return header + size + strspn(header + size, " ");
}

/* go tool pprof has no option for a token, but "http://user:token@host/" sends it as Basic. */
static bool has_token(const struct access_rules *rules, const char *authorization)
{
	char pair[2 * ACCESS_TOKEN_MOST];
	const char *given;

	if (!rules->token_size || !authorization)
		return false;
	given = credentials(authorization, "Bearer");
	if (given)
		return is_token(rules, given, strlen(given));
	given = credentials(authorization, "Basic");
	ssize_t size = given ? decode_base64(given, pair, sizeof(pair)) : -1;
	const char *colon = size > 0 ? memchr(pair, ':', (size_t)size) : NULL;
	return colon && is_token(rules, colon + 1, (size_t)(pair + size - colon - 1));
}

/* Return the length of HOST without a port. */
static size_t host_length(const char *host)
{
	size_t size = *host == '[' ? strcspn(host, "]") : strcspn(host, ":");

	return size + (*host == '[' && host[size] == ']');
}

/* Return whether HOST, apart from its port, is localhost or LOCAL, the request's own address. */
static bool is_local_name(const char *host, const char *local)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };
	size_t size = host_length(host);

	if (host[size] && host[size] != ':')
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == size && !strncasecmp(host, names[i], size))
			return true;
	if (*host == '[' && size >= 2) {
		host++;
		size -= 2;
	}
	return strlen(local) == size && !strncasecmp(host, local, size);
}

/*
 * Return whether a page of another site made the request, except if a person followed a link to us.
 * A browser counts each port of this machine as the same site.  A browser makes a request with a
 * purpose ("prefetch", "prefetch;prerender") before anyone has followed the link.
 */
static bool is_from_other_page(const struct access_request *r)
{
	if (!r->fetch_site || !strcasecmp(r->fetch_site, "none") ||
	    !strcasecmp(r->fetch_site, "same-origin"))
		return false;
	return r->purpose || !r->fetch_mode || strcasecmp(r->fetch_mode, "navigate") ||
	       !r->fetch_dest || strcasecmp(r->fetch_dest, "document");
}

int access_check(const struct access_rules *rules, const struct access_request *request,
		 bool *with_token, const char **why)
{
	*with_token = has_token(rules, request->authorization);
	*why = "requests from scripts, frames and images of web pages are refused";
	if (request->origin || is_from_other_page(request))
		return 403;
	if (*with_token)
		return 0;
	*why = request->authorization ? "this is not the token"
		: "a token is needed: Authorization: Bearer TOKEN, or http://user:TOKEN@host/";
	if (rules->token_size)
		return 401;
	*why = "the Host of the request is not an address of this server; use localhost";
	if (request->local && (!request->host || !is_local_name(request->host, request->local)))
		return 403;
	return 0;
}
