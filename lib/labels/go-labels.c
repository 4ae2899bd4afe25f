/* SPDX-License-Identifier: Apache-2.0 */
#include "labels/go-labels.h"
#include "base/load.h"
#include "elf/section.h"
#include "elf/thread-local.h"
#include "symbol/gotable.h"

#include <ctype.h>
#include <elf.h>
#include <stdlib.h>

enum { CODE_MAX = 4096 };	/* bytes of a function that are looked at */

/* The known offsets, which are the same in versions 1.FIRST to 1.LAST. */
struct go_offsets {
	unsigned first, last;
	uint16_t labels, curg, gsignal;
	bool is_map;
};

/*
 * tests/t360 runs programs by Go 1.19; t365 and t722 run those by 1.21 to 1.27, on x86-64 and
 * arm64.  For 1.20 we have only read Go's source.  1.18 is said to be like 1.19.
 */
static const struct go_offsets known[] = {
	{ 18, 20, 360, 192, 80, true },
	{ 21, 22, 344, 192, 80, true },
	{ 23, 23, 352, 192, 80, true },
	{ 24, 24, 352, 192, 80, false },
	{ 25, 25, 344, 184, 72, false },
	{ 26, 27, 352, 184, 72, false },
};

/*
 * .go.buildinfo (debug/buildinfo): 14 bytes of magic, u8 size of words, u8 flags; flag 2 (since Go
 * 1.18): at offset 32 the length of the version, and the version.
 */
static bool read_version(struct elf *elf, char *version, size_t size)
{
	enum { MAGIC = 14, INLINE = 2, TEXT = 32 };
	struct elf_bytes bytes;

	if (!elf_section(elf, ".go.buildinfo", &bytes) || bytes.size < TEXT ||
	    memcmp(bytes.at, "\xff Go buildinf:", MAGIC))
		return false;
	struct cursor c = elf_cursor(elf, bytes);
	const uint8_t *head = cursor_bytes(&c, TEXT);
	uint64_t length = head[MAGIC + 1] & INLINE ? cursor_uleb(&c) : 0;
	const char *text = length < size ? cursor_bytes(&c, length) : NULL;
	for (uint64_t i = 0; text && i < length; i++)
		version[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
	version[text ? length : 0] = '\0';
	return true;
}

/* Return the known offsets of VERSION, or NULL.  A development version has no number. */
static const struct go_offsets *find_known(const char *version)
{
	char *end;

	if (strncmp(version, "go1.", 4) || !isdigit((unsigned char)version[4]))
		return NULL;
	unsigned long minor = strtoul(version + 4, &end, 10);
	if (*end && !strchr(".rb -", *end))
		return NULL;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (minor >= known[i].first && minor <= known[i].last)
			return &known[i];
	return NULL;
}

/* Return the code of the function NAME, and set *AT to its address.  Size 0: NAME is unknown. */
static struct elf_bytes code_of(struct elf *elf, struct gotable *table, const char *name,
				uint64_t *at)
{
	uint64_t start, end;

	*at = 0;
	if (!gotable_named(table, name, &start, &end))
		return (struct elf_bytes){ 0 };
	*at = start;
	return elf_at_address(elf, start, end - start < CODE_MAX ? end - start : CODE_MAX);
}

/* Store VALUE in *FOUND, and set *ANY.  Return whether *FOUND had no value, or the same value. */
static bool agree(uint64_t *found, uint64_t value, bool *any)
{
	bool good = !*any || *found == value;

	*found = value;
	*any = true;
	return good;
}

/*
 * x86-64, the function that sets labels: the goroutine is in R14, and the code reads or writes one
 * field of it with a displacement of 32 bits.  REX.WB (49, 4d) 8b or 89, mod 10, rm 110.  Go 1.27
 * writes by another register, but reads the field for the garbage collector by this one.
 */
static bool read_setter_x86(struct elf_bytes code, struct go_labels *l)
{
	bool any = false, good = true;

	for (uint64_t i = 0; i + 7 <= code.size; i++) {
		const uint8_t *at = code.at + i;
		if ((at[0] == 0x49 || at[0] == 0x4d) && (at[1] == 0x89 || at[1] == 0x8b) &&
		    (at[2] & 0xc7) == 0x86)
			good &= agree(&l->labels, load_u32(at + 3), &any);
	}
	return any && good;
}

/*
 * Return the size of the code at AT, ADDRESS, that loads the goroutine into RAX; 0: it is other
 * code.
 */
static size_t read_g_x86(const uint8_t *at, size_t left, uint64_t address, struct go_labels *l)
{
	static const uint8_t direct[] = { 0x64, 0x48, 0x8b, 0x04, 0x25 };	/* %fs:X,%rax */
	static const uint8_t constant[] = { 0x48, 0xc7, 0xc1 };		/* $X,%rcx */
	static const uint8_t word[] = { 0x48, 0x8b, 0x0d };		/* X(%rip),%rcx */
	static const uint8_t indirect[] = { 0x64, 0x48, 0x8b, 0x01 };	/* %fs:(%rcx),%rax */
	enum { DIRECT = sizeof(direct) + 4, CONSTANT = sizeof(constant) + 4 };

	if (left >= DIRECT && !memcmp(at, direct, sizeof(direct))) {
		l->g = (int32_t)load_u32(at + sizeof(direct));
		return DIRECT;
	}
	if (left < CONSTANT + sizeof(indirect) ||
	    memcmp(at + CONSTANT, indirect, sizeof(indirect)))
		return 0;
	int64_t value = (int32_t)load_u32(at + sizeof(constant));
	if (!memcmp(at, constant, sizeof(constant)))
		l->g = value;
	else if (!memcmp(at, word, sizeof(word)))
		l->g_word = address + CONSTANT + (uint64_t)value;
	else
		return 0;
	return CONSTANT + sizeof(indirect);
}

/*
 * x86-64, runtime.systemstack (runtime/asm_amd64.s):
 *	mov %fs:X,%rax		g
 *	mov M(%rax),%rbx	48 8b 58 M		g.m
 *	cmp S(%rbx),%rax	48 3b 43 S		m.gsignal
 *	cmp C(%rbx),%rax	48 3b 83 C (32 bits)	m.curg, some instructions later
 */
static bool read_stack_switch_x86(struct elf_bytes code, uint64_t address, struct go_labels *l)
{
	enum { REST = 8, NEAR = 64 };
	size_t size = 0;
	uint64_t i = 0;

	for (; i < code.size && !size; i += !size)
		size = read_g_x86(code.at + i, code.size - i, address + i, l);
	i += size;
	if (!size || code.size - i < REST || memcmp(code.at + i, "\x48\x8b\x58", 3) ||
	    memcmp(code.at + i + 4, "\x48\x3b\x43", 3))
		return false;
	l->m = code.at[i + 3];
	l->gsignal = code.at[i + 7];
	for (uint64_t k = i + REST; k + 7 <= code.size && k < i + NEAR; k++)
		if (!memcmp(code.at + k, "\x48\x3b\x83", 3)) {
			l->curg = load_u32(code.at + k + 3);
			return true;
		}
	return false;
}

/* arm64: LDR (or STR) of 64 bits, offset BYTES from register BASE. */
static bool is_access_arm64(uint32_t code, uint32_t operation, unsigned base, uint64_t *bytes)
{
	*bytes = (code >> 10 & 0xfff) * 8;
	return (code & 0xffc00000) == operation && (code >> 5 & 31) == base;
}

enum { LDR = 0xf9400000, STR = 0xf9000000, G_REGISTER = 28 };

/*
 * arm64, the function that sets labels: the goroutine is in X28; accesses to its stack limit do
 * not count.
 */
static bool read_setter_arm64(struct elf_bytes code, struct go_labels *l)
{
	enum { STACK_LIMIT = 16 };	/* g.stackguard0 */
	bool any = false, good = true;
	uint64_t bytes;

	for (uint64_t i = 0; i + 4 <= code.size; i += 4) {
		uint32_t word = load_u32(code.at + i);
		if ((is_access_arm64(word, STR, G_REGISTER, &bytes) ||
		     is_access_arm64(word, LDR, G_REGISTER, &bytes)) && bytes != STACK_LIMIT)
			good &= agree(&l->labels, bytes, &any);
	}
	return any && good;
}

/*
 * arm64, runtime.systemstack (runtime/asm_arm64.s): ldr x4,[x28,#M]; then of x4: gsignal, g0 at
 * 0, curg, each in this order.
 */
static bool read_stack_switch_arm64(struct elf_bytes code, struct go_labels *l)
{
	uint64_t field[3], bytes;
	unsigned fields = 0, m = 0;
	bool any = false;

	l->in_register = true;
	for (uint64_t i = 0; i + 4 <= code.size && fields < 3; i += 4) {
		uint32_t word = load_u32(code.at + i);
		if (!any && is_access_arm64(word, LDR, G_REGISTER, &bytes)) {
			l->m = bytes;
			m = word & 31;
			any = true;
		} else if (any && is_access_arm64(word, LDR, m, &bytes)) {
			field[fields++] = bytes;
		}
	}
	if (fields < 3 || field[1] != 0)
		return false;
	l->gsignal = field[0];
	l->curg = field[2];
	return true;
}

/*
 * Read the offsets from ELF's code into L.  Return whether they are equal to the known offsets K.
 */
static bool confirm(struct elf *elf, struct elf_bytes setter, struct elf_bytes stack_switch,
		    uint64_t switch_address, const struct go_offsets *k, struct go_labels *l)
{
	bool good = elf_machine(elf) == EM_X86_64
		? read_setter_x86(setter, l) &&
		  read_stack_switch_x86(stack_switch, switch_address, l)
		: elf_machine(elf) == EM_AARCH64 && read_setter_arm64(setter, l) &&
		  read_stack_switch_arm64(stack_switch, l);

	l->is_map = k->is_map;
	return good && l->labels == k->labels && l->curg == k->curg &&
	       l->gsignal == k->gsignal && l->m == 48;
}

struct go_labels go_labels_find(struct elf *elf)
{
	struct go_labels l = { .state = GO_LABELS_ABSENT };

	if (elf_is_swapped(elf) || !read_version(elf, l.version, sizeof(l.version)))
		return l;
	struct gotable *table = gotable_open(elf);
	const struct go_offsets *k = find_known(l.version);
	uint64_t at;
	struct elf_bytes setter = code_of(elf, table, "runtime/pprof.runtime_setProfLabel", &at);
	struct elf_bytes stack_switch = code_of(elf, table, "runtime.systemstack", &at);
	if (stack_switch.size && !setter.size)
		l.state = GO_LABELS_NEVER;
	else
		l.state = k && confirm(elf, setter, stack_switch, at, k, &l) ? GO_LABELS_FOUND
									   : GO_LABELS_UNKNOWN;
	if (elf_is_cut(elf))
		l.state = GO_LABELS_UNKNOWN;
	gotable_close(table);
	return l;
}
