/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-topprof - aggregate a stream to a pprof profile; merge profiles.
 *
 * Reads a raw or resolved stream or a perf.data file (pmu-stream(5)) from FILE or stdin, and
 * writes profile.proto, gzip'd, as go tool pprof reads it; or adds up the given profiles.  Under
 * the name perf_to_profile, by which go tool pprof calls it, it takes that program's options and
 * also resolves the addresses.
 */
#include "aggregate/as-time.h"
#include "aggregate/outputs.h"
#include "base/progress.h"
#include "base/units.h"
#include "pprof/comments.h"
#include "pprof/detect.h"
#include "pprof/fold.h"
#include "pprof/merge.h"
#include "pprof/select.h"
#include "record/words.h"
#include "tool/collect-options.h"
#include "tool/command.h"
#include "tool/selection-options.h"
#include "views/wait-views.h"

#include <inttypes.h>
#include <unistd.h>

enum { TYPES_ALL, TYPES_ONE, TYPES_PERF };
enum { TO_PPROF, TO_FOLDED, TO_ROWS };
enum { ADD_LATENCY, ADD_WALL, ADD_TIME, ADD_PARALLELISM };
enum { FRAMES_DATA, FRAMES_CUT, FRAMES_NOT_SAMPLED, FRAMES_NO_LOST };

static bool force, jit, skip_damaged, print_files, for_go, all_sides;
static const char *file, *input_file, *diff_base, *go_program;
static struct pgo *pgo;		/* with --pgo: what was read so far */
static int types = TYPES_ALL, packing = PACK_GZIP, format;
static unsigned added, frames;
static int chain_links;
static struct collect_options how = { .selection = SELECTION_ALL };
static struct word_list comments;
static struct row_options of_rows;

static const char *const packings[] = {
	[PACK_GZIP] = "gzip", [PACK_NONE] = "none", [PACK_ZSTD] = "zstd", NULL
};

static const char *const type_choices[] = {
	[TYPES_ALL] = "all", [TYPES_ONE] = "one", [TYPES_PERF] = "perf", NULL
};

static const char *const formats[] = {
	[TO_PPROF] = "pprof", [TO_FOLDED] = "folded", [TO_ROWS] = "rows", NULL
};

static const char *const additions[] = {
	[ADD_LATENCY] = "latency", [ADD_WALL] = "wall", [ADD_TIME] = "time",
	[ADD_PARALLELISM] = "parallelism", NULL
};

static const char *const frame_kinds[] = {
	[FRAMES_DATA] = "data", [FRAMES_CUT] = "cut", [FRAMES_NOT_SAMPLED] = "not-sampled",
	[FRAMES_NO_LOST] = "no-lost", NULL
};

/* What a profile for Go's compiler cannot have. */
#define ELSEWHERE "to label slices add frames split diff types no-scale skip-damaged"

/* The same of profiles of waits. */
#define NO_BLOCK "mutex add split diff types no-scale skip-damaged pgo event time"
#define NO_MUTEX "add split diff types no-scale skip-damaged pgo event time"

/* What one profile of several sides cannot have. */
#define OF_ONE_SIDE "block mutex to split diff types event time add skip-damaged pgo"

#define WHAT_IS_COUNTED "What the profile has"

static const struct command_option options[] = {
	{ 'l', "label", "LIST", "label samples: pid,cpu,label:NAME,...; or none",
	  SETS_TEXT(how.labels) },
	{ 0, "add", "LIST", "add types, and a label", SETS_SOME(added, additions),
	  .only = FOR_STREAMS },
	{ 0, "frames", "LIST", "add frames", SETS_SOME(frames, frame_kinds),
	  .only = FOR_STREAMS },
	{ 0, "split", "WHAT", "write a profile for each process or thread, or each TIME (10s)",
	  PARSED_BY(collect_parse_split, how, "process, thread or a time such as 10s"),
	  .only = FOR_STREAMS, .needs = "output" },
	{ 0, "block", "[HOW]", "where threads wait for others, as in Go; =all: also sleep, timers",
	  PARSED_BY(collect_parse_block, how, "nothing, or all"), .only = FOR_STREAMS,
	  .excludes = NO_BLOCK },
	{ 0, "mutex", "[HOW]", "who keeps threads waiting, by unlocks; =causes: and why",
	  PARSED_BY(collect_parse_mutex, how, "nothing, or causes"), .only = FOR_STREAMS,
	  .excludes = NO_MUTEX },
	{ 0, "chain", "N", "--mutex=causes, --waits: follow N threads", SETS_INTEGER(chain_links),
	  .least = 1, .most = 16, .only = FOR_STREAMS, .needs = "mutex waits" },
	{ 0, "diff", "BASE", "subtract the profile BASE from the sum of the profiles",
	  SETS_TEXT(diff_base) },
	SELECTION_OPTIONS(how.selection),
	{ 0, "types", "WHICH", "sample types, also with perf_to_profile's names",
	  SETS_CHOICE(types, type_choices), .group = WHAT_IS_COUNTED },
	{ 0, "slices", "N[,COUNT]", "label N to 2N slices of time (20), fewer above COUNT stacks",
	  PARSED_BY(collect_parse_slices, how, "a number from 0 to 1000000, and a number of "
		    "stacks after a comma"), .only = FOR_STREAMS, .group = WHAT_IS_COUNTED },
	{ 0, "no-scale", NULL, "do not scale the values of events that shared a counter",
	  SETS_FLAG(how.no_scale), .only = FOR_STREAMS, .group = WHAT_IS_COUNTED },
	{ 0, "max-stacks", "COUNT", "keep at most COUNT stacks; the rest goes to [other stacks]",
	  SETS_COUNT(how.max_stacks), .least = 2, .most = UINT32_MAX, .only = FOR_STREAMS,
	  .group = WHAT_IS_COUNTED },
	{ 0, "max-label-values", "COUNT", "keep COUNT values of a label:NAME; the rest is [other]",
	  SETS_COUNT(how.label_values), .least = 1, .most = UINT32_MAX, .only = FOR_STREAMS,
	  .group = WHAT_IS_COUNTED },
	{ 0, "comment", "TEXT", "add TEXT to the comments of the profile; may be repeated",
	  SETS_LIST(comments), .only = FOR_STREAMS, .group = WHAT_IS_COUNTED },
	{ 0, "skip-damaged", NULL, "leave out profiles that cannot be read or added",
	  SETS_FLAG(skip_damaged), .only = FOR_PROFILES, .group = GROUP_FILES },
	{ 0, "print-files", NULL, "print a line for each file of --split: written or failed, name",
	  SETS_FLAG(print_files), .only = FOR_STREAMS, .needs = "split", .group = GROUP_FILES },
	{ 0, "pgo", NULL, "write a profile for Go's compiler: go build -pgo",
	  SETS_FLAG(for_go), .group = GROUP_FILES, .excludes = ELSEWHERE },
	{ 0, "main", "FILE", "--pgo: the Go program; default: the one with most samples",
	  SETS_TEXT(go_program), .needs = "pgo", .group = GROUP_FILES },
	{ 0, "waits", NULL, "write what ran, and the profiles of waits, as types of one profile",
	  SETS_FLAG(all_sides), .only = FOR_STREAMS, .excludes = OF_ONE_SIDE,
	  .group = GROUP_FILES },
	{ 0, "to", "FORMAT", "write a profile, folded stacks, or rows",
	  SETS_CHOICE(format, formats), .group = GROUP_FILES },
	{ 0, "host", "NAME", "rows: the host; default: the one in the profile's comments",
	  SETS_TEXT(of_rows.host), .needs = "to", .group = GROUP_FILES },
	{ 0, "service", "NAME", "rows: the service; default: the label comm, or thread_comm",
	  SETS_TEXT(of_rows.service), .needs = "to", .group = GROUP_FILES },
	{ 0, "rows-detail", NULL, "rows: also the file, line and build ID of each frame",
	  SETS_FLAG(of_rows.details), .needs = "to", .group = GROUP_FILES },
	{ 'Z', "compress", "HOW", "compress the profile", SETS_CHOICE(packing, packings),
	  .group = GROUP_FILES },
	{ 'o', "output", "FILE", "write to FILE, not stdout; with --split: a directory, or names",
	  SETS_TEXT(file), .group = GROUP_FILES },
	{ 0 }
};

static const struct command_spelling spellings[] = {
	{ .name = "per-process", .argument = true, .instead = "use --split process -o DIR" },
	{ .name = "per-thread", .argument = true, .instead = "use --split thread -o DIR" },
	{ .name = "interval", .argument = true, .instead = "use --split TIME -o NAME" },
	{ .name = "output-template", .argument = true, .instead = "use --split TIME -o NAME" },
	{ .name = "naming", .argument = true, .instead = "use --types perf" },
	{ .name = "slice-stacks", .argument = true, .instead = "use --slices N,COUNT" },
	{ .name = "latency", .instead = "use --add latency" },
	{ .name = "wall", .instead = "use --add wall" },
	{ .name = "as-time", .instead = "use --add time" },
	{ .name = "parallelism", .instead = "use --add parallelism" },
	{ .name = "data-frames", .instead = "use --frames data" },
	{ .name = "mark-cut", .instead = "use --frames cut" },
	{ .name = "not-sampled", .instead = "use --frames not-sampled" },
	{ .name = "drop-lost", .instead = "use --frames no-lost" },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-topprof",
	.purpose = "aggregate a stream to a pprof profile; merge profiles",
	.operands = "[FILE...]",
	.options = options,
	.spellings = spellings,
	.reads_files = true,
};

static const struct command_option drop_in_options[] = {
	{ 'i', "input", "FILE", "read FILE, a perf.data file or a stream", SETS_TEXT(input_file) },
	{ 'o', "output", "FILE", "write the profile to FILE", SETS_TEXT(file) },
	{ 'f', "force", NULL, "overwrite FILE if it exists", SETS_FLAG(force) },
	{ 'j', "jit", NULL, "resolve JIT code (always done)", SETS_FLAG(jit) },
	{ 0 }
};

static const struct command drop_in = {
	.name = "perf_to_profile",
	.purpose = "make a pprof profile of a perf.data file, with symbols",
	.operands = "-i FILE -o FILE",
	.options = drop_in_options,
};

/* Return whether options select samples by more than their event. */
static bool selects_samples(void)
{
	struct selection but_event = how.selection;

	but_event.event = NULL;
	return selection_restricts(&but_event);
}

/*
 * Bars, ratios and pmu-diff want to know how a profile varies over time.  Folded text has no
 * labels, and who chooses labels gets only these.  With intervals, the profiles show that.
 */
static void set_slices(void)
{
	if (command_given("slices") || command_given("label") || format == TO_FOLDED ||
	    how.interval || for_go)
		return;
	how.slices = COLLECT_USUAL_SLICES;
	how.slice_stacks = COLLECT_USUAL_STACKS;
}

/* Set the fields of HOW that --add and --frames name. */
static void add_parts(void)
{
	how.latency = added & 1U << ADD_LATENCY;
	how.wall = added & 1U << ADD_WALL;
	how.as_time = added & 1U << ADD_TIME;
	how.parallelism = added & 1U << ADD_PARALLELISM;
	how.data_frames = frames & 1U << FRAMES_DATA;
	how.mark_cut = frames & 1U << FRAMES_CUT;
	how.not_sampled = frames & 1U << FRAMES_NOT_SAMPLED;
	how.drop_lost = frames & 1U << FRAMES_NO_LOST;
}

/* Misuse: rows, or only rows, can have what was asked for. */
static void check_rows(void)
{
	static const char *const of_rows_only[] = { "host", "service", "rows-detail" };

	for (size_t i = 0; i < sizeof(of_rows_only) / sizeof(of_rows_only[0]); i++)
		if (format != TO_ROWS && command_given(of_rows_only[i]))
			command_misused(&command, "--%s is for --to rows", of_rows_only[i]);
	if (format == TO_ROWS && command_given("compress"))
		command_misused(&command, "--to rows is text: pipe it into gzip or zstd to "
				"compress it");
	if (format == TO_ROWS && diff_base)
		command_misused(&command, "--to rows writes each profile by itself: leave out "
				"--diff");
}

/* Find the names of a raw stream, too. */
static void resolve(void)
{
	how.resolve = (struct resolver_options){ .symbols = true,
						 .demangle = DEMANGLE_TEMPLATES };
	how.unwind = true;
}

/* A profile for Go's compiler has no labels, and only samples that were taken. */
static void prepare_pgo(void)
{
	if (packing == PACK_ZSTD)
		command_misused(&command, "Go's compiler does not read zstd: leave out -Z");
	how.labels = "none";
	how.drop_lost = true;
	resolve();
}

static void check_options(void)
{
	if (how.interval && !strchr(file, '%'))
		command_misused(&command, "--split TIME needs the time in the name of -o, as in "
				"p-%%Y%%m%%d-%%H%%M%%S.pb.gz, or each profile replaces the last");
	how.naming = types == TYPES_PERF ? NAMING_PERF : NAMING_GO;
	how.pack = (enum pack_how)packing;
	add_parts();
	if (how.as_time && how.interval)
		command_misused(&command, "--add time is known only at the end of the stream: "
				"leave out --split");
	set_slices();
	check_rows();
	how.links = (uint32_t)chain_links;
	if (chain_links && !all_sides && how.blame != PAIRING_CAUSES)
		command_misused(&command, "--chain is for causes: give --mutex=causes");
	if (how.blame || all_sides)
		resolve();
	if (for_go)
		prepare_pgo();
	if (!how.labels && format == TO_FOLDED)
		how.labels = LABEL_THREAD_COMM;
	if (how.not_sampled && (selects_samples() || how.interval || how.split))
		command_misused(&command, "--frames not-sampled is known only for the whole "
				"recording, not for a part of it");
}

/* Open OUT for all profiles, unless each has a file of its own. */
static void open_output(const struct command *cmd, struct output *out, struct report *report)
{
	if (format != TO_PPROF && !file)
		output_open(out, "-", report);	/* text may go to a terminal */
	else	/* go tool pprof creates perf_to_profile's FILE, and keeps it open */
		command_output_whole(cmd, out, file, cmd == &drop_in, report);
}

/* Report what C and O have done with all of IN. */
static void summarize(const struct collect *c, const struct outputs *o, struct stream_reader *in,
		      struct report *report)
{
	char lost[LOSS_TEXT];

	loss_text(&c->lost, lost);
	report_summary(report, "%" PRIu64 " samples, %" PRIu64 " distinct stacks, %s, throttled %"
		       PRIu64 " times, %" PRIu64 " bytes", c->samples, o->stacks, lost,
		       c->throttled, o->bytes);
	if (o->directory || o->template)
		report_summary(report, "%" PRIu64 " files", o->files);
	stack_ends_report(collect_ends(c), report);
	selection_check_event(&how.selection, stream_events(in), report);
	collect_report(c, report);
	if (in && c->samples == 0 && selection_restricts(&how.selection))
		report_note(report, "no sample of the stream is selected by --event, --pid, --tid, "
			    "--comm, --cpu and --time");
}

/* Aggregate the stream in INPUT. */
static void aggregate(const struct command *cmd, const char *input, struct report *report)
{
	const char *directory = how.split ? file : NULL, *wrong;
	const char *template = how.interval ? file : NULL;
	struct output out, list;
	struct outputs outputs = {
		.report = report, .input = input, .directory = directory, .template = template,
		.single = directory || template || pgo ? NULL : &out, .pgo = pgo,
		.folded = format == TO_FOLDED,
		.list = print_files ? &list : NULL,
		.rows = format == TO_ROWS ? row_writer_new(&of_rows) : NULL,
	};
	struct collect c;

	command_refuse(cmd, FOR_STREAMS);
	if (types == TYPES_ONE)
		command_misused(cmd, "--types one works on profiles: pmu-topprof STREAM | "
				"pmu-topprof --types one");
	command_spare_inputs(cmd, file, &input, 1);
	if (!collect_init(&c, &how, report, &wrong))
		command_misused(cmd, "--label takes some of %s, none, not '%s'; no two labels may "
				"have one name", label_names, wrong);
	for (size_t i = 0; i < comments.count; i++)
		profile_comment(&c.shared_comments, "%s%s", comment_user_key(comments.item[i]),
				comments.item[i]);
	if (print_files)
		output_open(&list, "-", report);
	if (outputs_open(&outputs)) {
		if (outputs.single)
			open_output(cmd, &out, report);
		struct stream_reader *in = stream_open(input, &command_stop, report);
		collect_stream(&c, in, outputs_write, &outputs);
		summarize(&c, &outputs, in, report);
		stream_close(in);
		if (outputs.single && (c.samples == 0 || collect_lacks_waits(&c)) && report->status)
			output_discard(&out);
		if (outputs.single)
			output_close(&out);
		outputs_close(&outputs);
	}
	if (print_files)
		output_close(&list);
	row_writer_free(outputs.rows, report);
	collect_release(&c);
}

/* Misuse: folded text cannot have what was asked for. */
static void refuse_folded(void)
{
	if (format == TO_FOLDED && diff_base)
		command_misused(&command, "--to folded cannot show differences: leave out "
				"--diff");
	if (format == TO_FOLDED && skip_damaged)
		command_misused(&command, "--to folded cannot say what --skip-damaged left out");
}

/* Return the part of the profile at PATH that the options select, or NULL (reported). */
static struct decoded *read_selected(const char *path, struct report *report)
{
	const struct profile_selection want = {
		.event = how.selection.event, .comm = how.selection.comm,
		.pid = how.selection.pid, .tid = how.selection.tid, .cpu = how.selection.cpu,
		.labels = command_given("label") ? how.labels : NULL,
		.one_type = types == TYPES_ONE,
	};

	command_on_signals(SIGNALS_END_BUT_ONE);
	struct decoded *d = decoded_read(path, command_input_ended, report);
	if (d && profile_select(d, &want, path, report))
		return d;
	decoded_free(d);
	return NULL;
}

static void fold(const struct word_list *files, struct report *report)
{
	struct folded lines = { .sum = NULL };
	struct output out;
	bool good = true;

	for (size_t i = 0; i < files->count && good; i++) {
		struct decoded *d = read_selected(files->item[i], report);
		good = d != NULL;
		if (good)
			fold_profile(d, &lines);
		decoded_free(d);
	}
	if (good) {
		output_open_whole(&out, file ? file : "-", false, report);
		folded_write(&lines, &out);
		output_close(&out);
	}
	folded_release(&lines);
}

/*
 * Report that --skip-damaged has left out BAD of COUNT profiles, if it has; SKIPPED has the
 * messages.  Return false if these are all.
 */
static bool report_skipped(struct report *skipped, size_t bad, size_t count, struct report *report)
{
	if (!skip_damaged || bad == 0)
		return true;
	report_finish(skipped);
	if (bad == count)
		report_error(report, "--skip-damaged leaves out all %zu profiles: the messages "
			     "above say why", bad);
	return bad < count;
}

/*
 * Write the rows of each of FILES: they have a time and a host, so they are not added up.  A file
 * that cannot be read does not keep the others from being written; with --skip-damaged it is a
 * failure only if there is no other.
 */
static void write_rows(const struct word_list *files, struct report *report)
{
	struct row_writer *w = row_writer_new(&of_rows);
	struct report skipped = *report;
	struct output out;
	size_t bad = 0;

	output_open_whole(&out, file ? file : "-", false, report);
	for (size_t i = 0; i < files->count && !output_ended(&out); i++) {
		struct decoded *d = read_selected(files->item[i], skip_damaged ? &skipped : report);
		bad += d == NULL;
		if (d)
			row_write(w, d, &out);
		decoded_free(d);
	}
	report_skipped(&skipped, bad, files->count, report);
	if (bad == files->count)
		output_discard(&out);
	output_close(&out);
	row_writer_free(w, report);
}

/* Read PATH, and add it to M.  Return false (reported) if that cannot be done. */
static bool add_to(struct merge *m, enum merge_side side, const char *path, struct report *report)
{
	struct decoded *d = read_selected(path, report);
	bool good = d && merge_add(m, d, side, path, report);

	decoded_free(d);
	return good;
}

/*
 * Add FILES to M.  With --skip-damaged, files that cannot be added are reported, and that is not a
 * failure if another file was added.  Return false (reported) on failure.
 */
static bool add_files(struct merge *m, const struct word_list *files, struct report *report)
{
	struct report skipped = *report;
	char text[160];
	size_t bad = 0;

	for (size_t i = 0; i < files->count; i++) {
		if (add_to(m, MERGE_SUM, files->item[i], skip_damaged ? &skipped : report))
			continue;
		if (!skip_damaged)
			return false;
		bad++;
	}
	if (!report_skipped(&skipped, bad, files->count, report))
		return false;
	if (bad == 0)
		return true;
	snprintf(text, sizeof(text), COMMENT_LEFT_OUT "%zu of %zu profiles, which could not be "
		 "read or have other sample types", bad, files->count);
	report_note(report, "%s", text);
	merge_comment(m, text);
	return true;
}

static void merge(const struct word_list *files, struct report *report)
{
	struct merge *m = merge_new();
	struct output out;

	if (!add_files(m, files, report) ||
	    (diff_base && !add_to(m, MERGE_BASE, diff_base, report))) {
		merge_free(m);
		return;
	}
	command_on_signals(SIGNALS_STOP);
	command_output_whole(&command, &out, file, false, report);
	merge_write(m, how.pack, &out);
	output_close(&out);
}

/* Write a profile for Go's compiler of FILES, which are streams or profiles. */
static void write_pgo(const struct word_list *files, struct report *report)
{
	struct output out;
	bool good = true;

	pgo = pgo_new();
	command_spare_inputs(&command, file, files->item, files->count);
	for (size_t i = 0; i < files->count && good; i++) {
		if (!detect_profile(files->item[i])) {
			aggregate(&command, files->item[i], report);
			continue;
		}
		struct decoded *d = read_selected(files->item[i], report);
		good = d && pgo_add(pgo, d, files->item[i], report);
		decoded_free(d);
	}
	struct merge *m = good ? pgo_finish(pgo, go_program, report) : NULL;
	if (m) {
		command_on_signals(SIGNALS_STOP);
		command_output_whole(&command, &out, file, false, report);
		merge_write(m, how.pack, &out);
		output_close(&out);
	}
	pgo_free(pgo);
}

/* Write all sides of the recording of waits in INPUT. */
static void write_sides(const char *input, struct report *report)
{
	struct output out;

	command_refuse(&command, FOR_STREAMS);
	command_spare_inputs(&command, file, &input, 1);
	struct merge *m = wait_views_make(input, &how, &command_stop, report);
	for (size_t i = 0; i < comments.count && m; i++)
		merge_comment(m, comments.item[i]);
	if (m) {
		command_output_whole(&command, &out, file, false, report);
		merge_write(m, how.pack, &out);
		output_close(&out);
	}
}

static void work_on_profiles(const struct word_list *files, struct report *report)
{
	command_refuse(&command, FOR_PROFILES);
	if (types == TYPES_PERF)
		command_misused(&command, "--types perf works on a stream, but the input is a "
				"profile: give the stream that it was made of");
	refuse_folded();
	command_spare_inputs(&command, file, files->item, files->count);
	command_spare_inputs(&command, file, &diff_base, diff_base != NULL);
	if (format == TO_FOLDED)
		fold(files, report);
	else if (format == TO_ROWS)
		write_rows(files, report);
	else
		merge(files, report);
}

static int run_drop_in(int argc, char **argv)
{
	struct report report;

	if (command_begin(&drop_in, &report, argc, argv) < argc || !input_file || !file)
		command_misused(&drop_in, "needs -i FILE and -o FILE, nothing else");
	if (!force && access(file, F_OK) == 0) {
		report_error(&report, "'%s' exists: -f overwrites it", file);
		return command_end(&report);
	}
	resolve();
	aggregate(&drop_in, input_file, &report);
	return command_end(&report);
}

int main(int argc, char **argv)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	struct report report;

	if (argc > 0 && !strcmp(slash ? slash + 1 : argv[0], drop_in.name))
		return run_drop_in(argc, argv);
	int first = command_begin(&command, &report, argc, argv);
	progress_allow(&report);
	check_options();
	if (diff_base && first == argc && !command_given("input"))
		command_misused(&command, "--diff needs the profiles from which to subtract BASE");
	const struct word_list *files = command_inputs(&command);
	if (for_go)
		write_pgo(files, &report);
	else if (files->count > 1 || diff_base || detect_profile(files->item[0]))
		work_on_profiles(files, &report);
	else if (all_sides)
		write_sides(files->item[0], &report);
	else
		aggregate(&command, files->item[0], &report);
	return command_end(&report);
}
