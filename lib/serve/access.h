/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access - who may ask: a token, or a local program; never the script of a web page.
 *
 * A web page that the user of this machine looks at can send requests to 127.0.0.1.  Its browser
 * adds an Origin header to those whose answers scripts may read, and always the name that the
 * page was loaded by as Host, even if that name resolves to this machine by now.
 */
#pragma once
#include "base/report.h"

#include <stdbool.h>
#include <stddef.h>

enum { ACCESS_TOKEN_LEAST = 16, ACCESS_TOKEN_MOST = 512 };	/* bytes */

/* Zero-initialised: without a token. */
struct access_rules {
	char token[ACCESS_TOKEN_MOST + 1];
	size_t token_size;		/* bytes; 0: no token is needed */
};

/* What a request says of itself; a header that it does not have is NULL. */
struct access_request {
	const char *host, *origin, *fetch_site, *fetch_mode, *authorization;
	const char *local;		/* the address that it was sent to, numeric; NULL: a Unix
					   socket */
};

/* Read the token: the first line of FILE.  Return false if it is no token: reported. */
bool access_read_token(struct access_rules *rules, const char *file, struct report *report);

/*
 * Return 0, or the HTTP status that refuses the request: 401 or 403; *WHY then says why.
 * *WITH_TOKEN: the request has the right token.
 */
int access_check(const struct access_rules *rules, const struct access_request *request,
		 bool *with_token, const char **why);
