/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz-expression - any bytes as an expression of call frame information, after a byte whose bits
 * say whether there is a CFA, and which of eight registers are known.
 */
#include "base/arena.h"
#include "cfi/cfi-internal.h"
#include "tests/unit/cfi-image.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Each address has the byte that its lowest bits say; half of the pages are absent. */
static bool read_memory(void *context, uint64_t address, void *bytes, size_t size)
{
	uint64_t *reads = context;

	if (size > 8)
		abort();
	++*reads;
	memset(bytes, (int)(address & 0xff), size);
	return !(address & 0x1000);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct cfi_parts p = { .machine = EM_X86_64 };
	struct cfi_registers registers = { 0 };
	uint64_t value, reads = 0, cfa = 0x8000;
	struct cfi_memory memory = { read_memory, &reads, 0x100000 };
	const char *why;
	size_t image_size;

	if (size == 0)
		return 0;
	for (unsigned i = 0; i < CFI_REGISTERS; i++) {
		registers.value[i] = i * 0x123456789abULL;
		registers.known |= (uint64_t)(*bytes >> i % 8 & 1) << i;
	}
	uint8_t *image = cfi_image_make(&p, &image_size);
	struct elf *elf = elf_open_memory(image, image_size, &why);
	struct cfi *c = cfi_open(elf);
	uint8_t *copy = mem_resize(NULL, size);		/* of exactly that size */
	memcpy(copy, bytes + 1, size - 1);
	copy = mem_resize(copy, size > 1 ? size - 1 : 1);
	int32_t id = expression_add(c, copy, size - 1);
	if (id >= 0) {
		cfi_evaluate(c, id, &registers, &memory, *bytes & 1 ? &cfa : NULL, &value);
		if (reads > 1000 || expression_add(c, copy, size - 1) != id)
			abort();
	}
	cfi_close(c);
	elf_close(elf);
	free(copy);
	free(image);
	return 0;
}
