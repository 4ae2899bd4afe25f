/* SPDX-License-Identifier: Apache-2.0 */
/* listen - the sockets of a server: addresses by number, and Unix sockets. */
#pragma once
#include "base/report.h"

#include <stdbool.h>
#include <stddef.h>

enum { LISTEN_NAME = 160 };	/* bytes of a name of an address, with its NUL */

/* Return NULL if TEXT is 127.0.0.1:6060, [::1]:6060, localhost:6060 or unix:PATH; or TEXT. */
const char *listen_check(const char *text);

/* Return whether only programs on this machine can connect to TEXT, for which that is NULL. */
bool listen_is_local(const char *text);

/*
 * Open a socket for TEXT, and write how to address it to NAME: "http://127.0.0.1:6060",
 * "unix:PATH".  Port 0 is a free port.  Return a non-blocking descriptor, or -1 (reported).
 */
int listen_open(const char *text, char name[LISTEN_NAME], struct report *report);

/* Remove the Unix socket of TEXT, if it is one. */
void listen_remove(const char *text);
