/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-topprof - aggregate a stream to a pprof profile.
 *
 * Reads a raw or resolved stream or a perf.data file (pmu-stream(5)) from FILE
 * or stdin, and writes profile.proto, gzip'd, as go tool pprof reads it.
 */
#include "base/command.h"
#include "profile/collect.h"

#include <inttypes.h>

static bool no_scale;
static const char *file;

static const struct command_option options[] = {
	{ 0, "no-scale", NULL, "leave values of multiplexed events as they were counted",
	  &no_scale, NULL },
	{ 'o', "output", "FILE", "write to FILE instead of stdout", &file, NULL },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-topprof",
	.purpose = "aggregate a stream to a pprof profile",
	.operands = "[FILE]",
	.options = options,
};

int main(int argc, char **argv)
{
	struct report report;
	struct output out;
	struct collect c;

	int first = command_begin(&command, &report, argc, argv);
	const char *input = command_input(&command, argc, argv, first);
	command_output(&command, &out, file, &report);
	collect_init(&c, &report);
	c.profile.no_scale = no_scale;

	struct stream_reader *in = stream_open(input, &report);
	stream_stop_on(in, &command_stop);
	collect_stream(&c, in);
	collect_comment(&c, in);
	if (in)
		profile_write(&c.profile, stream_events(in), stream_origin(in), &out);

	report_summary(&report, "%" PRIu64 " distinct stacks, %" PRIu64 " lost, throttled %" PRIu64
		       " times, %" PRIu64 " bytes", (uint64_t)c.profile.stacks.count, c.lost,
		       c.throttled, out.written);
	stream_close(in);
	collect_release(&c);
	output_close(&out);
	return command_end(&report);
}
