/* SPDX-License-Identifier: Apache-2.0 */
/*
 * no-lookup - replaces the libc functions by which libevent looks up hosts and services.
 *
 * The server listens on numeric addresses only, and looks up where it sends profiles by another
 * resolver (push/lookup.h).  glibc's own functions would load shared libraries into a static
 * program, and could query name servers.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
		struct addrinfo **result)
{
	(void)name;
	(void)service;
	(void)hints;
	*result = NULL;
	return EAI_FAIL;
}

void freeaddrinfo(struct addrinfo *list)
{
	(void)list;	/* getaddrinfo() has made none */
}

struct servent *getservbyname(const char *name, const char *protocol)
{
	(void)name;
	(void)protocol;
	return NULL;
}

struct protoent *getprotobynumber(int number)
{
	(void)number;
	return NULL;
}

/* Write the numeric address to HOST and the port to SERVICE: evhttp stores both. */
int getnameinfo(const struct sockaddr *address, socklen_t size, char *host, socklen_t host_size,
		char *service, socklen_t service_size, int flags)
{
	const void *bytes = NULL;
	unsigned port = 0;

	(void)size;
	(void)flags;
	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)address;
		bytes = &in->sin_addr;
		port = ntohs(in->sin_port);
	} else if (address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const void *)address;
		bytes = &in6->sin6_addr;
		port = ntohs(in6->sin6_port);
	}
	if (!bytes || !inet_ntop(address->sa_family, bytes, host, host_size))
		snprintf(host, host_size, "local");
	snprintf(service, service_size, "%u", port);
	return 0;
}
