/* SPDX-License-Identifier: Apache-2.0 */
#include "listing/disassemble.h"
#include "base/arena.h"
#include "base/bisect.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/hex.h"
#include "base/output.h"
#include "base/sibling.h"
#include "base/text.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIME_MAX 120000000000ULL	/* ns that objdump may take for one function */
enum {
	TEXT_MAX = 128 << 20,	/* bytes that objdump may print for one function */
	PIECE = 1 << 16,
};

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#define OUR_MACHINE EM_NONE
#endif

/* A machine as objdump calls it, and the objdump for this machine that Debian has elsewhere. */
static const struct known_machine {
	uint16_t machine;
	const char *name, *other;
} known[] = {
	{ EM_X86_64, "i386:x86-64", "x86_64-linux-gnu-objdump" },
	{ EM_AARCH64, "aarch64", "aarch64-linux-gnu-objdump" },
	{ EM_RISCV, "riscv:rv64", "riscv64-linux-gnu-objdump" },
	{ EM_PPC64, "powerpc:common64", "powerpc64le-linux-gnu-objdump" },
	{ EM_S390, "s390:64-bit", "s390x-linux-gnu-objdump" },
};

static const struct known_machine *machine_of(uint16_t machine)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].machine == machine)
			return &known[i];
	return NULL;
}

/* Write the bytes to a file in memory.  Return its descriptor, at its start; -1: reported. */
static int code_file(const struct raw_code *code, struct report *report)
{
	struct output out;

	output_open_memory(&out, report);
	output_write(&out, code->bytes.at, code->bytes.size);
	return output_take_memory(&out);
}

/* Add a line of objdump: "  401136:\tpush   %rbp".  All others have no colon after a number. */
static void add_line(struct disassembly *d, const char *line, const char *end)
{
	const char *at = line, *digits;
	uint64_t address;

	while (at < end && *at == ' ')
		at++;
	digits = at;
	at = hex_number(at, end, &address);
	if (at == digits || end - at < 2 || at[0] != ':' || at[1] != '\t')
		return;
	at += 2;
	while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	d->item = array_grow(d->item, d->count, sizeof(*d->item));
	d->item[d->count++] = (struct instruction){ address, d->size };
	char *text = d->text + d->size;
	for (size_t i = 0; at + i < end; i++)
		text[i] = at[i] == '\t' ? ' ' : at[i];
	text[end - at] = '\0';
	text_make_safe(text);
	d->size += (size_t)(end - at) + 1;
}

/* Parse the SIZE bytes at TEXT.  All texts together are shorter than the lines with them. */
static void parse(struct disassembly *d, const char *text, size_t size)
{
	const char *at = text, *end = text + size, *next;

	d->text = mem_resize(NULL, size + 1);
	for (; (next = memchr(at, '\n', (size_t)(end - at))); at = next + 1)
		add_line(d, at, next);
}

/* Read FD to its end.  Return false if it takes too long, or is too much, or STOP is set. */
static bool read_text(int fd, const volatile sig_atomic_t *stop, struct buffer *text)
{
	uint64_t deadline = monotonic_ns() + TIME_MAX;
	ssize_t n = -1;

	while (n != 0 && !is_stopped(stop) && text->size < TEXT_MAX) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		uint64_t now = monotonic_ns();
		if (now >= deadline)
			break;
		if (poll(&wait, 1, (int)((deadline - now) / 1000000) + 1) <= 0)
			continue;
		n = read(fd, buffer_end(text, PIECE), PIECE);
		text->size += n > 0 ? (size_t)n : 0;
	}
	return n == 0;
}

/* Run PROGRAM, an objdump, on CODE, and read its TEXT, which is empty.  False: it failed. */
static bool run(const char *program, const char *machine, const struct raw_code *code,
		const volatile sig_atomic_t *stop, struct buffer *text, struct report *report)
{
	char start[40];
	const char *const argv[] = {
		program, "-D", "-z", "-w", "-b", "binary", "-m", machine,
		code->is_big_endian ? "-EB" : "-EL", "--no-show-raw-insn", start, "/dev/stdin", NULL
	};
	struct report silent = { .tool = report->tool, .quiet = true };
	struct sibling s;

	snprintf(start, sizeof(start), "--adjust-vma=0x%" PRIx64, code->address);
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC), in = code_file(code, report);
	const struct sibling_how how = { .in = in, .out = -1, .err = nowhere, .bound = true };
	int fd = in < 0 ? -1 : sibling_run(&s, (char *const *)(uintptr_t)argv, &how, &silent);
	bool is_whole = fd >= 0 && read_text(fd, stop, text);
	descriptor_close(nowhere);
	if (fd < 0)
		return false;
	close(fd);
	sibling_end(&s, !is_whole, &silent);
	return is_whole && silent.status == 0;
}

static bool disassemble_by(struct disassembly *out, const struct known_machine *m,
			   const struct raw_code *code, const volatile sig_atomic_t *stop,
			   struct report *report)
{
	struct buffer text = { .size = 0 };
	char path[PATH_MAX];

	/* the one for this machine is always there, and may know others */
	bool has_other = m->machine != OUR_MACHINE && sibling_find(m->other, path);
	if (!has_other && !sibling_find("objdump", path)) {
		report_error(report, "no instructions: objdump is not in PATH: install binutils");
		return false;
	}
	bool is_for_it = has_other || m->machine == OUR_MACHINE;
	uint64_t start = monotonic_ns();
	if (run(has_other ? m->other : "objdump", m->name, code, stop, &text, report))
		parse(out, (const char *)text.at, text.size);
	free(text.at);
	if (out->count > 0 || is_stopped(stop))
		return out->count > 0;
	if (monotonic_ns() - start >= TIME_MAX)
		report_error(report, "no instructions: '%s' took longer than %llu s and was ended",
			     path, TIME_MAX / 1000000000);
	else if (is_for_it)
		report_error(report, "no instructions: '%s' failed: is it objdump of the GNU "
			     "binutils?", path);
	else
		report_error(report, "no instructions: '%s' could not disassemble code for %s; %s "
			     "or binutils-multiarch can", path, m->name, m->other);
	return false;
}

bool disassemble(struct disassembly *out, const struct raw_code *code,
		 struct disassembler *by, struct report *report)
{
	const struct known_machine *m = machine_of(code->machine);
	uint32_t bit = 1u << (m ? m - known : 31);

	if (by->failed & bit)
		return false;
	if (!m)
		report_error(report, "no instructions: only 64-bit code of x86, arm64, riscv, "
			     "ppc and s390 is disassembled");
	if (m && disassemble_by(out, m, code, by->stop, report))
		return true;
	by->failed |= bit;
	return false;
}

uint32_t disassembly_find(const struct disassembly *d, uint64_t address)
{
	size_t next = BISECT(0, d->count, i, d->item[i].address > address);

	return next == 0 ? UINT32_MAX : (uint32_t)next - 1;
}

void disassembly_release(struct disassembly *d)
{
	free(d->item);
	free(d->text);
	*d = (struct disassembly){ 0 };
}
