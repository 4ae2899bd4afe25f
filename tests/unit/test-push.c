/* SPDX-License-Identifier: Apache-2.0 */
/* push: URLs, answers, pauses, credentials, names of hosts, and the mark of what was sent. */
#include "base/arena.h"
#include "push/answer.h"
#include "push/authorization.h"
#include "push/lookup.h"
#include "push/pauses.h"
#include "push/push-url.h"
#include "push/sent.h"
#include "tests/unit/tap.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Return whether TEXT is a URL of HOST (or a socket), PORT and TARGET. */
static bool is_url(const char *text, const char *host, unsigned port, const char *target)
{
	struct push_url u;
	bool good = !push_url_parse(text, &u) && !strcmp(u.host ? u.host : u.socket, host) &&
		    u.port == port && !strcmp(u.target, target);

	push_url_release(&u);
	return good;
}

/* Return whether TEXT is not a URL, for a reason with WHY in it. */
static bool is_wrong(const char *text, const char *why)
{
	struct push_url u;
	const char *wrong = push_url_parse(text, &u);

	push_url_release(&u);
	return wrong && strstr(wrong, why);
}

static void test_urls(void)
{
	static const char *const hostless[] = {
		"http://", "http:///x", "http://a b/", "http://[::1", "http://[1.2.3.4]x/",
		"http://?x",
	};
	static const char *const portless[] = {
		"http://a:0/", "http://a:65536", "http://a:99999999999999999999", "http://a:1x/",
		"http://a:-1", "http://[::1]x:80/",
	};

	tap(is_url("http://a.b-c_d", "a.b-c_d", 80, "/") && is_url("HTTP://a/", "a", 80, "/") &&
	    is_url("http://a:8123?x=1", "a", 8123, "/?x=1") &&
	    is_url("http://127.0.0.1:65535/p/q", "127.0.0.1", 65535, "/p/q") &&
	    is_url("http://[::1]:99/", "::1", 99, "/") && is_url("http://[::1]", "::1", 80, "/") &&
	    is_url("unix:/run/x.sock", "/run/x.sock", 0, "/") &&
	    is_url("unix:x:/p?q", "x", 0, "/p?q"), "URLs are taken apart");
	tap(is_url("http://a/?query=INSERT INTO a.b FORMAT \"x\"\xc3\xa9&y=%20", "a", 80,
		   "/?query=INSERT%20INTO%20a.b%20FORMAT%20%22x%22%C3%A9&y=%20"),
	    "what a URL cannot have is percent-encoded");
	for (size_t i = 0; i < sizeof(hostless) / sizeof(*hostless); i++)
		tap(is_wrong(hostless[i], "host") || is_wrong(hostless[i], "port"), hostless[i]);
	for (size_t i = 0; i < sizeof(portless) / sizeof(*portless); i++)
		tap(is_wrong(portless[i], "port"), portless[i]);
	tap(is_wrong("https://a/", "proxy") && is_wrong("http://u:p@a/", "--push-credentials") &&
	    is_wrong("http://a/#x", "#") && is_wrong("ftp://a", "http://") &&
	    is_wrong("http://a/\r\nX: y", "control") && is_wrong("unix:", "socket") &&
	    is_wrong("unix:a:b", ":/"), "what cannot be used is refused, with the reason");
}

/* Return whether adding query=A B to TARGET makes WANT. */
static bool adds(const char *target, const char *want)
{
	char *text = mem_text(target);

	push_target_add(&text, "query", "A&B");
	bool good = !strcmp(text, want);
	free(text);
	return good;
}

static void test_targets(void)
{
	tap(adds("/", "/?query=A%26B") && adds("/?", "/?query=A%26B") &&
	    adds("/p?a=1", "/p?a=1&query=A%26B"), "parameters are added");
	tap(push_target_has("/?a=1&query=x", "query") && push_target_has("/?query", "query") &&
	    !push_target_has("/?a=query", "query") && !push_target_has("/query=", "query") &&
	    !push_target_has("/?querys=1", "query"), "parameters are found");
	tap(push_target_is_root("/") && push_target_is_root("/?x") && !push_target_is_root("/x"),
	    "the root is known");
}

/* Feed TEXT, STEP bytes at a time, then the end of the connection if ENDS. */
static struct answer feed(const char *text, size_t step, bool ends)
{
	struct answer a = { .status = 0 };
	size_t size = strlen(text);

	for (size_t at = 0; at < size; at += step) {
		size_t n = size - at < step ? size - at : step;
		char *exact = malloc(n);
		memcpy(exact, text + at, n);
		answer_read(&a, exact, n);
		free(exact);
	}
	if (ends)
		answer_end(&a);
	return a;
}

/* Return whether TEXT is a whole answer with STATUS and BODY, in pieces of any size. */
static bool is_answer(const char *text, bool ends, int status, const char *body)
{
	for (size_t step = 1; step <= strlen(text); step++) {
		struct answer a = feed(text, step, ends);
		if (a.state != ANSWER_WHOLE || a.status != status || strcmp(a.text, body))
			return false;
	}
	return true;
}

/* Return whether neither TEXT nor a start of it is a whole answer, if the connection ends. */
static bool is_no_answer(const char *text)
{
	char start[512];

	for (size_t size = strlen(text); size > 0; size--) {
		snprintf(start, sizeof(start), "%.*s", (int)size, text);
		if (feed(start, 7, true).state != ANSWER_WRONG)
			return false;
	}
	return true;
}

static void test_answers(void)
{
	tap(is_answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", false, 200, "hi") &&
	    is_answer("HTTP/1.1 503\nContent-Length:0\n\n", false, 503, "") &&
	    is_answer("HTTP/1.1 204 No\r\n\r\n", false, 204, ""), "answers with a length");
	tap(is_answer("HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n3\r\nabc\r\n"
		      "01;x=y\r\nd\r\n0\r\nTrailer: x\r\n\r\n", false, 200, "abcd"),
	    "answers in chunks");
	tap(is_answer("HTTP/1.0 400 Bad\r\n\r\nwrong\n", true, 400, "wrong\n"),
	    "answers that end with the connection");
	tap(is_answer("HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\nHTTP/1.1 202 A\r\n"
		      "Content-Length: 1\r\n\r\nx", false, 202, "x"),
	    "what comes before the answer is skipped");
	tap(is_no_answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhalf") &&
	    is_no_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n") &&
	    is_no_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"),
	    "half an answer is not one");
	tap(is_no_answer("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n") &&
	    is_no_answer("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx") &&
	    is_no_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n") &&
	    is_no_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n") &&
	    is_no_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n123456789\r\n") &&
	    is_no_answer("HTTP/1.1 200 OK\r\nnot a header\r\n\r\n") &&
	    is_no_answer("HTTP/1.1 099 OK\r\n") && is_no_answer("HTTP/1.1 101 Up\r\n\r\n") &&
	    is_no_answer("SSH-2.0-x\r\n\r\n") && is_no_answer("HTTP/2 200\r\n\r\n"),
	    "what is not HTTP is not an answer");
}

/* Return how many bytes are read of START and REST repeated. */
static size_t read_of_endless(const char *start, const char *rest)
{
	struct answer a = { .status = 0 };
	size_t all = answer_read(&a, start, strlen(start));

	for (int i = 0; i < 1 << 20 && a.state < ANSWER_WHOLE; i++)
		all += answer_read(&a, rest, strlen(rest));
	return a.state == ANSWER_WRONG ? all : SIZE_MAX;
}

static void test_bounds(void)
{
	struct answer a;

	tap(read_of_endless("HTTP/1.1 200 OK\r\n", "X: y\r\n") < 17000 &&
	    read_of_endless("HTTP/1.1 200 OK\r\n", "x") < 17000 &&
	    read_of_endless("", "HTTP/1.1 100 C\r\n\r\n") < 17000, "a head without end ends");
	tap(read_of_endless("HTTP/1.1 200 OK\r\n\r\n", "x") < 67000 &&
	    read_of_endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
			    "1\r\nx\r\n") < 67000 &&
	    read_of_endless("HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n", "x") < 67000,
	    "a body without end ends");
	a = feed("HTTP/1.1 429 No\r\nRetry-After:  17 \r\nConnection: keep-alive, close\r\n"
		 "Content-Length: 0\r\n\r\nHTTP/1.1 200", 5, false);
	tap(a.state == ANSWER_WHOLE && !strcmp(a.retry_after, "17 ") && a.closes,
	    "headers are read, and nothing after the answer");
	a = feed("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n", 9,
		 false);
	tap(!a.closes && feed("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 9, false).closes,
	    "a connection is kept by an old server only if it says so");
}

/* Return the seconds of Retry-After TEXT at NOW, or -1. */
static double asked(const char *text, time_t now)
{
	double seconds;

	return pauses_parse(text, now, &seconds) ? seconds : -1;
}

static void test_pauses(void)
{
	struct pauses p = { .seed = 1 };
	double most = 1, first = 0;
	bool good = true, varies = false;

	for (int i = 0; i < 20; i++) {
		double pause = pauses_next(&p, 0);
		good &= pause >= most / 2 && pause <= most;
		varies |= i > 10 && first > 0 && pause != first;
		first = i > 9 ? pause : 0;
		most = 2 * most < 60 ? 2 * most : 60;
	}
	tap(good && varies, "pauses grow to a minute, at random");
	pauses_reset(&p);
	tap(pauses_next(&p, 0) <= 1, "pauses are short again after a success");
	for (int i = 0; i < 20; i++) {
		double pause = pauses_next(&p, 100);
		good &= pause >= 100 && pause <= 160;
	}
	tap(good && pauses_next(&p, 1e9) <= 3660, "the server may ask for a pause, up to an hour");
	tap(asked("120", 0) == 120 && asked("0 ", 0) == 0 &&
	    asked("99999999999999999999", 0) == 3600 &&
	    asked("Sun, 06 Nov 1994 08:49:37 GMT", 784111770) == 7 &&
	    asked("Sunday, 06-Nov-94 08:49:37 GMT", 784111770) == 7 &&
	    asked("Sun Nov  6 08:49:37 1994", 784111770) == 7 &&
	    asked("Sun, 06 Nov 1994 08:49:37 GMT", 784111778) == 0, "all forms of Retry-After");
	tap(asked("", 0) < 0 && asked("-1", 0) < 0 && asked("1.5", 0) < 0 && asked("soon", 0) < 0 &&
	    asked("Sun, 06 Nov 1994 08:49:37 GMTx", 0) < 0, "what is not one is ignored");
}

static bool authorizes(const char *line, const char *want)
{
	char value[AUTHORIZATION_MOST];

	return authorization_make(line, value) && !strcmp(value, want);
}

static void test_authorization(void)
{
	char value[AUTHORIZATION_MOST], *line = mem_zeroed(AUTHORIZATION_MOST, 1);

	tap(authorizes("Aladdin:open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==") &&
	    authorizes("u:", "Basic dTo=") && authorizes("ab:", "Basic YWI6"),
	    "a user and a password");
	tap(authorizes("abc.def", "Bearer abc.def") && authorizes("Bearer x:y", "Bearer x:y"),
	    "a token, or the value itself");
	tap(!authorization_make("", value) && !authorization_make("a\tb", value) &&
	    !authorization_make("a ", value) && !authorization_make(" a", value), "no others");
	memset(line, 'x', AUTHORIZATION_MOST / 2 - 2);
	line[AUTHORIZATION_MOST / 2 - 2] = ':';
	tap(authorization_make(line, value) && strlen(value) < AUTHORIZATION_MOST,
	    "the longest one fits");
	free(line);
}

static void test_hosts(void)
{
	char hosts[] = "# a comment\n127.0.0.1\tlocalhost me\n\n::1 localhost # not.this\n"
		       "bad me\n10.0.0.1 ME other\r\n10.0.0.2\n10.0.0.3 x me\n";
	struct lookup_result r = { .addresses = 0 };
	char text[INET6_ADDRSTRLEN];

	lookup_add_hosts(&r, hosts, "me", 99);
	const struct sockaddr_in *second = (const void *)&r.address[1].any;
	tap(r.addresses == 3 && second->sin_port == htons(99) &&
	    inet_ntop(AF_INET, &second->sin_addr, text, sizeof(text)) && !strcmp(text, "10.0.0.1"),
	    "/etc/hosts has addresses");
	r.addresses = 0;
	tap(lookup_add(&r, "::1", 1) && lookup_add(&r, "1.2.3.4", 1) &&
	    !lookup_add(&r, "1.2.3", 1) && !lookup_add(&r, "a", 1) && r.addresses == 2 &&
	    r.address[0].any.ss_family == AF_INET6,
	    "numeric addresses");
	for (int i = 0; i < 20; i++)
		lookup_add(&r, "1.2.3.4", 1);
	tap(r.addresses == LOOKUP_ADDRESSES, "more addresses than there is room for");
}

/* Return whether TEXT is not a mark. */
static bool is_damaged(const char *text, size_t size)
{
	struct sent s;
	char *exact = mem_zeroed(size + 1, 1);

	memcpy(exact, text, size);
	bool good = sent_parse(&s, exact, size);
	free(exact);
	good |= s.files > 0;
	sent_release(&s);
	return !good;
}

static void test_mark(void)
{
	struct sent s = { .files = 0 }, copy;
	const struct sent_file f[] = {
		{ 100, 60, 5 }, { 40, 60, 7 }, { UINT64_C(999999999999999999), 1, UINT64_MAX / 2 },
		{ 100, 60, 4 },
	};
	size_t size;
	bool good = true;

	for (size_t i = 0; i < 4; i++)
		sent_add(&s, &f[i]);
	sent_add(&s, &f[1]);
	tap(s.files == 4 && s.file[0].start == 40 && sent_has(&s, &f[3]) &&
	    !sent_has(&s, &(struct sent_file){ 100, 60, 6 }), "the mark is a set");
	char *text = sent_format(&s, &size);
	tap(strlen(text) == size && sent_parse(&copy, text, size) && copy.files == 4 &&
	    !memcmp(copy.file, s.file, 4 * sizeof(*f)), "a mark is read as it was written");
	sent_release(&copy);
	for (size_t i = 0; i < size; i++) {
		good &= is_damaged(text, i);
		text[i] ^= 1;
		good &= is_damaged(text, size);
		text[i] ^= 1;
	}
	tap(good && is_damaged("", 0), "a mark with a changed or missing byte is damaged");
	free(text);
	s.file[0] = f[2];
	text = sent_format(&s, &size);
	tap(is_damaged(text, size), "so is one that is not in order");
	s.file[0] = f[1];
	sent_forget(&s, (const struct sent_file[]){ f[1], f[0] }, 2);
	tap(s.files == 2 && sent_has(&s, &f[0]) && sent_has(&s, &f[1]), "files are forgotten");
	sent_forget(&s, NULL, 0);
	tap(s.files == 0, "all of them");
	free(text);
	sent_release(&s);
}

static void test_mark_file(void)
{
	char name[] = "/tmp/test-push-XXXXXX", why[SENT_WHY];
	struct sent s = { .files = 0 }, copy;
	const struct sent_file f = { 1, 2, 3 };
	int directory = mkdtemp(name) ? open(name, O_RDONLY | O_DIRECTORY) : -1;

	tap(sent_read(&copy, directory, "m", why) && copy.files == 0, "at first there is no mark");
	sent_add(&s, &f);
	tap(sent_write(&s, directory, "m") && sent_read(&copy, directory, "m", why) &&
	    sent_has(&copy, &f), "a mark is written and read");
	sent_release(&copy);
	tap(symlinkat("m", directory, "link") == 0 &&
	    !sent_read(&copy, directory, "link", why) && copy.files == 0, "a link is not a mark");
	tap(mkfifoat(directory, "fifo", 0600) == 0 &&
	    !sent_read(&copy, directory, "fifo", why), "a FIFO is not a mark");
	tap(mkdirat(directory, "dir", 0700) == 0 && !sent_write(&s, directory, "dir") &&
	    !sent_write(&s, -1, "m"), "what cannot be written is a failure");
	for (int i = 0; i < 3; i++)
		unlinkat(directory, (const char *[]){ "m", "link", "fifo" }[i], 0);
	unlinkat(directory, "dir", AT_REMOVEDIR);
	close(directory);
	tap(rmdir(name) == 0, "no other file is left");
	sent_release(&s);
}

int main(void)
{
	test_urls();
	test_targets();
	test_answers();
	test_bounds();
	test_pauses();
	test_authorization();
	test_hosts();
	test_mark();
	test_mark_file();
	return tap_done();
}
