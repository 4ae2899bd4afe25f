/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/program-kind.h"
#include "base/regular.h"
#include "base/sibling.h"
#include "elf/elf.h"
#include "linux/proc.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

/* A Go program without cgo has no dynamic loader, nor .eh_frame, which C compilers write. */
static enum program_kind kind_of(struct elf *elf)
{
	struct elf_bytes bytes;

	if (!*elf_go_build_id(elf))
		return PROGRAM_OTHER;
	return elf_section(elf, ".interp", &bytes) || elf_section(elf, ".eh_frame", &bytes)
		       ? PROGRAM_GO_AND_C : PROGRAM_GO;
}

enum program_kind program_kind(int fd)
{
	unsigned char head[EI_NIDENT];
	const char *why;

	if (fd < 0)
		return PROGRAM_UNKNOWN;
	if (pread(fd, head, sizeof(head), 0) != sizeof(head) || memcmp(head, ELFMAG, SELFMAG)) {
		close(fd);
		return PROGRAM_OTHER;
	}
	if (head[EI_CLASS] == ELFCLASS32) {
		close(fd);
		return PROGRAM_32_BITS;
	}
	struct elf *elf = elf_open(fd, &why);
	enum program_kind kind = elf ? kind_of(elf) : PROGRAM_OTHER;
	elf_close(elf);
	return kind;
}

int program_open_command(const char *name)
{
	char path[PATH_MAX];

	return sibling_find_program(name, path) ? regular_open(path, false) : -1;
}

int program_open_process(int pid)
{
	return regular_open(proc_path(proc_living_thread(pid), "exe").text, false);
}
