/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz-scan - any bytes as the code of an object without call frame information: rows at each
 * address, and as return addresses.
 */
#include "code/scan.h"
#include "tests/unit/cfi-image.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	enum { MOST = 64 };
	const char *why;
	size_t image_size;
	struct cfi_parts parts = { .frames = bytes, .frames_size = size, .machine = EM_X86_64 };
	uint8_t *image = cfi_image_make(&parts, &image_size);
	struct elf *elf = elf_open_memory(image, image_size, &why);
	struct cfi *cfi = cfi_open(elf);
	const struct machine *m = machine_find("x86_64");
	struct code_scan *scan = scan_new();
	uint64_t fuel = 1 << 20;
	struct starts *starts = starts_open(m, elf, &fuel);
	struct cfi_row row;
	uint64_t base = cfi_image_frames(&parts);

	for (uint64_t at = 0; cfi && at < size && at < 2 * MOST; at++) {
		struct scan_request request = { .machine = m, .elf = elf, .starts = starts,
						.own = base + at / 2, .is_exact = at & 1,
						.symbol = base, .fuel = &fuel };
		if (scan_row(scan, &request, cfi, &row) != SCAN_NONE)
			must(row.saves > 0 && row.saves <= CFI_REGISTERS);
	}
	starts_close(starts);
	scan_free(scan);
	cfi_close(cfi);
	elf_close(elf);
	free(image);
	return 0;
}
