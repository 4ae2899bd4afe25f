/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbolize - resolves the addresses of a whole stream, as pmu-symbolize does.
 *
 *	struct symbolizer *s = symbolizer_new(&how, report);
 *
 *	symbolizer_begin(s, in, out, program);
 *	while (symbolizer_step(s))
 *		;
 *	symbolizer_end(s);
 *	symbolizer_close(s);
 */
#pragma once
#include "base/output.h"
#include "resolve/resolver.h"
#include "stream/reader.h"

struct symbolizer;

/*
 * Return a new symbolizer.  Problems are reported to REPORT, which must outlive it; so must the
 * texts in HOW.
 */
struct symbolizer *symbolizer_new(const struct resolver_options *how, struct report *report);

/*
 * Read IN (NULL: it could not be opened) and write the resolved stream to OUT from now on.  Both
 * must outlive the last step.  PROGRAM is the name and the arguments of this program, which the
 * stream names among those that made it.
 */
void symbolizer_begin(struct symbolizer *s, struct stream_reader *in, struct output *out,
		      const char *const program[2]);

/*
 * Process one record, or several samples that have come.  Return false at the end of the input, or
 * if OUT has ended.
 */
bool symbolizer_step(struct symbolizer *s);

/* After the last step: write the rest. */
void symbolizer_end(struct symbolizer *s);

/* Report the counts (-v), and why names are missing.  The input is still open. */
void symbolizer_report(struct symbolizer *s);

/* Write what was found to the cache of names, if one is in use, and free S. */
void symbolizer_close(struct symbolizer *s);
