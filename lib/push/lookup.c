/* SPDX-License-Identifier: Apache-2.0 */
#include "push/lookup.h"
#include "base/arena.h"
#include "base/regular.h"

#include <arpa/inet.h>
#include <event2/dns.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct timeval limit = { .tv_sec = 20 };		/* of a look-up */
static const struct timeval other_limit = { .tv_sec = 2 };	/* once one family has addresses */

struct host_lookup {
	struct evdns_base *dns;
	struct event *on_end;		/* time is up, or there is a result */
	unsigned queries;		/* that have not ended */
	uint16_t port;
	struct lookup_result result;
	lookup_done *done;		/* NULL: cancelled, or called */
	void *context;
};

bool lookup_add(struct lookup_result *r, const char *text, uint16_t port)
{
	struct lookup_address a = { .size = 0 };
	struct sockaddr_in *in = (void *)&a.any;
	struct sockaddr_in6 *in6 = (void *)&a.any;

	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		a.size = sizeof(*in);
	} else if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		a.size = sizeof(*in6);
	} else {
		return false;
	}
	if (r->addresses < LOOKUP_ADDRESSES)
		r->address[r->addresses++] = a;
	return true;
}

void lookup_add_hosts(struct lookup_result *r, char *hosts, const char *host, uint16_t port)
{
	static const char blank[] = " \t\r";
	char *rest, *next, *word;

	for (char *line = strtok_r(hosts, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		line[strcspn(line, "#")] = '\0';
		const char *address = strtok_r(line, blank, &next);
		while (address && (word = strtok_r(NULL, blank, &next)) != NULL)
			if (!strcasecmp(word, host)) {
				lookup_add(r, address, port);
				break;
			}
	}
}

/* Add what is known of HOST without a name server. */
static void add_local(struct lookup_result *r, const char *host, uint16_t port)
{
	enum { MOST = 4 << 20 };	/* bytes of /etc/hosts that are read */
	size_t size;

	if (lookup_add(r, host, port))
		return;
	char *hosts = regular_read("/etc/hosts", MOST, &size);
	if (hosts)
		lookup_add_hosts(r, hosts, host, port);
	free(hosts);
	if (r->addresses == 0 && !strcasecmp(host, "localhost")) {
		lookup_add(r, "127.0.0.1", port);
		lookup_add(r, "::1", port);
	}
}

static void release_if_ended(struct host_lookup *l)
{
	if (!l->done && l->queries == 0)
		free(l);
}

/* Its queries end later, by calls of got_addresses() with a failure. */
static void shut_down(struct host_lookup *l)
{
	l->done = NULL;
	event_free(l->on_end);
	if (l->dns)
		evdns_base_free(l->dns, 1);
	release_if_ended(l);
}

static void on_end(evutil_socket_t fd, short what, void *context)
{
	struct host_lookup *l = context;
	struct lookup_result result = l->result;
	lookup_done *done = l->done;
	void *context_of_done = l->context;

	(void)fd;
	(void)what;
	if (result.addresses == 0 && !result.why)
		result.why = l->queries ? "no name server answers" : "its name has no address";
	shut_down(l);
	done(context_of_done, &result);
}

/* As evdns calls it, with COUNT addresses of 4 or 16 bytes each. */
static void got_addresses(int failure, char type, int count, int ttl, void *addresses,
			  void *context)
{
	struct host_lookup *l = context;
	int family = type == DNS_IPv6_AAAA ? AF_INET6 : AF_INET;
	size_t size = family == AF_INET6 ? 16 : 4;
	char text[INET6_ADDRSTRLEN];

	(void)ttl;
	l->queries--;
	if (!l->done) {
		release_if_ended(l);
		return;
	}
	for (int i = 0; failure == DNS_ERR_NONE && i < count; i++)
		if (inet_ntop(family, (const char *)addresses + (size_t)i * size, text,
			      sizeof(text)))
			lookup_add(&l->result, text, l->port);
	if (failure == DNS_ERR_NOTEXIST)
		l->result.why = "there is no such name";
	else if (failure == DNS_ERR_TIMEOUT)
		l->result.why = "no name server answers";
	else if (failure != DNS_ERR_NONE && failure != DNS_ERR_NODATA && !l->result.why)
		l->result.why = evdns_err_to_string(failure);
	if (l->queries == 0)
		event_active(l->on_end, EV_TIMEOUT, 0);
	else if (l->result.addresses > 0)
		event_add(l->on_end, &other_limit);
}

/* A message would have no name of a tool; the result says what failed. */
static void ignore_message(int is_warning, const char *message)
{
	(void)is_warning;
	(void)message;
}

/* Ask the name servers for HOST. */
static void ask(struct host_lookup *l, struct event_base *base, const char *host)
{
	evdns_set_log_fn(ignore_message);
	l->dns = evdns_base_new(base, 0);
	if (!l->dns)
		return;
	evdns_base_set_option(l->dns, "timeout:", "3");
	evdns_base_set_option(l->dns, "attempts:", "2");
	/* without that file, a name server of this machine is asked */
	evdns_base_resolv_conf_parse(l->dns, DNS_OPTION_SEARCH | DNS_OPTION_NAMESERVERS |
				     DNS_OPTION_MISC, "/etc/resolv.conf");
	/* a query may end before the function that starts it returns */
	l->queries = 2;
	l->queries -= !evdns_base_resolve_ipv6(l->dns, host, 0, got_addresses, l);
	l->queries -= !evdns_base_resolve_ipv4(l->dns, host, 0, got_addresses, l);
}

struct host_lookup *lookup_start(struct event_base *base, const char *host, uint16_t port,
			    lookup_done *done, void *context)
{
	struct host_lookup *l = mem_zeroed(1, sizeof(*l));

	*l = (struct host_lookup){ .port = port, .done = done, .context = context };
	l->on_end = evtimer_new(base, on_end, l);
	if (!l->on_end)
		abort();	/* out of memory */
	evtimer_add(l->on_end, &limit);
	add_local(&l->result, host, port);
	if (l->result.addresses == 0)
		ask(l, base, host);
	if (l->queries == 0)
		event_active(l->on_end, EV_TIMEOUT, 0);
	return l;
}

void lookup_cancel(struct host_lookup *l)
{
	if (l)
		shut_down(l);
}
