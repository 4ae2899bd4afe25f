/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor-process - examines whether a process can be profiled, and whether its callchains will be
 * right.
 *
 * A function with a frame pointer starts by saving it, so code with frame pointers has the
 * instructions for that every few hundred bytes.  The files that the process maps are only read.
 */
#include "base/descriptor.h"
#include "base/regular.h"
#include "elf/section.h"
#include "event/event.h"
#include "linux/maps.h"
#include "linux/proc.h"
#include "show/doctor-internal.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	MOST_CODE = 8 << 20,	/* bytes of code to read per segment */
	MOST_OBJECTS = 256,	/* libraries to examine */
	SPARSE = 4096,		/* bytes of code per frame pointer saved: more means "none" */
};

/* Properties of the program's file. */
struct program_code {
	uint64_t code;		/* bytes of code read */
	uint64_t frames;	/* functions in them that save the frame pointer */
	bool unwind_tables;	/* it has PT_GNU_EH_FRAME, .eh_frame or .debug_frame */
	bool is_static;		/* statically linked: most code comes from libraries */
};

/* Count the instructions by which compilers set up a frame pointer. */
static uint64_t count_frames(const uint8_t *code, size_t size, uint16_t machine)
{
	uint64_t n = 0;

	if (machine == EM_X86_64) {
		/* push %rbp; mov %rsp,%rbp, in either of its two encodings */
		for (size_t i = 0; i + 4 <= size; i++)
			n += code[i] == 0x55 && code[i + 1] == 0x48 &&
			     ((code[i + 2] == 0x89 && code[i + 3] == 0xe5) ||
			      (code[i + 2] == 0x8b && code[i + 3] == 0xec));
	} else if (machine == EM_AARCH64) {
		/* add x29, sp, #n, with any n: mov x29, sp for 0; code is little endian */
		for (size_t i = 0; i + 4 <= size; i += 4)
			n += code[i] == 0xfd && (code[i + 1] & 3) == 3 &&
			     (code[i + 2] & 0xc0) == 0 && code[i + 3] == 0x91;
	}
	return n;
}

/* Examine the program FD, which is closed.  False: it is not a 64-bit ELF file with code. */
static bool read_program(int fd, struct program_code *program)
{
	const char *why;
	struct elf *elf = fd < 0 ? NULL : elf_open(fd, &why);
	struct elf_section section;
	struct elf_bytes code;
	uint64_t address;
	uint32_t segment = 0;

	*program = (struct program_code){ 0 };
	if (elf && elf_machine(elf) != EM_NONE) {
		while (elf_next_segment(elf, &segment, &code)) {
			size_t size = code.size < MOST_CODE ? (size_t)code.size : MOST_CODE;
			program->code += size;
			program->frames += count_frames(code.at, size, elf_machine(elf));
		}
		/* static programs have tables, but no segment that names them */
		program->unwind_tables = elf_frame_header(elf, &address).size ||
					 elf_find_section(elf, ".eh_frame", &section) ||
					 elf_find_section(elf, ".debug_frame", &section);
		program->is_static = !elf_find_section(elf, ".interp", &section);
	}
	elf_close(elf);
	return program->code > 0;
}

static void examine_frames(struct findings *all, pid_t pid)
{
	struct finding *f = doctor_add_finding(all, FINDING_OK, "frame pointers");
	struct program_code program;
	struct proc_path path = proc_path(pid, "exe");

	int fd = regular_open(path.text, false);
	if (!read_program(fd, &program)) {
		f->state = FINDING_NOTE;
		snprintf(f->text, sizeof(f->text), "cannot examine %s", path.text);
	} else if (program.frames * SPARSE >= program.code) {
		snprintf(f->text, sizeof(f->text), "the program keeps them (one per %llu bytes of "
			 "code): callchains are complete, except in libraries without them",
			 (unsigned long long)(program.code / program.frames));
	} else {
		f->state = FINDING_NOTE;
		snprintf(f->text, sizeof(f->text), "%s, and has %sunwind tables", program.is_static
			 ? "most of the program lacks them (it is linked statically: its own code "
			   "may keep them)" : "the program lacks them",
			 program.unwind_tables ? "" : "no ");
		snprintf(f->mend, sizeof(f->mend), "%sbuild it with -fno-omit-frame-pointer",
			 program.unwind_tables ? "pmu-sample --unwind; or " : "");
	}
}

/* How many objects that a process mapped as code have frame pointers or unwind tables. */
struct mapped_objects {
	unsigned count;
	unsigned with_frames, with_tables;
	char no_frames[56], no_tables[56];	/* names of some that lack them */
};

/* Append the last part of PATH to LIST of names, as far as there is room. */
static void add_name(char *list, size_t size, const char *path)
{
	size_t used = strlen(list);
	const char *name = strrchr(path, '/') + 1;

	if (used + strlen(name) + sizeof(", , ...") <= size)
		snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
	else if (used + sizeof(", ...") <= size && !strstr(list, ", ..."))
		snprintf(list + used, size - used, ", ...");
}

static void examine_object(struct mapped_objects *all, pid_t pid, const char *path)
{
	struct program_code code;
	int fd = regular_open_below(proc_path(pid, "root").text, path, false);

	if (read_program(fd, &code)) {
		all->count++;
		all->with_tables += code.unwind_tables;
		if (!code.unwind_tables)
			add_name(all->no_tables, sizeof(all->no_tables), path);
		if (code.frames * SPARSE >= code.code)
			all->with_frames++;
		else
			add_name(all->no_frames, sizeof(all->no_frames), path);
	}
}

/* Examine each object that PID has mapped as code; a deleted one is not found. */
static struct mapped_objects examine_objects(pid_t pid)
{
	struct mapped_objects all = { 0 };
	struct proc_maps maps = proc_maps_open(pid);
	struct proc_mapping m;
	char last[PATH_MAX] = "";

	while (all.count < MOST_OBJECTS && proc_maps_next(&maps, &m)) {
		/* the mappings of a file follow each other */
		if (!(m.prot & PROT_EXEC) || *m.path != '/' || !strcmp(m.path, last))
			continue;
		snprintf(last, sizeof(last), "%s", m.path);
		examine_object(&all, pid, m.path);
	}
	proc_maps_close(&maps);
	return all;
}

/* Return whether the CPU records calls (LBR call stack). */
static bool has_call_stack(pid_t pid)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES, .sample_period = 1000003, .disabled = 1,
		.exclude_kernel = 1, .exclude_hv = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK,
	};
	int fd = event_open(&attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	descriptor_close(fd);
	return fd >= 0;
}

/* Say which of the ways to record callchains work. */
static void examine_callchains(struct findings *all, pid_t pid)
{
	struct finding *f = doctor_add_finding(all, FINDING_OK, "callchains");
	struct mapped_objects o = examine_objects(pid);
	const char *calls = has_call_stack(pid) ? "" : "; --call-graph lbr does not work here";

	if (o.count == 0) {
		f->state = FINDING_NOTE;
		snprintf(f->text, sizeof(f->text), "cannot examine the files that %d maps",
			 (int)pid);
	} else if (o.with_frames == o.count) {
		snprintf(f->text, sizeof(f->text), "-g works: all code has frame pointers%s",
			 calls);
	} else if (o.with_tables == o.count) {
		snprintf(f->text, sizeof(f->text), "--unwind and --call-graph dwarf work: all code "
			 "has unwind tables; -g stops where there are no frame pointers (%s)%s",
			 o.no_frames, calls);
	} else {
		f->state = FINDING_NOTE;
		snprintf(f->text, sizeof(f->text), "--unwind stops in code without unwind tables "
			 "(%s), unless it has frame pointers; -g without them (%s)%s", o.no_tables,
			 o.no_frames, calls);
	}
}

void doctor_process(struct findings *all, pid_t pid)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK, .disabled = 1, .exclude_kernel = 1,
		.exclude_hv = 1 };
	struct event event = { .name = "cpu-clock", .attr = attr };
	struct finding *f = doctor_add_finding(all, FINDING_OK, "process");

	int fd = event_open(&attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		char why[200];
		event_explain_task(&event, pid, errno, why, sizeof(why));
		f->state = FINDING_BAD;
		snprintf(f->text, sizeof(f->text), "%d cannot be profiled: %s", (int)pid, why);
		return;
	}
	close(fd);
	snprintf(f->text, sizeof(f->text), "%d can be profiled", (int)pid);
	examine_frames(all, pid);
	examine_callchains(all, pid);
}
