/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-flame - show a profile as a flame graph: one HTML file, or a picture.
 *
 * Reads a pprof profile, folded text, a stream, raw or resolved, or a perf.data file from
 * FILE or stdin, and writes a page that needs nothing but a browser, or with --to svg a
 * still picture.
 */
#include "aggregate/open.h"
#include "base/progress.h"
#include "base/version.h"
#include "flame/flame-page.h"
#include "flame/flame-svg.h"
#include "pprof/rows-by.h"
#include "show/notes.h"
#include "tool/command.h"

#include <unistd.h>

enum { SLICES = 200 };		/* least number of slices of a stream, for the heat map */

static struct flame_options how;
static const char *base, *by, *labels, *ratio, *title, *file;
static bool with_source;
static struct word_list directories;

enum { TO_HTML, TO_SVG };
static const char *const formats[] = { [TO_HTML] = "html", [TO_SVG] = "svg", NULL };
static int format;

static const struct command_option options[] = {
	{ 't', "type", "TYPE", "show this sample type first, such as samples",
	  SETS_TEXT(how.type) },
	{ 0, "diff", "BASE", "colour by the change of shares since the profile BASE",
	  SETS_TEXT(base) },
	{ 0, "ratio", "A/B", "show type A, coloured by A per B; or ipc, mpki, miss-rate",
	  SETS_TEXT(ratio) },
	{ 0, "by", "LABEL", "divide the graph by the values of a label: comm, label:NAME, ...",
	  SETS_TEXT(by) },
	{ 0, "invert", NULL, "show callers: the function on top is the root",
	  SETS_FLAG(how.invert) },
	{ 0, "min", "SHARE", "sum up call paths below SHARE, such as 0.1%",
	  SETS_SHARE(how.least) },
	{ 0, "source", NULL, "put source lines of the hottest functions into the page",
	  SETS_FLAG(with_source) },
	{ 0, "source-path", "DIR", "look for source files in DIR first; may be repeated",
	  SETS_LIST(directories), .group = GROUP_FIND },
	{ 0, "title", "TEXT", "use this title instead of the name of FILE", SETS_TEXT(title) },
	{ 0, "to", "FORMAT", "write a page, or a still picture", SETS_CHOICE(format, formats),
	  .group = GROUP_FILES },
	{ 'o', "output", "FILE", "write to FILE instead of stdout", SETS_TEXT(file),
	  .group = GROUP_FILES },
	{ 0 }
};

static const struct command_spelling spellings[] = { VIEW_SPELLINGS, { 0 } };

static const struct command command = {
	.name = "pmu-flame",
	.purpose = "show a profile as a flame graph, in one HTML file",
	.operands = "[FILE]",
	.options = options,
	.spellings = spellings,
	.reads_files = true,
};

static void parse_ratio(void)
{
	if (!ratio_request_parse(ratio, &how.ratio))
		command_misused(&command, "--ratio takes %s, not '%s'", ratio_request_form, ratio);
	if (how.type || base)
		command_misused(&command, "--ratio chooses the type and the colours: leave out %s",
				base ? "--diff" : "--type");
}

/* Add the profile at PATH to F.  Return it; the caller frees.  NULL: reported. */
static struct decoded *add_profile(struct flame *f, const char *path, enum flame_side side,
				   struct report *report)
{
	const struct open_options as = { .labels = labels, .slices = SLICES,
					 .when_read = command_input_ended };

	command_on_signals(SIGNALS_END_BUT_ONE);
	struct opened *o = opened_new(path, report);
	struct decoded *d = o ? opened_profile(o, &as) : NULL;
	bool good = d && flame_add(f, d, side);

	if (good && side == FLAME_PROFILE)
		flame_make_bars(f, d, opened_kind(o) != OPEN_FOLDED ? NULL
				: "the numbers of folded text may be anything");
	if (good && side == FLAME_PROFILE && d->samples == 0)
		report_note(report, "'%s' has no samples: what was profiled did nothing that the "
			    "event counts, or ended too soon", path);
	if (good)
		notes_report(d, false, report);
	opened_free(o, false);
	if (good)
		return d;
	decoded_free(d);
	return NULL;
}

/* Add the profile INPUT to F, and the base, and judge the changes.  Return false on failure. */
static bool add_profiles(struct flame *f, const char *input, struct report *report)
{
	struct decoded *after = add_profile(f, input, FLAME_PROFILE, report);
	struct decoded *before = after && base ? add_profile(f, base, FLAME_BASE, report) : NULL;
	bool good = after && (before || !base);

	if (good && f->has_base)
		flame_judge(f, before, after);
	decoded_free(after);
	decoded_free(before);
	return good;
}

static void draw(const char *input, struct report *report)
{
	struct flame *f = flame_new(&how, report);
	char tool[128];
	struct flame_about about = {
		.title = title ? title : !strcmp(input, "-") ? "profile" : flame_base_name(input),
		.base = base ? flame_base_name(base) : NULL, .tool = tool };
	struct source_texts texts = { .directories = &directories };
	struct flame_source source = { .extracts = 0 };
	struct output out;

	snprintf(tool, sizeof(tool), "%s %s", command.name, version_text);
	about.file = strcmp(input, "-") ? input : "";
	if (add_profiles(f, input, report)) {
		flame_arrange(f);
		if (with_source)
			flame_source_read(&source, f, &texts);
		about.source = with_source ? &source : NULL;
		command_on_signals(SIGNALS_STOP);
		output_open_whole(&out, file ? file : "-", false, report);
		if (how.still)
			flame_write_svg(f, &about, &out);
		else
			flame_write_page(f, &about, &out);
		if (command_stop)
			output_discard(&out);
		output_close(&out);
	}
	flame_source_release(&source);
	source_texts_release(&texts);
	flame_free(f);
}

int main(int argc, char **argv)
{
	struct report report;

	command_begin(&command, &report, argc, argv);
	progress_allow(&report);
	how.still = format == TO_SVG;
	how.compares = base != NULL;
	const struct rows_by divided_by = rows_by(by);
	how.by = divided_by.label;
	if (by && !how.by)
		command_misused(&command, "--by takes a label, such as comm or label:NAME, not %s",
				by);
	labels = by ? divided_by.of_stream : NULL;
	if (ratio)
		parse_ratio();
	with_source |= directories.count > 0;
	if (with_source && how.still)
		command_misused(&command, "--source puts lines into a page: leave out --to svg");
	const char *input = command_input(&command);
	if (base && !strcmp(base, "-") && !strcmp(input, "-"))
		command_misused(&command, "only one of the two profiles can come from stdin");
	if (!file && isatty(STDOUT_FILENO))
		command_misused(&command, "will not write a page to a terminal: pipe it on, or use "
				"-o FILE");
	command_spare_inputs(&command, file, &input, 1);
	command_spare_inputs(&command, file, &base, base != NULL);
	draw(input, &report);
	return command_end(&report);
}
