/* SPDX-License-Identifier: Apache-2.0 */
/* listen - the sockets of a server: addresses by number, and Unix sockets. */
#pragma once
#include "base/report.h"

#include <stdbool.h>
#include <stddef.h>

/* Return NULL if TEXT is 127.0.0.1:6060, [::1]:6060, localhost:6060 or unix:PATH; or TEXT. */
const char *listen_check(const char *text);

/* Return whether only programs on this machine can connect to TEXT, for which that is NULL. */
bool listen_is_local(const char *text);
