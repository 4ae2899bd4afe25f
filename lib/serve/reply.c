/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/internal.h"

#include <event2/buffer.h>
#include <event2/keyvalq_struct.h>
#include <stdarg.h>
#include <string.h>

static const char *phrase(int status)
{
	switch (status) {
	case 200: return "OK";
	case 302: return "Found";
	case 400: return "Bad Request";
	case 401: return "Unauthorized";
	case 403: return "Forbidden";
	case 404: return "Not Found";
	case 405: return "Method Not Allowed";
	case 429: return "Too Many Requests";
	case 503: return "Service Unavailable";
	default: return "Internal Server Error";
	}
}

void reply_send(struct server *s, struct evhttp_request *request, int status, const char *type,
		struct evbuffer *body, unsigned retry)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
	char number[32];

	evhttp_add_header(headers, "Content-Type", type);
	evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
	evhttp_add_header(headers, "X-Frame-Options", "DENY");
	evhttp_add_header(headers, "Referrer-Policy", "no-referrer");
	evhttp_add_header(headers, "Cache-Control", "no-store");
	evhttp_add_header(headers, "Connection", "close");
	snprintf(number, sizeof(number), "%zu", evbuffer_get_length(body));
	evhttp_add_header(headers, "Content-Length", number);
	if (retry) {
		snprintf(number, sizeof(number), "%u", retry);
		evhttp_add_header(headers, "Retry-After", number);
	}
	if (evhttp_request_get_command(request) == EVHTTP_REQ_HEAD)
		evbuffer_drain(body, evbuffer_get_length(body));
	metrics_count(&s->metrics, status);
	connections_release(s->connections, request);
	evhttp_send_reply(request, status, phrase(status), body);
	evbuffer_free(body);
}

void reply_error(struct server *s, struct evhttp_request *request, int status, unsigned retry,
		 const char *format, ...)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
	struct evbuffer *body = evbuffer_new();
	va_list args;

	va_start(args, format);
	evbuffer_add_vprintf(body, format, args);
	va_end(args);
	evbuffer_add(body, "\n", 1);
	evhttp_add_header(headers, "X-Go-Pprof", "1");
	if (status == 401)
		evhttp_add_header(headers, "WWW-Authenticate", "Basic realm=\"pmu-serve\"");
	reply_send(s, request, status, "text/plain; charset=utf-8", body, retry);
}
