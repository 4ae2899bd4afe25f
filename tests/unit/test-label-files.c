/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label-files: what is known of a file depends on where it was mapped.  A process that maps it
 * elsewhere, as any user may do, does not change what is known of it for others.
 */
#include "labels/label-files.h"
#include "tests/unit/tap.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>

/* Return the segment of this program that has its code. */
static const Elf64_Phdr *code_segment(void)
{
	const Elf64_Phdr *header = (const Elf64_Phdr *)getauxval(AT_PHDR);
	const Elf64_Phdr *end = header + getauxval(AT_PHNUM);

	while (header < end && (header->p_type != PT_LOAD || header->p_flags != (PF_R | PF_X)))
		header++;
	return header < end ? header : NULL;
}

/* Ask for the layout of this program, mapped as code from FILE_OFFSET on, until there is one. */
static enum label_answer find(struct label_files *f, uint64_t file_offset,
			      const struct label_layout **layout)
{
	enum label_answer answer;

	do {
		int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
		answer = label_files_find(f, fd, file_offset, layout);
	} while (answer == LABEL_ANSWER_LATER && label_files_wait(f, UINT64_MAX));
	return answer;
}

/* Return whether this program, mapped as code from FILE_OFFSET on, is read, with DELTA. */
static bool is_read(struct label_files *f, uint64_t file_offset, uint64_t delta)
{
	const struct label_layout *layout;
	return find(f, file_offset, &layout) == LABEL_ANSWER_LAYOUT && layout->is_read &&
	       layout->code_delta == delta;
}

int main(void)
{
	static const struct target target;
	struct label_files f = { .target = &target };
	const struct label_layout *layout;
	const Elf64_Phdr *code = code_segment();

	find(&f, UINT64_C(1) << 60, &layout);
	tap(!layout || !layout->is_read, "no segment is there: nothing is known");
	tap(code && is_read(&f, code->p_offset, code->p_vaddr - code->p_offset),
	    "the code is still found");
	label_files_close(&f);
	return tap_done();
}
