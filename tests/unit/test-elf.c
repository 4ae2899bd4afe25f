/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf/dwarf.h"
#include "elf/elf.h"
#include "symbol/gotable.h"
#include "tests/unit/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* This program itself. */
static uint8_t *self;
static size_t self_size;

static bool read_self(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	self_size = (size_t)st.st_size;
	self = malloc(self_size);
	bool good = self && read(fd, self, self_size) == (ssize_t)self_size;
	close(fd);
	return good;
}

/* Look into everything; returns how much was found. */
static size_t look(struct elf *elf)
{
	struct elf_symbol symbol;
	struct elf_segment segment;
	const struct dwarf_frame *frame;
	size_t found = 0;

	struct dwarf_inputs inputs = { .elf = elf };
	struct dwarf *d = dwarf_open(&inputs);
	for (uint64_t at = 0; at < self_size; at += 1021) {
		found += elf_symbol(elf, at, &symbol);
		found += elf_segment(elf, at, &segment);
		found += dwarf_find(d, at, &frame);
	}
	dwarf_close(d);
	return found;
}

/* Cut at places all over the file: in a copy of exactly that size. */
static bool cut_everywhere(void)
{
	const char *why;

	for (size_t size = 0; size < self_size; size += size < 200 ? 1 : self_size / 41) {
		uint8_t *copy = malloc(size ? size : 1);
		memcpy(copy, self, size);
		struct elf *elf = elf_open_memory(copy, size, &why);
		if (elf)
			look(elf);
		elf_close(elf);
		free(copy);
	}
	return true;
}

/* A file that is made shorter while it is mapped: no signal, no answers, but is_cut. */
static bool survives_truncation(void)
{
	const struct dwarf_frame *frame;
	const char *why;
	int fd = memfd_create("test", MFD_CLOEXEC);

	if (fd < 0 || write(fd, self, self_size) != (ssize_t)self_size)
		return false;
	struct elf *elf = elf_open(dup(fd), &why);
	struct dwarf_inputs inputs = { .elf = elf };
	struct dwarf *d = dwarf_open(&inputs);
	if (!d || ftruncate(fd, 4096) < 0)
		return false;
	look(elf);
	size_t count = dwarf_find(d, (uintptr_t)0x2000, &frame);
	bool good = elf_is_cut(elf) && count == 0;
	dwarf_close(d);
	elf_close(elf);
	close(fd);
	return good;
}

/* It finds this function, at this line. */
static bool finds_itself(void)
{
	const char *why;
	struct elf *elf = elf_open_memory(self, self_size, &why);
	struct elf_symbol symbol;
	const struct dwarf_frame *frame;
	extern const char __ehdr_start[];
	uint64_t address = (uint64_t)((uintptr_t)finds_itself - (uintptr_t)__ehdr_start);
	struct dwarf_inputs inputs = { .elf = elf };
	struct dwarf *d = dwarf_open(&inputs);

	bool good = elf_symbol(elf, address, &symbol) && !strcmp(symbol.name, "finds_itself");
	size_t count = dwarf_find(d, address, &frame);
	good = good && count == 1 && !strcmp(frame[0].function->name, "finds_itself") &&
	       strstr(frame[0].file, "tests/unit/test-elf.c") && frame[0].line > 80 &&
	       frame[0].line - frame[0].function->line < 20;	/* inside of it */
	dwarf_close(d);
	elf_close(elf);
	return good;
}

int main(void)
{
	const char *why;

	tap(read_self(), "this program can be read");
	tap(!elf_open_memory("no", 2, &why) && *why,
	    "a file that is not an ELF file is refused, with a reason");
	tap(!elf_open(open("/dev/null", O_RDONLY | O_CLOEXEC), &why), "no device is mapped");
	tap(finds_itself(), "a function, its file and line");
	tap(cut_everywhere(), "cut anywhere");
	tap(survives_truncation(), "a mapped file is truncated");
	elf_close(NULL);
	dwarf_close(NULL);
	gotable_close(NULL);
	free(self);
	return tap_done();
}
