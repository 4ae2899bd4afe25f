/* SPDX-License-Identifier: Apache-2.0 */
/* cfi: the operations of expressions. */
#include "tests/unit/cfi-entries.h"

/* Memory: at 0x5000 are the bytes 1, 2, ... 0xfe, and nothing elsewhere. */
static bool read_memory(void *context, uint64_t address, void *bytes, size_t size)
{
	uint8_t *to = bytes;

	(void)context;
	if (address < 0x5000 || address > 0x50fe - size)
		return false;
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)(address - 0x5000 + 1 + i);
	return true;
}

/* Evaluate the SIZE bytes of TEXT, with rsp = 0x5010, rip = 0x100b, and rbp unknown. */
static bool evaluate(const uint8_t *text, size_t size, const uint64_t *cfa, uint64_t *value)
{
	struct cfi_registers registers = { .known = ~(1ULL << 6) };
	struct cfi_memory memory = { .read = read_memory, .bias = 0x10000 };
	struct bytes b = { 0 }, program = { 0 };
	struct cfi_row row;
	struct extent same;
	uint8_t leb[] = { (uint8_t)(size | 0x80), (uint8_t)(size >> 7) };

	registers.value[7] = 0x5010;
	registers.value[16] = 0x100b;
	registers.value[33] = 33;
	add(&program, "\x0f", 1);
	add(&program, leb, 2);
	add(&program, text, size);
	add_fde(&b, add_cie(&b, "zR", initial, sizeof(initial) - 1), 0x1000, 0x1000, program.at,
		program.size);
	struct object o = open_frames(&b);
	bool good = cfi_row_at(o.cfi, 0x1000, &row, &same) == CFI_FOUND &&
		    row.cfa_kind == CFI_VALUE_EXPRESSION &&
		    cfi_evaluate(o.cfi, row.cfa_value, &registers, &memory, cfa, value);
	close_object(&o);
	free(b.at);
	free(program.at);
	return good;
}

static bool is(const uint8_t *text, size_t size, uint64_t expected)
{
	uint64_t value = 0;
	bool good = evaluate(text, size, NULL, &value) && value == expected;

	if (!good)
		printf("# expression %02x...: 0x%" PRIx64 ", not 0x%" PRIx64 "\n", text[0], value,
		       expected);
	return good;
}

static bool fails(const uint8_t *text, size_t size)
{
	uint64_t value;

	return !evaluate(text, size, NULL, &value);
}

static void test_constants(void)
{
	tap(is(PROGRAM("\x30"), 0) && is(PROGRAM("\x4f"), 31), "literals");
	tap(is(PROGRAM("\x08\xff"), 255) && is(PROGRAM("\x09\xff"), (uint64_t)-1) &&
	    is(PROGRAM("\x0a\xff\xff"), 65535) && is(PROGRAM("\x0b\xfe\xff"), (uint64_t)-2) &&
	    is(PROGRAM("\x0c\xff\xff\xff\xff"), UINT32_MAX) &&
	    is(PROGRAM("\x0d\xfd\xff\xff\xff"), (uint64_t)-3) &&
	    is(PROGRAM("\x0e\x01\x02\x03\x04\x05\x06\x07\x08"), 0x0807060504030201) &&
	    is(PROGRAM("\x0f\xff\xff\xff\xff\xff\xff\xff\xff"), UINT64_MAX) &&
	    is(PROGRAM("\x10\x80\x01"), 128) && is(PROGRAM("\x11\x7f"), (uint64_t)-1),
	    "constants");
	tap(is(PROGRAM("\x77\x08"), 0x5018) && is(PROGRAM("\x77\x78"), 0x5008) &&
	    is(PROGRAM("\x92\x10\x01"), 0x100c) && is(PROGRAM("\x92\x21\0"), 33), "registers");
	tap(is(PROGRAM("\x03\x01\0\0\0\0\0\0\0"), 0x10001), "addresses of the object");
	tap(fails(PROGRAM("\x76\0")) && fails(PROGRAM("\x92\x22\0")) && fails(PROGRAM("\x50")),
	    "registers that are unknown, or not tracked; locations");
}

static void test_operations(void)
{
	tap(is(PROGRAM("\x31\x32\x12\x1e\x1e"), 4) && is(PROGRAM("\x31\x32\x13"), 1) &&
	    is(PROGRAM("\x31\x32\x14"), 1) && is(PROGRAM("\x31\x32\x33\x15\x02"), 1) &&
	    is(PROGRAM("\x31\x32\x16"), 1) && is(PROGRAM("\x31\x32\x33\x17"), 2) &&
	    is(PROGRAM("\x31\x32\x33\x17\x13"), 1) && is(PROGRAM("\x31\x32\x33\x17\x13\x13"), 3),
	    "dup, drop, over, pick, swap, rot");
	tap(fails(PROGRAM("\x12")) && fails(PROGRAM("\x31\x14")) && fails(PROGRAM("\x31\x16")) &&
	    fails(PROGRAM("\x31\x32\x17")) && fails(PROGRAM("\x31\x15\x01")) &&
	    fails(PROGRAM("\x31\x22")) && fails(PROGRAM("")), "an empty stack");
	tap(is(PROGRAM("\x11\x7b\x19"), 5) && is(PROGRAM("\x35\x19"), 5) &&
	    is(PROGRAM("\x35\x1f"), (uint64_t)-5) && is(PROGRAM("\x30\x20"), UINT64_MAX) &&
	    is(PROGRAM("\x35\x23\x80\x01"), 133), "abs, neg, not, plus_uconst");
	tap(is(PROGRAM("\x37\x33\x1a"), 3) && is(PROGRAM("\x34\x33\x21"), 7) &&
	    is(PROGRAM("\x36\x33\x27"), 5) && is(PROGRAM("\x34\x33\x22"), 7) &&
	    is(PROGRAM("\x33\x34\x1c"), (uint64_t)-1) && is(PROGRAM("\x33\x34\x1e"), 12),
	    "and, or, xor, plus, minus, mul");
	tap(is(PROGRAM("\x11\x79\x32\x1b"), (uint64_t)-3) && is(PROGRAM("\x37\x34\x1d"), 3) &&
	    fails(PROGRAM("\x37\x30\x1b")) && fails(PROGRAM("\x37\x30\x1d")) &&
	    is(PROGRAM("\x0e\0\0\0\0\0\0\0\x80\x09\xff\x1b"), 1ULL << 63), "div, mod; by 0");
	tap(is(PROGRAM("\x31\x34\x24"), 16) && is(PROGRAM("\x31\x08\x40\x24"), 0) &&
	    is(PROGRAM("\x11\x70\x34\x26"), (uint64_t)-1) && is(PROGRAM("\x4f\x33\x25"), 3) &&
	    is(PROGRAM("\x11\x70\x08\x40\x25"), 0) &&
	    is(PROGRAM("\x11\x70\x08\x40\x26"), (uint64_t)-1), "shl, shr, shra");
	tap(is(PROGRAM("\x31\x31\x29"), 1) && is(PROGRAM("\x31\x32\x2e"), 1) &&
	    is(PROGRAM("\x09\xff\x31\x2d"), 1) && is(PROGRAM("\x31\x31\x2c"), 1) &&
	    is(PROGRAM("\x31\x09\xff\x2b"), 1) && is(PROGRAM("\x31\x31\x2a"), 1) &&
	    is(PROGRAM("\x31\x09\xff\x2d"), 0), "eq, ne, lt, le, gt, ge are signed");
	tap(is(PROGRAM("\x77\x00\x06"), 0x1817161514131211) &&
	    is(PROGRAM("\x77\x00\x94\x04"), 0x14131211) &&
	    is(PROGRAM("\x77\x00\x94\x02"), 0x1211) && is(PROGRAM("\x77\x00\x94\x01"), 0x11) &&
	    fails(PROGRAM("\x30\x06")) && fails(PROGRAM("\x77\x00\x94\x03")) &&
	    fails(PROGRAM("\x77\x00\x94\x09")) && fails(PROGRAM("\x77\xf7\x01\x06")),
	    "deref, deref_size");
}

static void test_control(void)
{
	const uint64_t cfa = 0x7000;
	uint8_t many[2000];
	uint64_t value;

	tap(is(PROGRAM("\x31\x2f\x01\0\x32\x33\x1c"), (uint64_t)-2) &&
	    is(PROGRAM("\x35\x31\x28\x01\0\x36"), 5) && is(PROGRAM("\x35\x30\x28\x01\0\x36"), 6) &&
	    is(PROGRAM("\x35\x2f\0\0"), 5) && fails(PROGRAM("\x35\x2f\x01\0")) &&
	    fails(PROGRAM("\x35\x2f\xfb\xff")) && fails(PROGRAM("\x35\x2f\xff\x7f")), "skip, bra");
	tap(is(PROGRAM("\x30\x31\x22\x12\x08\x64\x2d\x28\xf7\xff"), 100), "a loop");
	tap(fails(PROGRAM("\x31\x2f\xfd\xff")), "a loop without end");
	tap(is(PROGRAM("\x35\x96\x9f"), 5), "nop, stack_value");
	tap(fails(PROGRAM("\x9c")) && evaluate(PROGRAM("\x9c\x1c"), &cfa, &value) && value == 0 &&
	    evaluate(PROGRAM("\x38\x22"), &cfa, &value) && value == 0x7008,
	    "call_frame_cfa; the CFA on the stack");
	tap(fails(PROGRAM("\xe0")) && fails(PROGRAM("\x93\x08")) && fails(PROGRAM("\xe1")) &&
	    fails(PROGRAM("\x98\0\0")) && fails(PROGRAM("\xa3\x01\x50")), "other operations");
	memset(many, 0x31, sizeof(many));
	tap(is(many, 64, 1) && fails(many, 65), "64 values, no more");
	memset(many, 0x96, sizeof(many));
	many[0] = 0x31;
	tap(is(many, 1000, 1) && fails(many, 1001), "1,000 operations, no more");
	tap(is(PROGRAM("\x77\x08\x80\0\x3f\x1a\x3b\x2a\x33\x24\x22"), 0x5020),
	    "the expression of .plt");
}

int main(void)
{
	test_constants();
	test_operations();
	test_control();
	return tap_done();
}
