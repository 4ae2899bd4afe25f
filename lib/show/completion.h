/* SPDX-License-Identifier: Apache-2.0 */
/* completion - names of events for a shell that completes one. */
#pragma once
#include "event/event.h"

/* Print to stdout what TEXT, the start of a list of events, may be completed to, one per line. */
void completion_print(const struct event_options *options, const char *text);
