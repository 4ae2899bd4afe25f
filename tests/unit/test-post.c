/* SPDX-License-Identifier: Apache-2.0 */
/* post: requests to a server that answers well, late, in part or not at all. */
#include "push/post.h"
#include "tests/unit/tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SMALL = 5, LARGE = 3 << 20 };	/* bytes of a body */

/* What the server does with a request, by a letter in its plan. */
enum step {
	ANSWER = 'a', ANSWER_AND_CLOSE = 'c', CLOSE = 'x', HALF = 'h', SILENCE = 's', ENDLESS = 'e',
	EARLY_SUCCESS = 'E', EARLY_REFUSAL = 'R', BUSY = 'b', LATE_TEXT = 'l', DRIP = 'd',
};

/* Read the head of a request.  Return the size of its body, or -1. */
static long read_head(int fd)
{
	char head[4096] = "";
	size_t size = 0;

	while (!strstr(head, "\r\n\r\n")) {
		if (size == sizeof(head) - 1 || read(fd, head + size, 1) != 1)
			return -1;
		size++;
	}
	const char *length = strstr(head, "Content-Length: ");
	return length && !strncmp(head, "POST /x HTTP/1.1\r\n", 18) &&
	       strstr(head, "\r\nAuthorization: Bearer t\r\n")
		? strtol(length + 16, NULL, 10) : -1;
}

static bool read_body(int fd, long size)
{
	char bytes[4096];

	for (ssize_t n; size > 0; size -= n) {
		n = read(fd, bytes, size < (long)sizeof(bytes) ? (size_t)size : sizeof(bytes));
		if (n <= 0)
			return false;
	}
	return true;
}

static void say(int fd, const char *text)
{
	dprintf(fd, "%s", text);
}

/* Answer with HEAD and SIZE bytes, or fewer, which say which request it was. */
static void answer(int fd, const char *head, int size, int connection, int request)
{
	dprintf(fd, "HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\nc%d r%d\n", head, size, connection,
		request);
}

static void say_slowly(int fd)
{
	for (int i = 0; i < 1000 && write(fd, &"HTTP/1.1 "[i % 9], 1) == 1; i++)
		usleep(10000);
}

/* Do STEP with a request.  Return whether the connection stays open. */
static bool do_step(int fd, char step, int connection, int request)
{
	switch (step) {
	case ANSWER:
		answer(fd, "200 OK", 6, connection, request);
		return true;
	case ANSWER_AND_CLOSE:
		answer(fd, "200 OK", 6, connection, request);
		return false;
	case BUSY:
		answer(fd, "429 No\r\nRetry-After: 9", 6, connection, request);
		return true;
	case HALF:
		answer(fd, "200 OK", 7, connection, request);
		return false;
	case LATE_TEXT:
		say(fd, "HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\n");
		usleep(50000);
		say(fd, "late");
		return true;
	case ENDLESS:
		say(fd, "HTTP/1.1 200 OK\r\n\r\n");
		for (int i = 0; i < 100000 && write(fd, "text", 4) == 4; i++)
			;
		return false;
	case DRIP:
		say_slowly(fd);
		return false;
	case SILENCE:
		pause();
	}
	return false;	/* CLOSE */
}

/* Serve PLAN, a letter for each request, at LISTENER. */
static void serve(int listener, const char *plan)
{
	for (int connection = 1; *plan; connection++) {
		int fd = accept(listener, NULL, NULL);
		bool open = true;
		for (int request = 1; open && *plan; request++) {
			long size = read_head(fd);
			if (size < 0)
				break;
			char step = *plan++;
			if (step == EARLY_SUCCESS)
				say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
			if (step == EARLY_REFUSAL)
				say(fd, "HTTP/1.1 413 Large\r\nContent-Length: 2\r\n\r\nno");
			if (step == EARLY_SUCCESS || step == EARLY_REFUSAL)
				break;
			open = read_body(fd, size) && do_step(fd, step, connection, request);
		}
		close(fd);
	}
	pause();
}

static struct event_base *base;
static struct post_result last;

static void done(void *context, const struct post_result *r)
{
	(void)context;
	last = *r;
	event_base_loopbreak(base);
}

/* Send a body of SIZE bytes, and wait for the result. */
static void post(struct poster *p, int fd, off_t size)
{
	const struct post_request r = { .target = "/x", .type = "text/plain", .fd = fd,
					.authorization = "Bearer t", .offset = 1, .size = size };

	last = (struct post_result){ .status = -1 };
	poster_send(p, &r);
	if (last.status != -1)
		return;		/* a result before this returned: the caller notices */
	event_base_dispatch(base);
}

static bool is_answer(int status, const char *text)
{
	bool good = last.outcome == POST_ANSWERED && last.status == status &&
		    !strcmp(last.why, text);

	if (!good)
		printf("# outcome %d, status %d, %s\n", last.outcome, last.status, last.why);
	return good;
}

static bool is_failure(enum post_outcome outcome, const char *why)
{
	bool good = last.outcome == outcome && strstr(last.why, why);

	if (!good)
		printf("# outcome %d, status %d, %s\n", last.outcome, last.status, last.why);
	return good;
}

/* Check what follows from PLAN by CHECKS, with a server that serves it. */
static void with_server(const char *plan, void (*checks)(struct poster *p, int fd))
{
	static const struct post_limits limits = { 5, 0.3, 60, 0.3 }, patient = { 5, 60, 60, 60 };
	char directory[] = "/tmp/test-post-XXXXXX", text[64];
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), fd = memfd_create("body", 0);
	struct push_url url;

	if (!mkdtemp(directory) || ftruncate(fd, LARGE + 1) < 0)
		exit(1);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", directory);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(listener, 9) < 0)
		exit(1);
	pid_t server = fork();
	if (server == 0) {
		serve(listener, plan);
		_exit(0);
	}
	close(listener);
	snprintf(text, sizeof(text), "unix:%s:/x", address.sun_path);
	push_url_parse(text, &url);
	struct poster *p = poster_new(base, &url, strpbrk(plan, "sd") ? &limits : &patient, done,
				      NULL);
	checks(p, fd);
	poster_free(p);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	push_url_release(&url);
	unlink(address.sun_path);
	rmdir(directory);
	close(fd);
}

static void check_connections(struct poster *p, int fd)
{
	post(p, fd, SMALL);
	tap(is_answer(200, "c1 r1"), "a request is answered");
	post(p, fd, LARGE);
	tap(is_answer(200, "c1 r2"), "the next one uses the connection again");
	post(p, fd, SMALL);
	tap(is_answer(429, "c1 r3") && last.retry_after == 9, "a status and Retry-After");
	post(p, fd, SMALL);
	tap(is_answer(500, "late"), "the text of an answer may come later");
	post(p, fd, SMALL);
	tap(is_answer(200, "c1 r5"), "and then the server closes the connection");
	usleep(50000);
	post(p, fd, SMALL);
	tap(is_answer(200, "c2 r1"), "there is another one");
	post(p, fd, LARGE);
	tap(is_answer(200, "c3 r1"), "a connection that breaks as it is used again is replaced");
}

static void check_failures(struct poster *p, int fd)
{
	post(p, fd, SMALL);
	tap(is_failure(POST_BROKEN, "without an answer"), "no answer is a failure");
	post(p, fd, SMALL);
	tap(is_failure(POST_BROKEN, "before the answer did"), "half an answer is a failure");
	post(p, fd, SMALL);
	tap(is_failure(POST_NOT_HTTP, "too long"), "an answer without end is a failure");
	post(p, fd, LARGE);
	tap(is_failure(POST_BROKEN, ""), "a success before all was sent is a failure");
	post(p, fd, LARGE);
	tap(is_answer(413, "no"), "a refusal before all was sent is an answer");
	post(p, fd, SMALL);
	tap(is_answer(200, "c6 r1"), "then all is well");
}

static void check_limits(struct poster *p, int fd)
{
	post(p, fd, SMALL);
	tap(is_failure(POST_TIMED_OUT, "in time"), "a slow answer is a failure");
	post(p, fd, SMALL);
	tap(is_failure(POST_TIMED_OUT, "in time"), "silence is a failure");
	post(p, fd, LARGE);
	tap(is_failure(POST_TIMED_OUT, "take the request"), "so is a request that is not read");
}

static void check_absence(void)
{
	const struct post_limits limits = { 5, 5, 5, 5 };
	struct push_url url;
	int fd = memfd_create("body", 0);

	push_url_parse("unix:/tmp/test-post-missing", &url);
	struct poster *p = poster_new(base, &url, &limits, done, NULL);
	post(p, fd, SMALL);
	tap(is_failure(POST_NO_CONNECTION, "No such file"), "there is no server");
	poster_free(p);
	push_url_release(&url);
	push_url_parse("http://[::1]:1/", &url);
	p = poster_new(base, &url, &limits, done, NULL);
	post(p, fd, SMALL);
	tap(is_failure(POST_NO_CONNECTION, ""), "nobody listens");
	poster_free(p);
	push_url_release(&url);
	close(fd);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	base = event_base_new();
	with_server("aablcaxa", check_connections);
	with_server("xheERa", check_failures);
	with_server("ds", check_limits);
	check_absence();
	event_base_free(base);
	return tap_done();
}
