/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-branch - count branches and executed code, for compilers and for people.
 *
 * Reads a stream or a perf.data file (pmu-stream(5)) whose samples have branch records, from FILE
 * or stdin.  Writes what is in one binary in the form that a compiler's tool reads, or what is in
 * all as a profile, a table or JSON.
 */
#include "base/hex.h"
#include "base/progress.h"
#include "base/regular.h"
#include "branch/branch-list.h"
#include "branch/branch-profile.h"
#include "branch/branch-text.h"
#include "branch/branches.h"
#include "elf/section.h"
#include "tool/command.h"
#include "tool/locate-options.h"
#include "tool/selection-options.h"

enum { TO_BLOCKS = BRANCH_PERFSCRIPT + 1, TO_MISPREDICTS, TO_EDGES, TO_TEXT, TO_JSON };
static const char *const formats[] = {
	[BRANCH_AUTOFDO] = "autofdo", [BRANCH_LLVM] = "llvm", [BRANCH_BOLT] = "bolt",
	[BRANCH_PERFSCRIPT] = "perfscript", [TO_BLOCKS] = "blocks",
	[TO_MISPREDICTS] = "mispredicts", [TO_EDGES] = "edges",
	[TO_TEXT] = "text", [TO_JSON] = "json", NULL
};
static int format = TO_TEXT;
static uint64_t most_cells = 4 << 20;
static const char *binary, *file;
static struct word_list debug_dirs;
static struct selection selection = SELECTION_ALL;
static struct branches_how how = { .where = LOCATE_DEFAULTS(debug_dirs) };

/* Parse TEXT, hexadecimal digits of a build ID, into a struct branch_wanted. */
static const char *parse_build_id(const char *text, void *value)
{
	struct branch_wanted *wanted = value;
	size_t digits = strlen(text);

	wanted->id_size = 0;
	if (digits == 0 || digits % 2 || digits > 2 * BUILD_ID_MAX)
		return text;
	for (; wanted->id_size < digits / 2; wanted->id_size++) {
		const char *at = text + 2 * wanted->id_size;
		int high = hex_digit(at[0]), low = hex_digit(at[1]);
		if (high < 0 || low < 0)
			return at;
		wanted->id[wanted->id_size] = (uint8_t)(high << 4 | low);
	}
	return NULL;
}

static const struct command_option options[] = {
	{ 0, "to", "FORMAT", "write FORMAT", SETS_CHOICE(format, formats) },
	{ 0, "binary", "FILE", "count branches in FILE, the program or library that was recorded",
	  SETS_TEXT(binary), .excludes = "build-id" },
	{ 0, "build-id", "ID", "count branches in the object with this build ID",
	  PARSED_BY(parse_build_id, how.wanted, "pairs of hexadecimal digits"),
	  .excludes = "binary" },
	{ 0, "max-cells", "COUNT", "count at most COUNT different branches and ranges",
	  SETS_COUNT(most_cells), .least = 1, .most = 1 << 30 },
	SELECTION_OPTIONS(selection),
	LOCATE_OPTIONS(how.where, debug_dirs),
	{ 'o', "output", "FILE", "write to FILE instead of stdout", SETS_TEXT(file),
	  .group = GROUP_FILES },
	{ 0 }
};

static const struct command_spelling spellings[] = { JSON_SPELLING, LOCATE_SPELLINGS, { 0 } };

static const struct command command = {
	.name = "pmu-branch",
	.purpose = "count branches and executed code, for compilers and for people",
	.operands = "[FILE]",
	.options = options,
	.spellings = spellings,
	.reads_files = true,
};

/* Open the file of --binary.  Return false if it cannot be read (reported). */
static bool open_binary(struct branch_wanted *wanted, struct report *report)
{
	const char *why;
	const uint8_t *id;

	if (!binary)
		return true;
	int fd = regular_open(binary, false);
	if (fd < 0) {
		report_failure(report, "cannot open '%s'", binary);
		return false;
	}
	wanted->file = binary;
	wanted->elf = elf_open(fd, &why);
	if (!wanted->elf) {
		report_error(report, "'%s' cannot be read: %s", binary, why);
		return false;
	}
	if (elf_sections(wanted->elf) && !elf_has_code(wanted->elf)) {
		report_error(report, "'%s' has no code (it holds debug information only?): name "
			     "the program or library itself", binary);
		elf_close(wanted->elf);
		return false;
	}
	size_t size = elf_build_id(wanted->elf, &id);
	wanted->id_size = size < BUILD_ID_MAX ? size : BUILD_ID_MAX;
	if (size)
		memcpy(wanted->id, id, wanted->id_size);
	return true;
}

/* Text may go to a terminal. */
static void open_output(struct output *out, struct report *report)
{
	bool is_text = format != TO_BLOCKS && format != TO_MISPREDICTS && format != TO_EDGES;

	if (is_text)
		output_open_whole(out, file ?: "-", false, report);
	else
		command_output_whole(&command, out, file, false, report);
}

/* Write what B has left to OUT.  Return the number of ranges. */
static uint64_t write_to(struct branches *b, struct output *out)
{
	static const enum branch_view view[] = {
		[TO_BLOCKS] = BRANCH_BLOCKS, [TO_MISPREDICTS] = BRANCH_MISPREDICTS,
		[TO_EDGES] = BRANCH_EDGES,
	};

	if (format < TO_BLOCKS)
		return branch_text_write(b, (enum branch_text)format, out);
	if (format >= TO_TEXT) {
		branch_list_write(b, format == TO_TEXT ? BRANCH_TABLE : BRANCH_JSON,
				  DEMANGLE_TEMPLATES, out);
		return 0;
	}
	return branch_profile_write(b, view[format], DEMANGLE_TEMPLATES, out);
}

static void run(struct stream_reader *in, struct report *report)
{
	static const enum branch_rule rule[] = {
		[BRANCH_AUTOFDO] = BRANCH_BY_RANGE, [BRANCH_PERFSCRIPT] = BRANCH_STACKS,
		[TO_JSON] = BRANCH_BY_END,	/* and all others */
	};
	struct output out;

	how.rule = rule[format];
	how.needs_ranges = format <= TO_BLOCKS;
	how.counts_ranges = how.needs_ranges || format == TO_JSON;
	how.is_for_people = format >= TO_BLOCKS;
	how.most_cells = (uint32_t)most_cells;
	how.selection = &selection;
	struct branches *b = branches_new(&how, report);
	branches_read(b, in);
	if (in && branches_choose(b, in)) {
		open_output(&out, report);
		uint64_t ranges = write_to(b, &out);
		if (output_close(&out))
			branches_report(b, ranges);
	}
	branches_free(b);
}

int main(int argc, char **argv)
{
	struct report report;

	command_begin(&command, &report, argc, argv);
	progress_allow(&report);
	const char *input = command_input(&command);
	locate_check_list(&how.where.build_id_map, &report);
	how.where.recorded_before = locate_written_at(input);
	command_spare_inputs(&command, file, &input, 1);
	if (open_binary(&how.wanted, &report)) {
		struct stream_reader *in = stream_open(input, &command_stop, &report);
		run(in, &report);
		stream_close(in);
	}
	selection_release(&selection);
	return command_end(&report);
}
