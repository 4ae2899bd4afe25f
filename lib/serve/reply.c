/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/internal.h"

#include <event2/buffer.h>
#include <event2/keyvalq_struct.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char text_type[] = "text/plain; charset=utf-8";

/* Ends with a header without a name. */
static const struct header {
	const char *name, *value;
} of_all[] = {
	{ "X-Content-Type-Options", "nosniff" }, { "X-Frame-Options", "DENY" },
	{ "Referrer-Policy", "no-referrer" }, { "Cache-Control", "no-store" },
	{ "Connection", "close" }, { 0 }
}, of_errors[] = {
	{ "X-Go-Pprof", "1" }, { 0 }
};

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
	case 413: return "Content Too Large";
	case 417: return "Expectation Failed";
	case 429: return "Too Many Requests";
	case 501: return "Not Implemented";
	case 503: return "Service Unavailable";
	default: return "Internal Server Error";
	}
}

static void add_headers(struct evkeyvalq *headers, const struct header *header)
{
	for (; header->name; header++)
		evhttp_add_header(headers, header->name, header->value);
}

void reply_send(struct server *s, struct evhttp_request *request, int status, const char *type,
		struct evbuffer *body, unsigned retry)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
	char number[32];

	evhttp_add_header(headers, "Content-Type", type);
	add_headers(headers, of_all);
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
	add_headers(headers, of_errors);
	if (status == 401)
		evhttp_add_header(headers, "WWW-Authenticate", "Basic realm=\"pmu-serve\"");
	reply_send(s, request, status, text_type, body, retry);
}

static void print_headers(struct evbuffer *out, const struct header *header)
{
	for (; header->name; header++)
		evbuffer_add_printf(out, "%s: %s\r\n", header->name, header->value);
}

/* Return why libevent refused a request with STATUS. */
static const char *refusal(int status)
{
	switch (status) {
	case 413: return "the request is too long\n";
	case 417: return "Expect: there is nothing but 100-continue\n";
	case 501: return "there is no such method; use GET\n";
	default: return "this is not an HTTP request, or its head is too long\n";
	}
}

int reply_replace_page(struct evbuffer *out)
{
	static const char start[] = "HTTP/1.1 ", end[] = "</HTML>\n";
	char first[sizeof(start) + 3] = "", last[sizeof(end)] = "";
	size_t size = evbuffer_get_length(out);
	struct evbuffer_ptr at;

	if (size < sizeof(first) + sizeof(last))
		return 0;
	evbuffer_ptr_set(out, &at, size - strlen(end), EVBUFFER_PTR_SET);
	evbuffer_copyout_from(out, &at, last, strlen(end));
	evbuffer_copyout(out, first, sizeof(first) - 1);
	int status = (int)strtol(first + strlen(start), NULL, 10);
	if (strncmp(first, start, strlen(start) - 2) || strcmp(last, end) || status < 400)
		return 0;
	evbuffer_drain(out, size);
	evbuffer_add_printf(out, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n",
			    status, phrase(status), text_type, strlen(refusal(status)));
	print_headers(out, of_all);
	print_headers(out, of_errors);
	evbuffer_add_printf(out, "\r\n%s", refusal(status));
	return status;
}
