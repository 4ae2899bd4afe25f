/* SPDX-License-Identifier: Apache-2.0 */
/* routes - maps the paths of a server to handlers. */
#pragma once
#include <event2/http.h>

/* Answer REQUEST, now or by a job.  CONTEXT: the struct server. */
void routes_handle(struct evhttp_request *request, void *context);
