/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-symbolize - resolve the addresses in a stream to functions.
 *
 * Reads a stream or a perf.data file (pmu-stream(5)) from FILE or stdin, and
 * writes the resolved stream: samples become RESOLVED_SAMPLEs, everything else
 * passes through.
 */
#include "base/command.h"
#include "base/units.h"
#include "record/group.h"
#include "resolve/resolver.h"
#include "stream/writer.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *inlines, *lines;
static const char *file, *kallsyms, *style, *sysroot, *build_id_map, *buildid_dir, *debuginfod;
static const char *debuginfod_time, *cache, *cache_size;
static struct command_list debug_dirs;
static struct groups groups;

static const struct command_option options[] = {
	{ 0, "kallsyms", "FILE", "take the kernel's symbols from FILE, a copy of /proc/kallsyms",
	  &kallsyms, NULL },
	{ 0, "demangle", "STYLE", "show names as none, simple, templates (the default) or full",
	  &style, NULL },
	{ 0, "inlines", "YES|NO", "show calls inlined into functions (usual), or not", &inlines,
	  NULL },
	{ 0, "lines", "YES|NO", "tell files and lines (usual), or not", &lines, NULL },
	{ 0, "debug-dir", "DIR", "look for debug files in DIR first; may be given again",
	  NULL, &debug_dirs },
	{ 0, "sysroot", "DIR", "take files from below DIR, a copy of the recorded root",
	  &sysroot, NULL },
	{ 0, "build-id-map", "FILE", "find files by FILE's lines, each a build ID and a path",
	  &build_id_map, NULL },
	{ 0, "buildid-dir", "DIR", "look for files in DIR, perf's build ID cache, not in ~/.debug",
	  &buildid_dir, NULL },
	{ 0, "debuginfod", "URLS", "fetch missing files from these servers, by debuginfod-find",
	  &debuginfod, NULL },
	{ 0, "debuginfod-time", "TIME", "wait no longer for them than TIME in all (5m)",
	  &debuginfod_time, NULL },
	{ 0, "cache", "DIR", "keep what is found about programs in DIR, for the next run",
	  &cache, NULL },
	{ 0, "cache-size", "BYTES", "keep no more than that (1Gi), the least used go first",
	  &cache_size, NULL },
	{ 'o', "output", "FILE", "write to FILE instead of stdout", &file, NULL },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-symbolize",
	.purpose = "resolve the addresses in a stream to functions",
	.operands = "[FILE]",
	.options = options,
};

static bool is_no(const char *name, const char *text)
{
	if (text && strcmp(text, "yes") && strcmp(text, "no"))
		command_misused(&command, "--%s takes yes or no, not '%s'", name, text);
	return text && !strcmp(text, "no");
}

static enum demangle_style parse_style(void)
{
	static const char *const styles[] = {
		[DEMANGLE_NONE] = "none", [DEMANGLE_SIMPLE] = "simple",
		[DEMANGLE_TEMPLATES] = "templates", [DEMANGLE_FULL] = "full",
	};

	for (enum demangle_style s = DEMANGLE_NONE; style && s <= DEMANGLE_FULL; s++)
		if (!strcmp(styles[s], style))
			return s;
	if (style)
		command_misused(&command, "--demangle takes none, simple, templates or full, "
				"not '%s'", style);
	return DEMANGLE_TEMPLATES;
}

static struct resolver_options parse_options(void)
{
	struct resolver_options how = {
		.symbols = true, .kallsyms = kallsyms, .demangle = parse_style(),
		.no_inlines = is_no("inlines", inlines), .no_lines = is_no("lines", lines),
		.where = { .sysroot = sysroot, .debug_dirs = &debug_dirs,
			   .build_id_map = build_id_map, .build_id_dir = buildid_dir },
		.debuginfod = debuginfod, .debuginfod_time = 300ULL * 1000 * 1000 * 1000,
		.cache = { .directory = cache, .size_max = 1 << 30 },
	};

	if (cache_size && (!cache || !units_parse_count(cache_size, &how.cache.size_max)))
		command_misused(&command, "--cache-size takes a number of bytes, as 200Mi, "
				"beside --cache, not '%s'", cache_size);
	if (debuginfod_time &&
	    (!debuginfod || !units_parse_duration(debuginfod_time, &how.debuginfod_time)))
		command_misused(&command, "--debuginfod-time takes a time, as 30 or 2m, beside "
				"--debuginfod, not '%s'", debuginfod_time);
	return how;
}

/* When INPUT, a file, was written last, in ns since 1970; 0: not known. */
static int64_t written_at(const char *input)
{
	struct stat st;
	bool is_stdin = !input || !strcmp(input, "-");

	if ((is_stdin ? fstat(STDIN_FILENO, &st) : stat(input, &st)) < 0 || !S_ISREG(st.st_mode))
		return 0;
	return st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

/* The rest goes on without it. */
static void check_list(struct report *report)
{
	struct stat st;

	if (!build_id_map)
		return;
	if (access(build_id_map, R_OK) < 0 || stat(build_id_map, &st) < 0)
		report_failure(report, "cannot read '%s'", build_id_map);
	else if (!S_ISREG(st.st_mode))
		report_error(report, "cannot read '%s': it is no regular file", build_id_map);
	else
		return;
	build_id_map = NULL;
}

/* A sample that reads a group of events is one of each of them. */
static void write_parts(struct resolved_writer *writer, struct resolved *tables,
			const struct stream_events *events, const struct sample *sample,
			struct resolved_sample *resolved)
{
	struct group_part part[GROUP_PARTS_MAX];
	uint32_t parts = groups_split(&groups, events, sample, part);

	for (uint32_t i = 0; i < parts; i++) {
		resolved->event = part[i].event;
		resolved->period = part[i].period;
		resolved_write_sample(writer, tables, resolved);
	}
}

/* Resolve the samples of IN into OUT, pass on the rest. */
static void resolve(struct resolver *resolver, struct stream_reader *in, struct output *out,
		    struct resolved *tables, struct report *report)
{
	struct resolved_writer writer = { .out = out };
	struct resolved_sample resolved;
	struct sample sample;
	struct record rec;

	while (!output_ended(out) && stream_next(in, &rec)) {
		if (rec.type == PERF_RECORD_SAMPLE) {
			if (!stream_sample(in, &rec, &sample))
				continue;
			resolver_sample(resolver, in, &sample, &resolved);
			resolved_write_new(&writer, tables);
			write_parts(&writer, tables, stream_events(in), &sample, &resolved);
			continue;
		}
		if (record_is_resolved(rec.type)) {
			report_error(report, "the input is resolved already: "
				     "give it to pmu-topprof");
			break;
		}
		resolver_follow(resolver, in, &rec);
		if (rec.type != RECORD_AUXTRACE)	/* the bytes behind it were skipped */
			writer_record(out, &rec);
		if (rec.type == RECORD_FINISHED_ROUND)
			output_flush(out);
	}
	if (stream_is_whole(in))	/* else the next filter should know, too */
		resolved_write_end(out, tables);
}

int main(int argc, char **argv)
{
	struct report report;
	struct output out;
	struct resolved tables = { 0 };

	char *line = command_line(argc - 1, argv + 1);
	int first = command_begin(&command, &report, argc, argv);
	const char *input = command_input(&command, argc, argv, first);
	check_list(&report);
	struct resolver_options how = parse_options();
	how.recorded_before = written_at(input);
	command_spare_inputs(&command, file, &input, 1);
	command_output(&command, &out, file, &report);
	struct resolver *resolver = resolver_new(&how, &tables, &report);
	struct stream_reader *in = stream_open(input, &report);
	stream_stop_on(in, &command_stop);
	writer_header(&out);
	resolved_write_tool(&out, command.name, PMU_VERSION, line);
	resolve(resolver, in, &out, &tables, &report);
	output_close(&out);

	struct resolver_counts c = resolver_counts(resolver);
	report_summary(&report, "%" PRIu64 " samples, %" PRIu64 " distinct frames, %" PRIu64
		       " of them named, from %" PRIu64 " files", tables.samples, c.frames, c.named,
		       c.objects);
	stack_ends_report(resolver_stack_ends(resolver), &report);
	resolver_report(resolver);
	stream_close(in);
	resolver_save(resolver);	/* neither neighbour in the pipe waits for it */
	resolver_free(resolver);
	resolved_release(&tables);
	groups_release(&groups);
	free(line);
	return command_end(&report);
}
