/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-symbolize - resolve the addresses in a stream to functions.
 *
 * Reads a stream or a perf.data file (pmu-stream(5)) from FILE or stdin, and
 * writes the resolved stream: samples name chains of functions in place of addresses,
 * everything else passes through.
 */
#include "base/progress.h"
#include "base/short-ways.h"
#include "base/version.h"
#include "labels/label-join.h"
#include "record/group.h"
#include "resolve/resolver.h"
#include "stream/writer.h"
#include "tool/command.h"
#include "tool/locate-options.h"
#include "unwind/leaf.h"

#include <inttypes.h>

static bool inlines = true, lines = true;
static int style = DEMANGLE_TEMPLATES;
static const char *file;
static struct word_list debug_dirs;
static struct groups groups;
static struct label_join labels;
static struct label_counts label_counts;
static struct resolver_options how = {
	.symbols = true, .where = LOCATE_DEFAULTS(debug_dirs), .cache.size_max = 1 << 30,
	.definitions_max = 16 << 20,
};
static struct leaf_callers leaf_callers = { .where = &how.where };

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

enum { AHEAD_MAX = 16 };	/* samples that are read at a time */

/* A sample that was read, before it is resolved. */
struct ahead {
	struct record rec;
	struct sample sample;
	struct resolver_key key;
};

/* Write RESOLVED, once for each event of the group that SAMPLE reads. */
static void write_increases(struct resolved_writer *writer, struct resolved *tables,
			    const struct stream_events *events, const struct sample *sample,
			    struct resolved_sample *resolved)
{
	struct group_increase increase[GROUP_EVENTS_MAX];
	uint32_t increases = groups_split(&groups, events, sample, increase);

	for (uint32_t i = 0; i < increases; i++) {
		resolved->event = increase[i].event;
		resolved->period = increase[i].period;
		resolved_write_sample(writer, tables, resolved);
	}
}

/* Forget the counters of threads that have ended. */
static void forget_ended(const struct tasks *tasks)
{
	for (uint32_t i = 0; i < tasks->forgotten_count; i++)
		groups_forget(&groups, tasks->forgotten[i].tid);
}

/* Forget all definitions: what is still in use is looked up and written again. */
static void restart(struct resolver *resolver, struct resolved_writer *writer,
		    struct resolved *tables)
{
	struct resolved past;

	resolved_write_restart(writer, tables);
	resolver_restart(resolver, &past, NULL, 0);
	label_sets_forget(&tables->labels);
	resolved_release(&past);
}

/* Forget definitions if there are many. */
static void limit_definitions(struct resolver *resolver, struct resolved_writer *writer,
			      struct resolved *tables)
{
	if (resolver_has_many_chains(resolver, writer->chain_bytes, writer->bytes)) {
		resolved_write_chains_restart(writer, tables);
		resolver_restart_chains(resolver);
	} else if (resolver_is_full(resolver, writer->bytes + writer->chain_bytes) ||
		   label_sets_is_full(&tables->labels)) {
		restart(resolver, writer, tables);
	}
}

/*
 * Read FIRST, a SAMPLE, and the samples after it that have come, into AHEAD.  Return their number.
 * What is known of their callchains is far apart in memory, so it is loaded for all of them first.
 */
static uint32_t read_ahead(struct resolver *resolver, struct stream_reader *in,
			   const struct record *first, struct ahead ahead[AHEAD_MAX])
{
	/* leaf_callers_add() keeps the callchain of one sample only */
	uint32_t most = SHORT_WAYS && !leaf_callers.unwind ? AHEAD_MAX : 1, count = 0;
	struct ahead *a = ahead;

	a->rec = *first;
	do {
		if (stream_sample(in, &a->rec, &a->sample)) {
			leaf_callers_add(&leaf_callers, in, &a->sample);
			a->key = resolver_key(resolver, in, &a->sample);
			a = &ahead[++count];
		}
	} while (count < most && stream_next_sample(in, &a->rec));
	return count;
}

static void write_sample(struct resolver *resolver, struct stream_reader *in, struct ahead *a,
			 struct resolved_writer *writer, struct resolved *tables)
{
	struct resolved_sample resolved;

	if (label_join_take(&labels, in, &a->rec, &a->sample))
		return;
	label_counts_add(&label_counts, label_state(a->sample.labels.is_known,
			 a->sample.labels.status), a->sample.labels.flags);
	resolver_sample(resolver, in, &a->sample, &a->key, &resolved);
	resolved_write_new(writer, tables);
	write_increases(writer, tables, stream_events(in), &a->sample, &resolved);
	limit_definitions(resolver, writer, tables);
}

/* Resolve the samples of IN into OUT, pass on the rest. */
static void resolve(struct resolver *resolver, struct stream_reader *in, struct output *out,
		    struct resolved *tables, struct report *report)
{
	struct resolved_writer writer = { .out = out };
	struct ahead ahead[AHEAD_MAX];
	struct record rec;

	while (!output_ended(out) && stream_next(in, &rec)) {
		if (rec.type == PERF_RECORD_SAMPLE) {
			uint32_t count = read_ahead(resolver, in, &rec, ahead);
			for (uint32_t i = 0; i < count; i++)
				write_sample(resolver, in, &ahead[i], &writer, tables);
			continue;
		}
		if (record_is_resolved(rec.type)) {
			report_error(report, "the input is resolved already: "
				     "give it to pmu-topprof");
			break;
		}
		resolver_follow(resolver, in, &rec);
		leaf_callers_follow(&leaf_callers, in, &rec);
		label_join_follow(&labels, &rec);
		forget_ended(resolver_tasks(resolver));
		stream_note_groups(in, &groups);
		if (tables->lates > writer.lates)	/* before the EXIT that may end a profile */
			resolved_write_new(&writer, tables);
		if (rec.type != RECORD_AUXTRACE)	/* the bytes after it were skipped */
			writer_record(out, &rec);
		if (rec.type == RECORD_FINISHED_ROUND)
			output_flush(out);
	}
	resolver_name_late(resolver, in);
	resolved_write_new(&writer, tables);
	if (stream_is_whole(in))	/* without END, the next filter reports damage, too */
		resolved_write_end(out, tables);
}

int main(int argc, char **argv)
{
	struct report report;
	struct output out;
	struct resolved tables = { 0 };
	char text[LABEL_COUNTS_TEXT];

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
	struct resolver *resolver = resolver_new(&how, &tables, &report);
	struct stream_reader *in = stream_open(input, &command_stop, &report);
	writer_header(&out);
	resolved_write_tool(&out, command.name, pmukit_version, line);
	resolve(resolver, in, &out, &tables, &report);
	output_close(&out);

	struct resolver_counts c = resolver_counts(resolver);
	report_summary(&report, "%" PRIu64 " samples, %" PRIu64 " distinct frames, %" PRIu64
		       " of them named, from %" PRIu64 " files", tables.samples, c.frames, c.named,
		       c.objects);
	stack_ends_report(resolver_stack_ends(resolver), &report);
	if (stream_events(in)->has_labels) {
		label_counts_text(&label_counts, text, sizeof(text));
		report_summary(&report, "labels: %s", text);
	}
	resolver_report(resolver);
	stream_close(in);
	resolver_save(resolver);	/* the other tools in the pipe need not wait for it */
	resolver_free(resolver);
	resolved_release(&tables);
	groups_release(&groups);
	label_join_release(&labels);
	leaf_callers_release(&leaf_callers);
	free(line);
	return command_end(&report);
}
