/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-annotate - show the cost of each source line and each instruction of functions.
 *
 * Reads a pprof profile, folded text, a stream, raw or resolved, or a perf.data file from FILE or
 * stdin, the source files of the functions that match, and for instructions the object files.
 * Writes text or an HTML page.
 */
#define _GNU_SOURCE
#include "aggregate/open.h"
#include "base/arena.h"
#include "base/regular.h"
#include "base/version.h"
#include "pprof/sample-type.h"
#include "show/annotate-print.h"
#include "show/notes.h"
#include "show/screen.h"
#include "tool/command.h"
#include "tool/locate-options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TO_TEXT, TO_HTML };
static const char *const formats[] = { [TO_TEXT] = "text", [TO_HTML] = "html", NULL };
static int show_what = ANNOTATE_SOURCE;
static uint64_t context = 5, functions = 10;
static const char *type, *file, *jitdump, *named;
static struct word_list ratios, directories, debug_dirs;
static struct locate_options where = LOCATE_DEFAULTS(debug_dirs);
static int format, bars_are = BARS_AUTO;	/* enum bars_how */

static const char *const shown[] = {
	[ANNOTATE_SOURCE] = "source", [ANNOTATE_CODE] = "asm", [ANNOTATE_BOTH] = "both", NULL
};

static const struct command_option options[] = {
	{ 0, "show", "WHAT", "show source lines, instructions, or both",
	  SETS_CHOICE(show_what, shown) },
	{ 'n', "rows", "COUNT", "show the COUNT hottest functions that match",
	  SETS_COUNT(functions), .least = 1 },
	{ 0, "context", "COUNT", "show COUNT lines around each line that has samples",
	  SETS_COUNT(context) },
	{ 't', "type", "TYPE", "show this sample type, such as samples", SETS_TEXT(type) },
	{ 0, "bars", "WHAT", "show error bars of this kind",
	  SETS_CHOICE(bars_are, bars_how_name) },
	{ 0, "ratio", "A/B", "show a ratio, too: A/B, A/B*1000=NAME, ipc, mpki, miss-rate",
	  SETS_LIST(ratios) },
	{ 0, "source-path", "DIR", "look for source files in DIR first; may be repeated",
	  SETS_LIST(directories), .group = GROUP_FIND },
	{ 0, "jitdump", "FILE", "take the instructions of JIT code from this jitdump file",
	  SETS_TEXT(jitdump), .group = GROUP_FIND },
	LOCATE_OPTIONS(where, debug_dirs),
	{ 0, "to", "FORMAT", "write FORMAT", SETS_CHOICE(format, formats), .group = GROUP_FILES },
	{ 'i', "input", "FILE", "read FILE, as if it were the operand", SETS_TEXT(named),
	  .group = GROUP_FILES },
	{ 'o', "output", "FILE", "write to FILE instead of stdout", SETS_TEXT(file),
	  .group = GROUP_FILES },
	{ 0 }
};

static const struct command_spelling spellings[] = {
	VIEW_SPELLINGS,
	LOCATE_SPELLINGS,
	{ .name = "source", .instead = "use --show source" },
	{ .name = "asm", .instead = "use --show asm" },
	{ .name = "both", .instead = "use --show both" },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-annotate",
	.purpose = "show the cost of source lines and instructions",
	.operands = "FUNCTION [FILE]",
	.options = options,
	.spellings = spellings,
};

/*
 * Return whether NAME is a profile, and so not a function: a file that is compressed, or that has
 * records.
 */
static bool is_profile(const char *name)
{
	static const char *const heads[] = {
		"\x1f\x8b",		/* gzip: RFC 1952, 2.3.1 */
		"\x28\xb5\x2f\xfd",	/* zstd: RFC 8878, 3.1.1 */
		"PERFILE2",
	};
	char head[8 + 1] = "";
	int fd = regular_open(name, false);
	bool is = false;

	if (fd >= 0 && read(fd, head, sizeof(head) - 1) > 0)
		for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
			is |= !strncmp(head, heads[i], strlen(heads[i]));
	if (fd >= 0)
		close(fd);
	return is;
}

static void parse_options(void)
{
	const char *wrong = ratios_wrong(&ratios, false);

	if (wrong)
		command_misused(&command, "--ratio takes %s, not '%s'", ratio_request_form, wrong);
}

static bool add_ratio(void *annotate, const struct decoded *d, struct ratio_column *c, size_t a,
		      size_t b)
{
	(void)d;	/* ANNOTATE has it, too */
	return annotate_add_ratio(annotate, c, a, b);
}

static ssize_t write_to(void *output, const char *bytes, size_t size)
{
	output_write(output, bytes, size);
	return (ssize_t)size;
}

/* Print A as text or as a page. */
static void print(struct annotate *a, struct annotate_view *view)
{
	const cookie_io_functions_t functions_of_output = { .write = write_to };
	struct output out;

	if (a->bars.why_not && !a->no_bars)
		report_note(a->report, "no error bars: %s", a->bars.why_not);
	command_on_signals(SIGNALS_STOP);
	output_open_whole(&out, file ? file : "-", false, a->report);
	FILE *stream = fopencookie(&out, "w", functions_of_output);
	if (!stream)
		report_failure(a->report, "cannot write");
	if (!file)
		view->columns = screen_columns();
	if (stream && format == TO_HTML)
		annotate_print_page(a, view, stream);
	else if (stream)
		annotate_print(a, view, stream);
	if (stream)
		fclose(stream);
	if (command_stop)
		output_discard(&out);
	output_close(&out);
	if (a->matches > a->functions)
		report_note(a->report, "%u more functions match: -n shows more",
			    a->matches - a->functions);
}

/* Show the functions of D that FILTER matches, by the sample type with this INDEX. */
static void show(const struct decoded *d, uint32_t index, const struct name_filter *filter,
		 const char *title, struct report *report)
{
	struct source_texts texts = { .directories = &directories, .sysroot = where.sysroot };
	struct code_files files = { .d = d, .where = where, .report = report };
	struct annotate a = {
		.d = d, .code = &files, .texts = &texts, .report = report, .context = context,
		.disassembler.stop = &command_stop,
		.what = (enum annotate_what)show_what,
		.no_bars = bars_are == BARS_NONE };
	char tool[128];
	struct annotate_view view = { .title = title, .bars = (enum bars_how)bars_are,
				      .tool = tool };
	struct ratio_columns columns = { .count = 0 };

	snprintf(tool, sizeof(tool), "%s %s", command.name, version_text);
	view.type = decoded_string(d, d->type[index].type);
	view.unit = decoded_string(d, d->type[index].unit);
	if (a.what == ANNOTATE_SOURCE)
		files.where.debuginfod = NULL;	/* only the time of the file is of interest */
	if (jitdump)
		files.jit = jit_code_open(jitdump, report);
	if (annotate_choose(&a, filter, index, functions)) {
		annotate_count(&a, index);
		bool good = ratios_make(&columns, &ratios, d, add_ratio, &a, NULL,
					report);
		view.ratio = columns.column;
		view.ratios = columns.count;
		if (good)
			print(&a, &view);
	} else {
		report_error(report, "no function with samples matches; pmu-top shows which "
			     "functions the profile has");
	}
	ratios_release(&columns);
	annotate_release(&a);
	code_files_release(&files);
	source_texts_release(&texts);
}

int main(int argc, char **argv)
{
	struct report report;
	struct name_filter filter;
	int first = command_begin(&command, &report, argc, argv);

	if (first == argc)
		command_misused(&command, "which functions? give a name, or a regular expression "
				"such as '^main$'");
	if (argc - first == 1 && !named && is_profile(argv[first]))
		command_misused(&command, "which functions? '%s' is taken for a name, and is a "
				"profile: type pmu-annotate NAME %s", argv[first], argv[first]);
	if (argc - first > 2 - (named != NULL))
		command_misused(&command, "more than one FILE");
	parse_options();
	name_filter_init(&filter, argv[first], NAME_MINDS_CASE);
	const char *input = named ? named : first + 1 < argc ? argv[first + 1] : "-";
	if (!strcmp(input, "-") && isatty(STDIN_FILENO))
		command_misused(&command, "stdin is a terminal: name a FILE, or pipe a profile "
				"in");
	command_spare_inputs(&command, file, &input, 1);
	locate_check_list(&where.build_id_map, &report);
	const struct open_options as = { .labels = "none", .when_read = command_input_ended,
					 .slices = bars_are == BARS_NONE ? 0 : 20 };
	command_on_signals(SIGNALS_END_BUT_ONE);
	struct decoded *d = open_profile(input, &as, &report);
	uint32_t index = d ? sample_type_find(d, type, NULL, &report) : TABLE_NONE;
	if (index != TABLE_NONE) {
		show(d, index, &filter, input, &report);
		notes_report(d, false, &report);
	}
	decoded_free(d);
	name_filter_release(&filter);
	return command_end(&report);
}
