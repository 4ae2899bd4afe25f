/* SPDX-License-Identifier: Apache-2.0 */
/* about - what a stream says of the machine and the command it was recorded by. */
#pragma once
#include "base/output.h"

/*
 * Write who records, and REMARK if it is not NULL.  It is the first record,
 * and promises that the span is the last one.
 */
void about_write_recorder(struct output *out, const char *remark);

/*
 * Write the FEATURE records: host, kernel, architecture, CPUs, command line,
 * and how CLOCK relates to wall-clock time.
 */
void about_write(struct output *out, int argc, char *const *argv, int clock);

/* Write when sampling began and ended, ns of the stream's clock (perf's SAMPLE_TIME). */
void about_write_span(struct output *out, uint64_t first, uint64_t last);
