/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access - decides which requests are answered: those with the token, and, if there is no token,
 * those from local programs; never those from scripts of web pages.
 *
 * A web page in a browser on this machine can send requests to 127.0.0.1.  If its scripts could
 * read the answer, the browser adds an Origin header.  The page could not read the answer to an
 * image or a frame, but would start a profile: the Sec-Fetch headers show such requests (Fetch
 * Metadata, W3C).  The Host header is always the name by which the page was loaded, even if that
 * name now resolves to this machine.
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

/* The headers of a request that matter here; NULL: the request does not have it. */
struct access_request {
	const char *host, *origin, *fetch_site, *fetch_mode, *fetch_dest, *purpose, *authorization;
	const char *local;		/* numeric address it was sent to; NULL: a Unix socket */
};

/* Read the token, the first line of FILE.  Return false (reported) if there is no valid token. */
bool access_read_token(struct access_rules *rules, const char *file, struct report *report);

/*
 * Return 0 if the request may be answered, else the HTTP status 401 or 403, and set *WHY to the
 * reason.  Set *WITH_TOKEN to whether the request has the right token.
 */
int access_check(const struct access_rules *rules, const struct access_request *request,
		 bool *with_token, const char **why);
