/* SPDX-License-Identifier: Apache-2.0 */
/* push-request - what the requests that send a profile say. */
#pragma once
#include "push/authorization.h"
#include "serve/secret.h"
#include "serve/serve-settings.h"

/*
 * Write the value of the header Authorization, or "" if there are no credentials.  Return false,
 * with WHY set, if their file cannot be used.
 */
bool push_request_authorize(const struct serve_settings *s, char value[AUTHORIZATION_MOST],
			    char why[SECRET_WHY]);

/*
 * Return the target of the requests that send the profile of LENGTH seconds from START on, of the
 * machine HOST.  The caller frees.
 */
char *push_request_target(const struct serve_settings *s, const char *host, uint64_t start,
			  uint64_t length);

/*
 * Return how many bytes the next request has, of FD, which has SIZE bytes, from OFFSET on: all, or
 * whole lines of rows.
 */
off_t push_request_piece(const struct serve_settings *s, int fd, off_t offset, off_t size);
