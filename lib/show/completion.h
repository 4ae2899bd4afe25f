/* SPDX-License-Identifier: Apache-2.0 */
/* completion - completions of event names for shells. */
#pragma once
#include "event/event.h"

/* Print the completions of TEXT, the start of a list of events, to stdout, one per line. */
void completion_print(const struct event_options *options, const char *text);
