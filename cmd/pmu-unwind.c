/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-unwind - turn copies of stacks into callchains.
 *
 * Reads a stream or a perf.data file (pmu-stream(5)) whose samples have registers and a copy of
 * the stack (--call-graph dwarf) from FILE or stdin, and writes the same stream with callchains
 * in their place.  Everything else passes through.
 */
#include "base/progress.h"
#include "counters/settings.h"
#include "tool/command.h"
#include "tool/locate-options.h"
#include "unwind/filter.h"

#include <stdlib.h>

static bool join = true, frame_pointers = true;
static int arch = -1;
static uint64_t max_stack = UNWIND_STACK_MAX;
static const char *file;
static struct word_list debug_dirs;
static struct unwind_options how = { .where = LOCATE_DEFAULTS(debug_dirs) };

static const char *const arches[] = { "x86_64", "arm64", NULL };

static const struct command_option options[] = {
	{ 0, "max-stack", "COUNT", "write at most COUNT user frames of a sample",
	  SETS_COUNT(max_stack), .least = 1, .most = UNWIND_STACK_MOST },
	{ 0, "join", "YES|NO", "complete stacks longer than their copy from earlier stacks",
	  SETS_YES_NO(join) },
	{ 0, "frame-pointers", "YES|NO", "follow frame pointers in code without CFI",
	  SETS_YES_NO(frame_pointers) },
	{ 0, "keep-dumps", NULL, "keep the copies of registers and stacks, too",
	  SETS_FLAG(how.keep_dumps) },
	{ 0, "user-regs", "LIST", "keep these registers, such as ip,sp, of unwound samples",
	  PARSED_BY(settings_parse_registers, how.registers, SETTINGS_REGISTERS_TAKES),
	  .excludes = "keep-dumps" },
	{ 0, "arch", "ARCH", "the machine, if the stream does not name it",
	  SETS_CHOICE(arch, arches) },
	LOCATE_OPTIONS(how.where, debug_dirs),
	{ 'o', "output", "FILE", "write to FILE instead of stdout", SETS_TEXT(file),
	  .group = GROUP_FILES },
	{ 0 }
};

static const struct command_spelling spellings[] = { LOCATE_SPELLINGS, { 0 } };

static const struct command command = {
	.name = "pmu-unwind",
	.purpose = "turn copies of stacks into callchains",
	.operands = "[FILE]",
	.options = options,
	.spellings = spellings,
	.reads_files = true,
};

int main(int argc, char **argv)
{
	struct report report;
	struct output out;

	char *line = words_quoted((size_t)argc - 1, (const char *const *)argv + 1);
	command_begin(&command, &report, argc, argv);
	progress_allow(&report);
	const char *input = command_input(&command);
	locate_check_list(&how.where.build_id_map, &report);
	how.where.recorded_before = locate_written_at(input);
	how.stack_max = (uint32_t)max_stack;
	how.no_join = !join;
	how.no_frame_pointers = !frame_pointers;
	how.arch = arch < 0 ? NULL : arches[arch];
	command_spare_inputs(&command, file, &input, 1);
	command_output(&command, &out, file, &report);
	struct stream_reader *in = stream_open(input, &command_stop, &report);
	how.is_swapped = stream_is_swapped(in);
	struct unwind *unwind = unwind_new(&how, stream_origin(in), &report);
	struct unwind_filter *filter = unwind_filter_new(unwind, in, &out,
							 (const char *[2]){ command.name, line },
							 &report);
	while (unwind_filter_step(filter))
		;
	unwind_filter_end(filter);
	output_close(&out);
	unwind_filter_free(filter);
	unwind_report(unwind);
	unwind_free(unwind);
	stream_close(in);
	free(line);
	return command_end(&report);
}
