/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup - the addresses of a host, by /etc/hosts and by libevent's resolver.
 *
 * The libc's functions would load shared libraries into a static program, and would block.
 * /etc/hosts and /etc/resolv.conf are read again for each look-up.
 */
#pragma once
#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { LOOKUP_ADDRESSES = 8 };		/* at most */

struct lookup_address {
	struct sockaddr_storage any;
	socklen_t size;
};

struct lookup_result {
	struct lookup_address address[LOOKUP_ADDRESSES];
	size_t addresses;
	const char *why;		/* without addresses: why */
};

struct host_lookup;

typedef void lookup_done(void *context, const struct lookup_result *r);

/* Add the address TEXT with PORT to R.  Return false if TEXT is not a numeric address. */
bool lookup_add(struct lookup_result *r, const char *text, uint16_t port);

/* Add the addresses that HOSTS, text like /etc/hosts, has for HOST. */
void lookup_add_hosts(struct lookup_result *r, char *hosts, const char *host, uint16_t port);

/*
 * Find the addresses of HOST, and call DONE with CONTEXT; never before this function returns.
 */
struct host_lookup *lookup_start(struct event_base *base, const char *host, uint16_t port,
			    lookup_done *done, void *context);

/* DONE is not called.  Memory may be in use until BASE has run once more. */
void lookup_cancel(struct host_lookup *l);
