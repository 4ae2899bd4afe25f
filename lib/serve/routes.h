/* SPDX-License-Identifier: Apache-2.0 */
/* routes - what each path of a server answers, and who may ask. */
#pragma once
#include <event2/http.h>

/* Answer REQUEST, now or by a job.  CONTEXT: the struct server. */
void routes_handle(struct evhttp_request *request, void *context);
