/* SPDX-License-Identifier: Apache-2.0 */
/* filter - unwinds the samples of a whole stream. */
#pragma once
#include "base/output.h"
#include "stream/reader.h"
#include "unwind/unwind.h"

/*
 * Write the stream IN (NULL: it could not be opened) to OUT, with callchains from U in place of
 * copies of stacks, and with deferred callchains in their samples.  PROGRAM is the name and the
 * arguments of this program, which are added to the recorder's command line.  The number of
 * deferred callchains goes to the summary of REPORT.
 */
void unwind_filter(struct unwind *u, struct stream_reader *in, struct output *out,
		   const char *const program[2], struct report *report);
