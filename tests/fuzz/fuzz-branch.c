/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz-branch - any bytes as a program and a stream with branch stacks, to all that pmu-branch
 * writes: u16 size of the program, the program, the stream.  Without a program, all objects of the
 * stream count, and none has a file.
 */
#include "branch/branch-list.h"
#include "branch/branch-profile.h"
#include "branch/branch-text.h"
#include "tests/memory-file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXTS = BRANCH_PERFSCRIPT + 1, VIEWS = BRANCH_EDGES + 1, LISTS = BRANCH_JSON + 1 };

/* Let B write form number FORM to OUT. */
static void write_form(struct branches *b, int form, struct output *out)
{
	if (form < TEXTS)
		branch_text_write(b, (enum branch_text)form, out);
	else if (form < TEXTS + VIEWS)
		branch_profile_write(b, (enum branch_view)(form - TEXTS), DEMANGLE_SIMPLE, out);
	else
		branch_list_write(b, (enum branch_list)(form - TEXTS - VIEWS), DEMANGLE_SIMPLE,
				  out);
}

static void run(const char *file, const uint8_t *program, size_t size, int form)
{
	static const struct selection all = SELECTION_ALL;
	struct report report = { .tool = "fuzz-branch", .quiet = true };
	struct branches_how how = {
		.where.files = LOCATE_NOTHING, .selection = &all, .most_cells = 64,
		.rule = form == BRANCH_AUTOFDO ? BRANCH_BY_RANGE
			: form == BRANCH_PERFSCRIPT ? BRANCH_STACKS : BRANCH_BY_END,
		.needs_ranges = form <= TEXTS, .counts_ranges = true,
		.is_for_people = form >= TEXTS };
	struct output out;
	const char *why;

	if (size) {
		how.wanted.elf = elf_open_memory(program, size, &why);
		how.wanted.file = how.wanted.elf ? "/x/program" : NULL;
		const uint8_t *id;
		size_t bytes = how.wanted.elf ? elf_build_id(how.wanted.elf, &id) : 0;
		how.wanted.id_size = bytes < BUILD_ID_MAX ? bytes : BUILD_ID_MAX;
		if (bytes)
			memcpy(how.wanted.id, id, how.wanted.id_size);
	}
	struct stream_reader *in = stream_open(file, NULL, &report);
	struct branches *b = branches_new(&how, &report);
	branches_read(b, in);
	if (in && branches_choose(b, in)) {
		output_open(&out, "/dev/null", &report);
		write_form(b, form, &out);
		output_close(&out);
		branches_report(b, 0);
	}
	branches_free(b);
	stream_close(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char file[MEMORY_FILE_PATH];
	uint16_t program;

	if (size < sizeof(program))
		return -1;
	memcpy(&program, data, sizeof(program));
	data += sizeof(program);
	size -= sizeof(program);
	if (program > size)
		return -1;
	int fd = memory_file(data + program, size - program, file);
	for (int form = 0; form < TEXTS + VIEWS + LISTS; form++)
		run(file, data, program, form);
	close(fd);
	return 0;
}
