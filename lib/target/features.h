/* SPDX-License-Identifier: Apache-2.0 */
/* features - the FEATURE records, which describe the machine and the recording. */
#pragma once
#include "base/output.h"

/*
 * Write the recorder's name and version, and REMARK if it is not NULL.  Must be the first record:
 * it shows readers that a complete stream ends with the time span.
 */
void features_write_recorder(struct output *out, const char *remark);

/*
 * Write host, kernel, architecture, CPUs, command line, and the wall-clock time that
 * corresponds to a time of CLOCK.
 */
void features_write(struct output *out, int argc, char *const *argv, int clock);

/*
 * Write vendor, family, model and stepping of an x86 CPU (perf's CPUID), without which not all of a
 * raw record of AMD's IBS can be decoded.
 */
void features_write_cpu(struct output *out);

/* Write the start and end of sampling, in ns of the stream's clock (perf's SAMPLE_TIME). */
void features_write_time_span(struct output *out, uint64_t first, uint64_t last);
