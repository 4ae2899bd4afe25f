/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz-cfi - any bytes as call frame information: rows at an address, and at the first hundred
 * ranges; then their expressions.
 *
 * The first byte says what the bytes are (see enum), the next two the size of .eh_frame_hdr, the
 * next four the address.
 */
#include "base/cursor.h"
#include "cfi/cfi.h"
#include "tests/unit/cfi-image.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { IS_DEBUG = 1, IS_STRIPPED = 2, IS_ARM64 = 4, IS_ITS_OWN_DEBUG_FILE = 8 };

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* Each address has the byte that its lowest bits say; half of the pages are absent. */
static bool read_memory(void *context, uint64_t address, void *bytes, size_t size)
{
	(void)context;
	memset(bytes, (int)(address & 0xff), size);
	return !(address & 0x1000);
}

static uint64_t evaluate(const struct cfi *c, int32_t expression, const uint64_t *cfa)
{
	struct cfi_registers registers = { .known = ~2ULL };
	struct cfi_memory memory = { .read = read_memory, .bias = 0x100000 };
	uint64_t value = 0;

	for (unsigned i = 0; i < CFI_REGISTERS; i++)
		registers.value[i] = i * 0x123456789abULL;
	cfi_evaluate(c, expression, &registers, &memory, cfa, &value);
	return value;
}

static void use_row(const struct cfi *c, const struct cfi_row *row)
{
	uint64_t cfa = 0x8000;

	must(row->saves <= CFI_REGISTERS && row->ra_reg < CFI_REGISTERS);
	if (row->cfa_kind == CFI_VALUE_EXPRESSION)
		cfa = evaluate(c, row->cfa_value, NULL);
	for (unsigned i = 0; i < row->saves; i++) {
		const struct cfi_save *s = &row->save[i];
		must(s->kind != CFI_SAME && s->kind <= CFI_VALUE_EXPRESSION &&
		     s->reg < CFI_REGISTERS && (i == 0 || row->save[i - 1].reg < s->reg));
		if (s->kind == CFI_EXPRESSION || s->kind == CFI_VALUE_EXPRESSION)
			evaluate(c, s->value, &cfa);
	}
}

/* Look ADDRESS up; return the address after the range with the same answer. */
static uint64_t look(struct cfi *c, uint64_t address)
{
	struct cfi_row row, other;
	struct extent same, copy;
	enum cfi_result result = cfi_row_at(c, address, &row, &same);

	must(same.start <= address && address < same.end);
	if (result == CFI_FOUND) {
		use_row(c, &row);
		/* Less than this if the fuel is used up. */
		if (cfi_row_at(c, same.end - 1, &other, &copy) == CFI_FOUND)
			must(copy.start == same.start && copy.end == same.end &&
			     !memcmp(&row, &other, cfi_row_size(&row)));
	}
	return same.end;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct cursor c = { .at = bytes, .end = bytes + size };
	uint8_t flags = cursor_u8(&c);
	uint16_t table_size = cursor_u16(&c);
	uint64_t address = cursor_u32(&c);
	const uint8_t *table = cursor_bytes(&c, table_size);
	const char *why;
	size_t image_size;

	if (c.failed)
		return 0;
	struct cfi_parts p = {
		.table = table, .table_size = table_size, .frames = c.at,
		.frames_size = cursor_left(&c), .is_debug = flags & IS_DEBUG,
		.is_stripped = flags & IS_STRIPPED,
		.machine = flags & IS_ARM64 ? EM_AARCH64 : EM_X86_64,
	};
	uint8_t *image = cfi_image_make(&p, &image_size);
	struct elf *elf = elf_open_memory(image, image_size, &why);
	struct cfi *cfi = cfi_open(elf);
	if (flags & IS_ITS_OWN_DEBUG_FILE)
		cfi_add_debug(cfi, elf);
	look(cfi, address);
	uint64_t at = 0;
	for (int i = 0; i < 100 && at < UINT64_MAX; i++)
		at = look(cfi, at);
	cfi_damage(cfi);
	cfi_close(cfi);
	elf_close(elf);
	free(image);
	return 0;
}
