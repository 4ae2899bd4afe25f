/* SPDX-License-Identifier: Apache-2.0 */
/*
 * push-url - where to send: "http://HOST[:PORT][/PATH][?QUERY]", or, for a server that listens on a
 * Unix socket, "unix:FILE[:/PATH[?QUERY]]".
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct push_url {
	char *host;		/* a name or a numeric address, without brackets; NULL: SOCKET */
	char *socket;		/* path of a Unix socket; or NULL */
	uint16_t port;		/* of HOST */
	char *authority;	/* for the header Host, and for messages */
	char *target;		/* path and query, percent-encoded; starts with a slash */
};

/*
 * Parse TEXT to U, which push_url_release() frees in any case.  Characters that a URL cannot have,
 * such as spaces, are percent-encoded.  Return NULL, or what is wrong with TEXT, as a sentence.
 */
const char *push_url_parse(const char *text, struct push_url *u);
void push_url_release(struct push_url *u);

/* Return whether the path of TARGET is "/". */
bool push_target_is_root(const char *target);

/* Return whether TARGET has the parameter NAME in its query. */
bool push_target_has(const char *target, const char *name);

/* Add the parameter NAME with VALUE, percent-encoded, to *TARGET, which is from malloc(). */
void push_target_add(char **target, const char *name, const char *value);
