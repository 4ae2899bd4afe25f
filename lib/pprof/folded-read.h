/* SPDX-License-Identifier: Apache-2.0 */
/* folded-read - turns folded lines of text (pprof/folded-lines.h) into a profile. */
#pragma once
#include "base/report.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Encode the SIZE bytes of TEXT, whose last line ends with a newline, as a profile of the type
 * samples/count.  Return its bytes, which the caller frees, and set *ENCODED to their number;
 * or return NULL (reported) if no line is a stack with a number.  Other lines are reported and
 * left out, but for empty ones and comments (#).  FILE is the name for messages.  Overwrites TEXT.
 */
uint8_t *folded_read(char *text, size_t size, const char *file, size_t *encoded,
		     struct report *report);
