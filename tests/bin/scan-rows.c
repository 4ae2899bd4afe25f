/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objdump -dw FILE | scan-rows FILE - compare the rows that lib/unwind finds in code itself with
 * the call frame information of FILE, which it does not see: at each instruction but nop, and as
 * return addresses, after each call.
 *
 * Prints what differs in the CFA, or in the place of a register, and then "RIGHT WRONG NONE
 * OTHER": NONE were not found, and OTHER have a CFA from another register, so that they do not
 * compare.  A register may have its caller's value although FILE says where that is saved.
 */
#include "code/instruction.h"
#include "code/scan.h"
#include "cfi/cfi.h"
#include "elf/section.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4096 };

struct file {
	const struct machine *machine;
	struct elf *elf;
	struct cfi *cfi;
	struct code_scan *scan;
	struct starts *starts;
	uint64_t right, wrong, none, other;
};

static const struct cfi_save *save_of(const struct cfi_row *row, unsigned reg)
{
	for (unsigned i = 0; i < row->saves; i++)
		if (row->save[i].reg == reg)
			return &row->save[i];
	return NULL;
}

/* Return whether GOT does not contradict WANT. */
static bool is_right(const struct cfi_row *want, const struct cfi_row *got)
{
	if (want->cfa_value != got->cfa_value)
		return false;
	for (unsigned i = 0; i < got->saves; i++) {
		const struct cfi_save *a = &got->save[i], *b = save_of(want, a->reg);
		if (a->kind != CFI_UNDEFINED && (!b || a->kind != b->kind || a->value != b->value))
			return false;
	}
	return true;
}

static void print_row(const struct cfi_row *row)
{
	printf(" r%u%+" PRId32 ":", row->cfa_reg, row->cfa_value);
	for (unsigned i = 0; i < row->saves; i++)
		printf(" r%u=%u%+" PRId32, row->save[i].reg, row->save[i].kind, row->save[i].value);
}

/* Judge the row at OWN, an instruction's address, or (not IS_EXACT) the last byte of a call. */
static void judge(struct file *f, uint64_t own, bool is_exact)
{
	uint64_t fuel = 1 << 26;
	struct cfi_row want, got;
	struct extent same;
	struct elf_symbol symbol;
	bool has_symbol = elf_symbol(f->elf, own, &symbol);
	struct scan_request request = { .machine = f->machine, .elf = f->elf, .own = own,
					.is_exact = is_exact, .starts = f->starts, .fuel = &fuel,
					.symbol = has_symbol ? symbol.address : 0 };

	if (cfi_row_at(f->cfi, own, &want, &same) != CFI_FOUND)
		return;
	if (scan_row(f->scan, &request, f->cfi, &got) == SCAN_NONE) {
		f->none++;
	} else if (want.cfa_kind != CFI_OFFSET || got.cfa_kind != CFI_OFFSET ||
		   want.cfa_reg != got.cfa_reg) {
		f->other++;
	} else if (is_right(&want, &got)) {
		f->right++;
	} else {
		f->wrong++;
		printf("%" PRIx64 "%s: by FILE", own, is_exact ? "" : " (call)");
		print_row(&want);
		printf("; by its code");
		print_row(&got);
		printf("\n");
	}
}

static void judge_line(struct file *f, const char *line)
{
	struct opcode i;
	char *colon;
	uint64_t at = strtoull(line, &colon, 16);
	struct elf_bytes b = elf_constant_at(f->elf, at, UINT64_MAX);

	if (*line != ' ' || *colon != ':' || strstr(line, "nop") ||
	    strstr(line, "xchg   %ax,%ax") ||
	    !instruction_read(f->machine, b.at, b.size, at, &i))
		return;
	judge(f, at, true);
	if (i.kind == INSTRUCTION_CALL || i.kind == INSTRUCTION_CALL_INDIRECT)
		judge(f, at + i.size - 1, false);
}

int main(int argc, char **argv)
{
	static char line[LINE];
	uint64_t fuel = 1 << 30;
	const char *why = "";
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	struct file f = { .machine = machine_find("x86_64"), .scan = scan_new() };

	f.elf = fd < 0 ? NULL : elf_open(fd, &why);
	f.cfi = cfi_open(f.elf);
	if (!f.cfi) {
		fprintf(stderr, "usage: scan-rows FILE %s\n", why);
		return 2;
	}
	f.starts = starts_open(f.machine, f.elf, &fuel);
	while (fgets(line, sizeof(line), stdin))
		judge_line(&f, line);
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", f.right, f.wrong, f.none,
	       f.other);
	starts_close(f.starts);
	scan_free(f.scan);
	cfi_close(f.cfi);
	elf_close(f.elf);
	return 0;
}
