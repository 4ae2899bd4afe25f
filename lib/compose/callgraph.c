/* SPDX-License-Identifier: Apache-2.0 */
#include "compose/callgraph.h"
#include "base/regular.h"
#include "base/sibling.h"
#include "elf/elf.h"
#include "linux/proc.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

enum program_kind { KIND_UNKNOWN, KIND_32_BITS, KIND_GO, KIND_OTHER };

int callgraph_open_program(const struct callgraph_target *t)
{
	char path[PATH_MAX];

	if (!t->program)
		return t->pid ? regular_open(proc_path(t->pid, "exe").text, false) : -1;
	return sibling_find_program(t->program, path) ? regular_open(path, false) : -1;
}

/* A Go program without cgo has no dynamic loader, and all its code has frame pointers. */
static bool is_all_go(struct elf *elf)
{
	struct elf_bytes loader;

	return *elf_go_build_id(elf) && !elf_section(elf, ".interp", &loader);
}

static enum program_kind find_kind(const struct callgraph_target *t)
{
	unsigned char head[EI_NIDENT];
	enum program_kind kind = KIND_OTHER;
	const char *why;
	int fd = callgraph_open_program(t);

	if (fd < 0)
		return KIND_UNKNOWN;
	if (pread(fd, head, sizeof(head), 0) != sizeof(head) || memcmp(head, ELFMAG, SELFMAG)) {
		close(fd);
		return KIND_OTHER;	/* a script */
	}
	if (head[EI_CLASS] == ELFCLASS32) {
		close(fd);
		return KIND_32_BITS;
	}
	struct elf *elf = elf_open(fd, &why);
	if (elf && is_all_go(elf))
		kind = KIND_GO;
	elf_close(elf);
	return kind;
}

/*
 * Return whether T's callchains should be unwound instead of following frame pointers.  Set *WHY
 * to the reason, which completes a sentence.
 */
static bool is_better_unwound(const struct callgraph_target *t, const char **why)
{
	static const char *const reasons[] = {
		[KIND_UNKNOWN] = "it works without frame pointers",
		[KIND_32_BITS] = "the program has 32 bits, which cannot be unwound",
		[KIND_GO] = "a Go program without cgo has them in all its code",
		[KIND_OTHER] = "it works without frame pointers",
	};

#if !defined(__x86_64__) && !defined(__aarch64__)
	*why = "stacks of this architecture cannot be unwound";
	return false;
#endif
	*why = "this pmu-sample has no --unwind";
	if (!t->can_unwind)
		return false;
	*why = "for many programs they cost least; --call-graph dwarf unwinds";
	if (t->is_many)
		return false;
	enum program_kind kind = find_kind(t);
	*why = reasons[kind];
	return kind == KIND_UNKNOWN || kind == KIND_OTHER;
}

struct callgraph_options callgraph_options(const struct callgraph_target *t, const char *method)
{
	struct callgraph_options o = { .call_graph = method };

	if (!strcmp(method, "auto")) {
		o.unwind = is_better_unwound(t, &o.why);
		o.call_graph = o.unwind ? NULL : "fp";
	} else {
		o.unwind = t->can_unwind && !strncmp(method, "dwarf", strlen("dwarf"));
	}
	return o;
}
