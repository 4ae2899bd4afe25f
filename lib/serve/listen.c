/* SPDX-License-Identifier: Apache-2.0 */
#include "base/descriptor.h"
#include "serve/internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/util.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 128 };

static const char unix_prefix[] = "unix:";

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

static const char *unix_path(const char *text)
{
	return strncmp(text, unix_prefix, strlen(unix_prefix)) ? NULL : text + strlen(unix_prefix);
}

/* Parse TEXT to A.  Return its size, or 0. */
static socklen_t parse(const char *text, union address *a)
{
	static const char localhost[] = "localhost:";
	const char *path = unix_path(text);
	int size = sizeof(*a);
	char number[64];

	memset(a, 0, sizeof(*a));
	if (path) {
		a->un.sun_family = AF_UNIX;
		if (!*path || strlen(path) >= sizeof(a->un.sun_path))
			return 0;
		memcpy(a->un.sun_path, path, strlen(path) + 1);
		return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path) + 1);
	}
	if (!strncmp(text, localhost, strlen(localhost))) {
		snprintf(number, sizeof(number), "127.0.0.1:%.20s", text + strlen(localhost));
		text = number;
	}
	/* it also takes addresses without a port */
	const char *colon = strrchr(text, ':');
	if (!colon || colon[1] < '0' || colon[1] > '9' || (*text == '[' && colon[-1] != ']') ||
	    (*text != '[' && strchr(text, ':') != colon))
		return 0;
	/* it refuses port 0 */
	bool any_port = !strcmp(colon, ":0");
	if (any_port && snprintf(number, sizeof(number), "%.*s:1", (int)(colon - text), text) >=
			(int)sizeof(number))
		return 0;
	if (evutil_parse_sockaddr_port(any_port ? number : text, &a->any, &size) < 0)
		return 0;
	if (any_port)
		*(a->any.sa_family == AF_INET ? &a->in.sin_port : &a->in6.sin6_port) = 0;
	return (socklen_t)size;
}

const char *listen_check(const char *text)
{
	union address a;

	return parse(text, &a) ? NULL : text;
}

bool listen_is_local(const char *text)
{
	union address a;

	parse(text, &a);
	switch (a.any.sa_family) {
	case AF_UNIX:
		return true;
	case AF_INET:
		return ntohl(a.in.sin_addr.s_addr) >> 24 == 127;
	default:
		return IN6_IS_ADDR_LOOPBACK(&a.in6.sin6_addr);
	}
}

/* Remove the socket at A if no program listens there any more. */
static void remove_stale(const union address *a, socklen_t size)
{
	struct stat st;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && lstat(a->un.sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
	    connect(fd, &a->any, size) < 0 && errno == ECONNREFUSED)
		unlink(a->un.sun_path);
	descriptor_close(fd);
}

static void write_name(int fd, const char *text, char name[LISTEN_NAME])
{
	union address a;
	socklen_t size = sizeof(a);
	char number[INET6_ADDRSTRLEN] = "";

	if (unix_path(text) || getsockname(fd, &a.any, &size) < 0) {
		snprintf(name, LISTEN_NAME, "%s", text);
	} else if (a.any.sa_family == AF_INET) {
		inet_ntop(AF_INET, &a.in.sin_addr, number, sizeof(number));
		snprintf(name, LISTEN_NAME, "http://%s:%u", number, ntohs(a.in.sin_port));
	} else {
		inet_ntop(AF_INET6, &a.in6.sin6_addr, number, sizeof(number));
		snprintf(name, LISTEN_NAME, "http://[%s]:%u", number, ntohs(a.in6.sin6_port));
	}
}

int listen_open(const char *text, char name[LISTEN_NAME], struct report *report)
{
	union address a;
	socklen_t size = parse(text, &a);
	int fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;
	mode_t mask = umask(0177);	/* a Unix socket is for its owner */

	if (a.any.sa_family == AF_UNIX)
		remove_stale(&a, size);
	else if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	bool good = fd >= 0 && bind(fd, &a.any, size) == 0 && listen(fd, BACKLOG) == 0;
	umask(mask);
	if (good) {
		write_name(fd, text, name);
		return fd;
	}
	report_failure(report, "cannot listen on '%s'", text);
	descriptor_close(fd);
	return -1;
}

void listen_remove(const char *text)
{
	if (unix_path(text))
		unlink(unix_path(text));
}
