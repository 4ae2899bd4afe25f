/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-symbolize - resolve the addresses in a stream to functions.
 *
 * Reads a stream or a perf.data file (pmu-stream(5)) from FILE or stdin, and
 * writes the resolved stream: samples name chains of functions in place of addresses,
 * everything else passes through.
 */
#include "base/progress.h"
#include "filter/symbolize.h"
#include "tool/command.h"
#include "tool/locate-options.h"

#include <stdlib.h>

static bool inlines = true, lines = true;
static int style = DEMANGLE_TEMPLATES;
static const char *file;
static struct word_list debug_dirs;
static struct resolver_options how = {
	RESOLVER_USUAL_SIZES, .symbols = true, .where = LOCATE_DEFAULTS(debug_dirs),
};

static const char *const styles[] = {
	[DEMANGLE_NONE] = "none", [DEMANGLE_SIMPLE] = "simple",
	[DEMANGLE_TEMPLATES] = "templates", [DEMANGLE_FULL] = "full", NULL
};

static const struct command_option options[] = {
	{ 0, "kallsyms", "FILE", "take the kernel's symbols from FILE, a copy of /proc/kallsyms",
	  SETS_TEXT(how.kallsyms) },
	{ 0, "demangle", "STYLE", "show names in this style", SETS_CHOICE(style, styles) },
	{ 0, "inlines", "YES|NO", "show calls inlined into functions", SETS_YES_NO(inlines) },
	{ 0, "lines", "YES|NO", "add files and lines", SETS_YES_NO(lines) },
	LOCATE_OPTIONS(how.where, debug_dirs),
	{ 0, "cache", "DIR", "save functions and lines of programs in DIR for later runs",
	  SETS_TEXT(how.cache.directory) },
	{ 0, "cache-size", "SIZE", "limit the size of this cache; old files are removed first",
	  SETS_SIZE(how.cache.size_max), .needs = "cache" },
	{ 0, "definitions", "SIZE", "forget definitions after SIZE bytes of them",
	  SETS_SIZE(how.definitions_max) },
	{ 'o', "output", "FILE", "write to FILE instead of stdout", SETS_TEXT(file),
	  .group = GROUP_FILES },
	{ 0 }
};

static const struct command_spelling spellings[] = { LOCATE_SPELLINGS, { 0 } };

static const struct command command = {
	.name = "pmu-symbolize",
	.purpose = "resolve the addresses in a stream to functions",
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
	how.demangle = (enum demangle_style)style;
	how.no_inlines = !inlines;
	how.no_lines = !lines;
	locate_check_list(&how.where.build_id_map, &report);
	how.where.recorded_before = locate_written_at(input);
	command_spare_inputs(&command, file, &input, 1);
	command_output(&command, &out, file, &report);
	struct symbolizer *symbolizer = symbolizer_new(&how, &report);
	struct stream_reader *in = stream_open(input, &command_stop, &report);
	symbolizer_begin(symbolizer, in, &out, (const char *[2]){ command.name, line });
	while (symbolizer_step(symbolizer))
		;
	symbolizer_end(symbolizer);
	output_close(&out);
	symbolizer_report(symbolizer);
	stream_close(in);
	symbolizer_close(symbolizer);	/* no other tool in the pipe waits while it saves names */
	free(line);
	return command_end(&report);
}
