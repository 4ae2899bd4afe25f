/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-flame - show a profile as a flame graph: one HTML file, or a picture.
 *
 * Reads a pprof profile from FILE or stdin, and writes a page that needs nothing but a
 * browser, or with --to svg a still picture.
 */
#include "base/command.h"
#include "show/flame-page.h"
#include "show/flame-svg.h"

#include <errno.h>
#include <unistd.h>

static bool invert;
static const char *type_text, *base, *ratio_text, *by, *least_text, *title, *format, *file;

static const struct command_option options[] = {
	{ 't', "type", "TYPE", "show this sample type first, such as samples", &type_text, NULL },
	{ 0, "diff", "BASE", "colour by the change of shares since the profile BASE", &base, NULL },
	{ 0, "ratio", "A/B", "show type A, coloured by A per B, such as cycles/instructions",
	  &ratio_text, NULL },
	{ 0, "by", "LABEL", "divide the graph by the values of a label, such as thread_comm", &by,
	  NULL },
	{ 0, "invert", NULL, "start with callers: the function on top is the root", &invert, NULL },
	{ 0, "min", "SHARE", "sum up what has less than SHARE, such as 0.1%, of all", &least_text,
	  NULL },
	{ 0, "title", "TEXT", "give the page this title, instead of the name of FILE", &title,
	  NULL },
	{ 0, "to", "FORMAT", "write html (usual) or svg, a still picture", &format, NULL },
	{ 'o', "output", "FILE", "write to FILE instead of stdout", &file, NULL },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-flame",
	.purpose = "show a profile as a flame graph, in one HTML file",
	.operands = "[FILE]",
	.options = options,
};

/* Return the share in TEXT: "0.5%" or "0.005". */
static double parse_share(const char *text)
{
	char *end;

	errno = 0;
	double share = strtod(text, &end);
	bool percent = *end == '%';
	if (end == text || errno || end[percent] || !(share >= 0) ||
	    (share /= percent ? 100 : 1) >= 1)
		command_misused(&command, "--min takes a share such as 0.5%% or 0.005, not '%s'",
				text);
	return share;
}

/* Take --ratio A/B apart.  ROOM: for the text, which stays as long as the options. */
static void parse_ratio(struct flame_options *how, char *room, size_t size)
{
	const char *slash = strchr(ratio_text, '/');

	if (!slash || slash == ratio_text || !slash[1] || strlen(ratio_text) >= size)
		command_misused(&command, "--ratio takes two sample types, as in "
				"cycles/instructions, not '%s'", ratio_text);
	if (type_text || base)
		command_misused(&command, "--ratio chooses the type and the colours: leave out %s",
				base ? "--diff" : "--type");
	snprintf(room, size, "%s", ratio_text);
	room[slash - ratio_text] = '\0';
	how->type = room;
	how->over = room + (slash - ratio_text) + 1;
}

static bool add_profile(struct flame *f, const char *path, enum flame_side side,
			struct report *report)
{
	command_on_signals(SIGNALS_END_BUT_ONE);
	struct decoded *d = decoded_read(path, command_input_ended, report);
	bool good = d && flame_add(f, d, side);

	if (good && side == FLAME_PROFILE && d->samples == 0)
		report_note(report, "'%s' has no samples: what was profiled did nothing that the "
			    "event counts, or ended too soon", path);
	decoded_free(d);
	return good;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void draw(const char *input, const struct flame_options *how, struct report *report)
{
	struct flame *f = flame_new(how, report);
	struct flame_about about = {
		.title = title ? title : !strcmp(input, "-") ? "profile" : base_name(input),
		.base = base ? base_name(base) : NULL, .tool = "pmu-flame " PMU_VERSION };
	struct output out;

	if (add_profile(f, input, FLAME_PROFILE, report) &&
	    (!base || add_profile(f, base, FLAME_BASE, report))) {
		flame_arrange(f);
		command_on_signals(SIGNALS_STOP);
		output_open_whole(&out, file ? file : "-", false, report);
		if (how->still)
			flame_write_svg(f, &about, &out);
		else
			flame_write_page(f, &about, &out);
		if (command_stop)
			output_discard(&out);
		output_close(&out);
	}
	flame_free(f);
}

int main(int argc, char **argv)
{
	char ratio[512];
	struct report report;
	int first = command_begin(&command, &report, argc, argv);
	struct flame_options how = { .type = type_text, .by = by, .invert = invert };

	if (format && strcmp(format, "html") && strcmp(format, "svg"))
		command_misused(&command, "--to takes html or svg, not '%s'", format);
	how.still = format && !strcmp(format, "svg");
	if (least_text)
		how.least = parse_share(least_text);
	if (ratio_text)
		parse_ratio(&how, ratio, sizeof(ratio));
	const char *input = command_input(&command, argc, argv, first);
	if (base && !strcmp(base, "-") && !strcmp(input, "-"))
		command_misused(&command, "only one of the two profiles can come from stdin");
	if (!file && isatty(STDOUT_FILENO))
		command_misused(&command, "will not write a page to a terminal: pipe it on, or use "
				"-o FILE");
	command_spare_inputs(&command, file, &input, 1);
	command_spare_inputs(&command, file, &base, base != NULL);
	draw(input, &how, &report);
	return command_end(&report);
}
