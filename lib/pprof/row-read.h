/* SPDX-License-Identifier: Apache-2.0 */
/* row-read - reads rows (pmu-rows(5)) as a profile. */
#pragma once
#include "pprof/decode.h"

/*
 * Read the rows of IN.  Memory grows with the number of distinct samples, not with the number of
 * rows.  Lines that are not rows are reported and left out.  Return NULL (reported) if no row is
 * left, or not all could be read.  WHEN_READ, if not NULL, is called once all input has been read.
 */
struct decoded *row_read(const struct decoded_input *in, void when_read(void),
			 struct report *report);
