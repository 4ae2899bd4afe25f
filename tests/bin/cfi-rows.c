/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi-rows FILE [DEBUG] - read addresses in hexadecimal, and print the row of call frame
 * information at each: its range, how to compute the CFA, and where registers are, in the words
 * of readelf --debug-dump=frames-interp.  Rules that are "undefined" are left out: readelf
 * prints the same for registers without a rule.
 */
#include "cfi/cfi.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct elf *open_elf(const char *path)
{
	const char *why = "";
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	return fd < 0 ? NULL : elf_open(fd, &why);
}

static void print_rule(const struct cfi_save *s)
{
	switch (s->kind) {
	case CFI_OFFSET:
		printf(" r%u=c%+" PRId32, s->reg, s->value);
		break;
	case CFI_VALUE_OFFSET:
		printf(" r%u=v%+" PRId32, s->reg, s->value);
		break;
	case CFI_REGISTER:
		printf(" r%u=r%" PRId32, s->reg, s->value);
		break;
	case CFI_EXPRESSION:
		printf(" r%u=exp", s->reg);
		break;
	case CFI_VALUE_EXPRESSION:
		printf(" r%u=vexp", s->reg);
		break;
	}
}

static void print_row(const struct cfi_row *row)
{
	if (row->cfa_kind == CFI_OFFSET)
		printf(" r%u%+" PRId32, row->cfa_reg, row->cfa_value);
	else
		printf(row->cfa_kind == CFI_UNDEFINED ? " none" : " exp");
	for (unsigned i = 0; i < row->saves; i++)
		print_rule(&row->save[i]);
}

/* Return whether the last address of SAME has the same row as its first. */
static bool is_same_row(struct cfi *c, const struct cfi_row *row, const struct extent *same)
{
	struct extent other;
	struct cfi_row last;

	return cfi_row_at(c, same->end - 1, &last, &other) == CFI_FOUND &&
	       !memcmp(row, &last, cfi_row_size(row)) && other.start == same->start;
}

int main(int argc, char **argv)
{
	struct elf *elf = argc > 1 ? open_elf(argv[1]) : NULL, *debug = open_elf(argv[2]);
	struct cfi *c = elf ? cfi_open(elf) : NULL;
	struct cfi_row row;
	struct extent same;
	uint64_t address;

	if (!c)
		return 1;
	if (debug)
		cfi_add_debug(c, debug);
	while (scanf("%" SCNx64, &address) == 1) {
		enum cfi_result result = cfi_row_at(c, address, &row, &same);
		if (result == CFI_FOUND && is_same_row(c, &row, &same)) {
			printf("%" PRIx64 " %" PRIx64, same.start, same.end);
			print_row(&row);
			printf("\n");
		} else {
			printf("%" PRIx64 " %s\n", address, result == CFI_NONE ? "no information"
			       : result == CFI_DAMAGED ? "damaged" : "another row at its end");
		}
	}
	const struct cfi_damage *damage = cfi_damage(c);
	if (damage)
		printf("damage in %s at 0x%" PRIx64 "\n", damage->section, damage->offset);
	cfi_close(c);
	elf_close(debug);
	elf_close(elf);
	return 0;
}
