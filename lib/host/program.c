/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program to copy: pmukit, static, for the machine of the host.  Files that are not that are
 * passed over, so a dynamic pmukit of a distribution may stand beside pmukit-aarch64.
 */
#include "base/arena.h"
#include "base/regular.h"
#include "base/sibling.h"
#include "host/internal.h"
#include "host/mark.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE_MAX_MIB = 64 };

/* The machines of Linux with 64 bits: what uname -m says, and what is in an ELF file. */
static const struct host_machine {
	const char *name;
	uint16_t number;
	uint8_t order;
} machines[] = {
	{ "x86_64", EM_X86_64, ELFDATA2LSB },
	{ "aarch64", EM_AARCH64, ELFDATA2LSB },
	{ "riscv64", EM_RISCV, ELFDATA2LSB },
	{ "ppc64le", EM_PPC64, ELFDATA2LSB },
	{ "s390x", EM_S390, ELFDATA2MSB },
	{ "loongarch64", 258, ELFDATA2LSB },	/* EM_LOONGARCH; not in all versions of elf.h */
};

static const struct host_machine *find_machine(const char *name)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (!strcmp(machines[i].name, name))
			return &machines[i];
	return NULL;
}

static uint64_t number_at(const uint8_t *at, size_t size, bool is_big)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value = value << 8 | at[is_big ? i : size - 1 - i];
	return value;
}

/* Return why the ELF file P, with 64 bits, cannot run by its segments alone, or NULL. */
static const char *why_not_segments(const struct host_program *p, bool is_big)
{
	static const char cut[] = "it is not whole";
	const Elf64_Ehdr *e = NULL;	/* for the sizes of its fields only */
	uint64_t table = number_at(p->bytes + offsetof(Elf64_Ehdr, e_phoff), sizeof(e->e_phoff),
				   is_big);
	uint64_t count = number_at(p->bytes + offsetof(Elf64_Ehdr, e_phnum), sizeof(e->e_phnum),
				   is_big);

	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = table + i * sizeof(Elf64_Phdr);
		if (table > p->size || at + sizeof(Elf64_Phdr) > p->size)
			return cut;
		const uint8_t *header = p->bytes + at;
		uint64_t offset = number_at(header + offsetof(Elf64_Phdr, p_offset), 8, is_big);
		uint64_t size = number_at(header + offsetof(Elf64_Phdr, p_filesz), 8, is_big);
		if (number_at(header, 4, is_big) == PT_INTERP)
			return "it is not static";
		if (size > 0 && (offset > p->size || size > p->size - offset))
			return cut;
	}
	return count == 0 ? "it is not static" : NULL;
}

/* Return whether P has the mark of pmukit. */
static bool is_pmukit(const struct host_program *p)
{
	static const char begin[] = PMUKIT_MARK_BEGIN, end[] = PMUKIT_MARK_END;
	enum { BEGIN = sizeof(begin) - 1, WHOLE = BEGIN + sizeof(end) };
	const uint8_t *at = p->bytes, *last = p->bytes + p->size;

	while ((at = memmem(at, (size_t)(last - at), begin, BEGIN))) {
		if (last - at >= WHOLE && !memcmp(at + BEGIN, end, sizeof(end)))
			return true;
		at++;
	}
	return false;
}

/* Return why P is not a pmukit that can run on machine M by itself, or NULL. */
static const char *why_not(const struct host_program *p, const struct host_machine *m)
{
	if (p->size < sizeof(Elf64_Ehdr) || memcmp(p->bytes, ELFMAG, SELFMAG))
		return "it is not an ELF file";
	if (p->bytes[EI_CLASS] != ELFCLASS64)
		return "it does not have 64 bits";
	bool is_big = p->bytes[EI_DATA] == ELFDATA2MSB;
	if (p->bytes[EI_DATA] != m->order ||
	    number_at(p->bytes + offsetof(Elf64_Ehdr, e_machine), 2, is_big) != m->number)
		return "it is for another machine";
	const char *why = why_not_segments(p, is_big);
	return why || is_pmukit(p) ? why : "it is not pmukit";
}

/* Read the file PATH into P.  Return false with errno set. */
static bool read_file(struct host_program *p, const char *path)
{
	int fd = regular_open(path, false);
	struct stat st;

	*p = (struct host_program){ .bytes = NULL };
	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	if (st.st_size <= (off_t)SIZE_MAX_MIB << 20) {
		p->bytes = mem_resize(NULL, (size_t)st.st_size + 1);
		ssize_t n = 1;
		while (n > 0 && p->size < (size_t)st.st_size) {
			n = read(fd, p->bytes + p->size, (size_t)st.st_size - p->size);
			p->size += n > 0 ? (size_t)n : 0;
		}
	} else {
		errno = EFBIG;
	}
	close(fd);
	return p->bytes != NULL;
}

/* Read the pmukit in DIRECTORY, LENGTH bytes of a path, if one is for M. */
static bool read_in(struct host_program *p, const struct host_machine *m, const char *directory,
		    size_t length)
{
	char path[PATH_MAX];

	for (int plain = 0; plain < 2; plain++) {
		int n = snprintf(path, sizeof(path), "%.*s/pmukit%s%s", (int)length, directory,
				 plain ? "" : "-", plain ? "" : m->name);
		if (length == 0 || n >= PATH_MAX || !read_file(p, path))
			continue;
		if (!why_not(p, m))
			return true;
		free(p->bytes);
		p->bytes = NULL;
	}
	return false;
}

/* Look beside this program, where make install puts it, and in PATH. */
static bool look_for(struct host_program *p, const struct host_machine *m)
{
	char beside[PATH_MAX], installed[PATH_MAX + 32];

	if (sibling_directory(beside)) {
		snprintf(installed, sizeof(installed), "%s/../libexec/pmukit", beside);
		if (read_in(p, m, beside, strlen(beside)) ||
		    read_in(p, m, installed, strlen(installed)))
			return true;
	}
	const char *at = secure_getenv("PATH");
	while (at) {
		size_t length = strcspn(at, ":");
		if (length < PATH_MAX && read_in(p, m, at, length))
			return true;
		at = at[length] ? at + length + 1 : NULL;
	}
	return false;
}

bool host_program_read(struct host_program *p, const struct host_choice *c, const char *machine,
		       struct report *report)
{
	const struct host_machine *m = find_machine(machine);

	if (!m) {
		report_error(report, "there is no pmukit for '%s', which is the machine of '%s'",
			     machine, c->host);
		return false;
	}
	if (!c->binary) {
		if (look_for(p, m))
			return true;
		report_error(report, "no static pmukit for %s is beside pmu-prof, in "
			     "../libexec/pmukit or in PATH: give its file by --host-binary, or "
			     "make one by 'make pmukit'", m->name);
		return false;
	}
	if (!read_file(p, c->binary)) {
		report_failure(report, "cannot read '%s'", c->binary);
		return false;
	}
	const char *why = why_not(p, m);
	if (!why)
		return true;
	report_error(report, "'%s' cannot be copied to '%s': %s; it takes a static pmukit for %s",
		     c->binary, c->host, why, m->name);
	return false;
}
