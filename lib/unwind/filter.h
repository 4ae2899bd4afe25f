/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter - unwinds the samples of a whole stream, as pmu-unwind does.
 *
 *	struct unwind_filter *f = unwind_filter_new(u, in, out, program, report);
 *
 *	while (unwind_filter_step(f))
 *		;
 *	unwind_filter_end(f);
 *	unwind_filter_free(f);
 */
#pragma once
#include "base/output.h"
#include "stream/reader.h"
#include "unwind/unwind.h"

struct unwind_filter;

/*
 * Return a filter that writes the stream IN (NULL: it could not be opened) to OUT, with callchains
 * from U in place of copies of stacks, and with deferred callchains in their samples.  All of them
 * must outlive it.  PROGRAM is the name and the arguments of this program, which are added to the
 * recorder's command line.
 */
struct unwind_filter *unwind_filter_new(struct unwind *u, struct stream_reader *in,
					struct output *out, const char *const program[2],
					struct report *report);

/* Process one record.  Return false at the end of the input, or if OUT has ended. */
bool unwind_filter_step(struct unwind_filter *f);

/*
 * After the last step: write the rest.  The number of deferred callchains goes to the summary of
 * the report.
 */
void unwind_filter_end(struct unwind_filter *f);

void unwind_filter_free(struct unwind_filter *f);
