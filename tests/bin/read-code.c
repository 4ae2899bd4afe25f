/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objdump -dw --insn-width=15 FILE | read-code x86_64|aarch64 - compare instruction_read() with
 * objdump: the size of each instruction, its kind, where it jumps, and what it does to registers.
 *
 * Prints the lines that differ, and "N instructions".  Bytes that objdump cannot read are skipped.
 */
#include "code/instruction.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4096, WORDS = 256 };

static const char *const x86_name[] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12",
	"r13", "r14", "r15",
};

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Return the text after the prefixes, and after their names. */
static const char *skip_prefixes(const char *text)
{
	static const char *const prefix[] = {
		"lock ", "rep ", "repz ", "repnz ", "bnd ", "notrack ", "data16 ", "addr32 ", "cs ",
		"ds ", "es ", "ss ", "fs ", "gs ", "xacquire ", "xrelease ",
	};
	bool again = true;

	while (again) {
		again = false;
		for (size_t i = 0; i < sizeof(prefix) / sizeof(prefix[0]); i++)
			if (starts(text, prefix[i])) {
				text += strlen(prefix[i]);
				again = true;
			}
		if (starts(text, "rex")) {
			text += strcspn(text, " ");
			again = *text != '\0';
		}
		text += strspn(text, " ");
	}
	return text;
}

/* Write what I does to OUT, as objdump's operands say it.  Empty: INSTRUCTION_OTHER. */
static void describe_x86(const struct opcode *i, char *out, size_t size)
{
	const char *r = i->reg == NO_REGISTER ? "" : x86_name[i->reg];
	const char *b = i->base == NO_REGISTER ? "" : x86_name[i->base];
	int64_t v = i->value;

	*out = '\0';
	switch (i->kind) {
	case INSTRUCTION_CALL:
		snprintf(out, size, "call %" PRIx64, i->target);
		break;
	case INSTRUCTION_JUMP:
		snprintf(out, size, "jmp %" PRIx64, i->target);
		break;
	case INSTRUCTION_BRANCH:
		snprintf(out, size, "branch %" PRIx64, i->target);
		break;
	case INSTRUCTION_CALL_INDIRECT:
		snprintf(out, size, "call *%" PRIx64, i->target);
		break;
	case INSTRUCTION_JUMP_INDIRECT:
		snprintf(out, size, "jmp *%" PRIx64, i->target);
		break;
	case INSTRUCTION_RETURN:
		snprintf(out, size, "ret %" PRIx64, (uint64_t)v);
		break;
	case INSTRUCTION_TRAP:
		snprintf(out, size, "trap");
		break;
	case INSTRUCTION_PUSH:
		snprintf(out, size, "push %s", r);
		break;
	case INSTRUCTION_POP:
		snprintf(out, size, "pop %s", r);
		break;
	case INSTRUCTION_ENTER:
		snprintf(out, size, "enter %" PRIx64, (uint64_t)v);
		break;
	case INSTRUCTION_LEAVE:
		snprintf(out, size, "leave");
		break;
	case INSTRUCTION_ADJUST:
		snprintf(out, size, "%s += %" PRIx64, r, (uint64_t)v);
		break;
	case INSTRUCTION_ALIGN:
		snprintf(out, size, "%s &= %" PRIx64, r, (uint64_t)v);
		break;
	case INSTRUCTION_MOVE:
		snprintf(out, size, "%s = %s+%" PRIx64, r, b, (uint64_t)v);
		break;
	case INSTRUCTION_STORE:
		snprintf(out, size, "%s -> %s+%" PRIx64, r, b, (uint64_t)v);
		break;
	case INSTRUCTION_LOAD:
		snprintf(out, size, "%s <- %s+%" PRIx64, r, b, (uint64_t)v);
		break;
	}
}

/* Read "-0x8(%rbp)" or "(%rbp)".  Return false if OPERAND is anything else. */
static bool read_place(const char *operand, const char **base, uint64_t *value, int *length)
{
	static char name[8];
	uint64_t number = 0;
	int n = 0, used;
	bool minus = *operand == '-';

	if (minus)
		operand++;
	if (starts(operand, "0x")) {
		sscanf(operand, "%" SCNx64 "%n", &number, &n);
		operand += n;
	}
	used = 0;
	if (sscanf(operand, "(%%%7[a-z0-9])%n", name, &used) != 1 || used == 0)
		return false;
	for (int i = 0; i < 16; i++)
		if (!strcmp(name, x86_name[i])) {
			*base = x86_name[i];
			*value = minus ? -number : number;
			*length = n + minus + used;
			return true;
		}
	return false;
}

/* Return the name of the 64-bit register "%rax" that OPERAND starts with, or NULL. */
static const char *read_register(const char *operand)
{
	size_t length = strcspn(operand, ",) \n");

	for (int i = 0; *operand == '%' && i < 16; i++)
		if (strlen(x86_name[i]) + 1 == length && starts(operand + 1, x86_name[i]))
			return x86_name[i];
	return NULL;
}

/* Write what add, sub, and, mov or lea with OPERANDS does to OUT; nothing if they are of others. */
static void want_move(const char *name, const char *operands, char *out, size_t size)
{
	const char *from = read_register(operands), *comma = strchr(operands, ','), *base;
	const char *to = NULL;
	bool is_lea = starts(name, "lea"), is_mov = starts(name, "mov ");
	uint64_t value;
	int length;

	if (*operands == '$' && comma && !is_lea && !is_mov && (to = read_register(comma + 1))) {
		value = strtoull(operands + 1, NULL, 16);
		snprintf(out, size, starts(name, "and") ? "%s &= %" PRIx64 : "%s += %" PRIx64, to,
			 starts(name, "sub") ? -value : value);
	} else if (from && is_mov && (to = read_register(comma + 1))) {
		snprintf(out, size, "%s = %s+0", to, from);
	} else if (from && is_mov && read_place(comma + 1, &base, &value, &length)) {
		snprintf(out, size, "%s -> %s+%" PRIx64, from, base, value);
	} else if ((is_mov || is_lea) && read_place(operands, &base, &value, &length) &&
		   (to = read_register(operands + length + 1))) {
		snprintf(out, size, is_lea ? "%s = %s+%" PRIx64 : "%s <- %s+%" PRIx64, to, base,
			 value);
	}
}

static void want_x86(const char *text, char *out, size_t size)
{
	const char *operands = text + strcspn(text, " "), *comment = strchr(text, '#');
	uint64_t target = comment ? strtoull(comment + 1, NULL, 16) : 0;

	operands += strspn(operands, " ");
	bool is_any = *operands == '*';
	*out = '\0';
	if (starts(text, "call") || starts(text, "jmp"))
		snprintf(out, size, "%.*s %s%" PRIx64, *text == 'c' ? 4 : 3, text,
			 is_any ? "*" : "",
			 is_any ? target : (uint64_t)strtoull(operands, NULL, 16));
	else if (*text == 'j' || starts(text, "loop") || starts(text, "xbegin"))
		snprintf(out, size, "branch %llx", strtoull(operands, NULL, 16));
	else if (starts(text, "ret"))
		snprintf(out, size, "ret %llx", *operands == '$'
			 ? strtoull(operands + 1, NULL, 16) : 0);
	else if (starts(text, "hlt") || starts(text, "int3") || starts(text, "int1") ||
		 starts(text, "icebp") || starts(text, "ud"))
		snprintf(out, size, "trap");
	else if (starts(text, "push") || (starts(text, "pop") && !starts(text, "popcnt")))
		snprintf(out, size, "%s %s", starts(text, "push") ? "push" : "pop",
			 read_register(operands) ? read_register(operands) : "");
	else if (starts(text, "enter"))
		snprintf(out, size, "enter %llx", strtoull(operands + 1, NULL, 16));
	else if (starts(text, "leave"))
		snprintf(out, size, "leave");
	else if (starts(text, "add ") || starts(text, "sub ") || starts(text, "and ") ||
		 starts(text, "mov ") || starts(text, "lea "))
		want_move(text, operands, out, size);
}

/* Return the same text without what both tools may write in several ways. */
static bool is_x86_right(const struct opcode *i, const char *text)
{
	char got[WORDS], want[WORDS];

	describe_x86(i, got, sizeof(got));
	want_x86(skip_prefixes(text), want, sizeof(want));
	if (strcmp(got, want))
		printf("%s, not %s: ", got, want);
	return !strcmp(got, want);
}

static const char *arm64_name(unsigned n, bool is_sp)
{
	static char name[4][5];
	static unsigned next;
	char *text = name[next++ % 4];

	snprintf(text, sizeof(name[0]), n == NO_REGISTER ? "xzr" : n == 31 && is_sp ? "sp" : "x%u",
		 n);
	return text;
}

/* Write the base register and the number of a load or store, as objdump does. */
static void describe_place(const struct opcode *i, char *out, size_t size)
{
	const char *base = arm64_name(i->base, true);
	bool is_before = i->step && i->value;

	if (i->step && !is_before)
		snprintf(out, size, "[%s], #%" PRId64, base, i->step);
	else if (i->value)
		snprintf(out, size, "[%s, #%" PRId64 "]%s", base, i->value, is_before ? "!" : "");
	else
		snprintf(out, size, "[%s]", base);
}

/* Write a load, a store, an addition or a move as objdump does, but for "stur" and "ldur". */
static void describe_arm64(const struct opcode *i, char *out, size_t size)
{
	char place[64];
	bool is_sum = i->kind == INSTRUCTION_ADJUST || i->kind == INSTRUCTION_MOVE;
	bool is_pair = i->kind == INSTRUCTION_STORE_PAIR || i->kind == INSTRUCTION_LOAD_PAIR;
	bool is_load = i->kind == INSTRUCTION_LOAD || i->kind == INSTRUCTION_LOAD_PAIR;
	const char *r = arm64_name(i->reg, is_sum);

	*out = '\0';
	describe_place(i, place, sizeof(place));
	if (is_pair)
		snprintf(out, size, "%s\t%s, %s, %s", is_load ? "ldp" : "stp", r,
			 arm64_name(i->second, false), place);
	else if (is_load || i->kind == INSTRUCTION_STORE)
		snprintf(out, size, "%s\t%s, %s", is_load ? "ldr" : "str", r, place);
	else if (is_sum && i->value == 0)
		snprintf(out, size, "mov\t%s, %s", r, arm64_name(i->base, true));
	else if (is_sum)
		snprintf(out, size, "%s\t%s, %s, #0x%" PRIx64, i->value < 0 ? "sub" : "add", r,
			 arm64_name(i->base, true),
			 (uint64_t)(i->value < 0 ? -i->value : i->value));
}

/* Return whether TEXT is a load, a store, an addition or a move that describe_arm64() writes. */
static bool is_described(const char *text)
{
	static const char *const name[] = { "stp\t", "ldp\t", "str\t", "ldr\t", "add\t", "sub\t",
					    "mov\t" };
	const char *operands = text + strcspn(text, "\t"), *second = strchr(operands, ',');
	const char *bracket = strchr(operands, '[');
	bool is_one = false;

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		is_one |= starts(text, name[i]);
	if (!is_one || !second || (operands[1] != 'x' && !starts(operands + 1, "sp")))
		return false;
	if (starts(second, ", v"))
		return false;
	if (bracket)	/* not by an index */
		return !strstr(bracket, ", x") && !strstr(bracket, ", w");
	return *text != 'l' && !starts(second, ", #") && !starts(second, ", w") &&
	       (*text == 'm' || strstr(second, ", #"));
}

static bool is_arm64_jump_right(const struct opcode *i, const char *text)
{
	const char *last = strrchr(text, ','), *operands = strchr(text, '\t');
	uint64_t target = strtoull(last ? last + 1 : operands ? operands : "", NULL, 16);
	bool is_branch = starts(text, "cb") || starts(text, "tbz") || starts(text, "tbnz") ||
			 starts(text, "b.");
	int want;

	if (starts(text, "bl\t"))
		want = INSTRUCTION_CALL;
	else if (starts(text, "b\t") || starts(text, "b.al") || starts(text, "b.nv"))
		want = INSTRUCTION_JUMP;
	else if (is_branch)
		want = INSTRUCTION_BRANCH;
	else if (starts(text, "blr"))
		want = INSTRUCTION_CALL_INDIRECT;
	else if (starts(text, "br\t") || starts(text, "bra"))
		want = INSTRUCTION_JUMP_INDIRECT;
	else if (starts(text, "ret"))
		want = INSTRUCTION_RETURN;
	else if (starts(text, "brk") || starts(text, "hlt") || starts(text, "udf"))
		want = INSTRUCTION_TRAP;
	else
		return i->kind == INSTRUCTION_OTHER || i->kind > INSTRUCTION_TRAP;
	bool has_target = want == INSTRUCTION_CALL || want == INSTRUCTION_JUMP ||
			  want == INSTRUCTION_BRANCH;
	return i->kind == want && (!has_target || i->target == target);
}

/* Return whether I is what TEXT says: "b.eq\t1234 <x>  // b.none". */
static bool is_arm64_right(const struct opcode *i, char *text)
{
	char got[WORDS], *comment = strstr(text, "//");

	if (comment)
		*comment = '\0';
	text[strcspn(text, "\n")] = '\0';
	for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; n--)
		text[n - 1] = '\0';
	if (!is_arm64_jump_right(i, text))
		return false;
	if (starts(text, "stur\tx") || starts(text, "ldur\tx")) {
		text[2] = text[0] == 's' ? 't' : 'd';	/* stt, ldd: then the same */
		memmove(text + 2, text + 3, strlen(text + 2));
		text[1] = text[0] == 's' ? 't' : 'd';
		text[2] = 'r';
	}
	describe_arm64(i, got, sizeof(got));
	/* objdump writes these sums in other ways */
	if (is_described(text) && (strstr(text, ", #0x0") || strstr(text, ", lsl #12")))
		return *got;
	if (strcmp(got, is_described(text) ? text : ""))
		printf("%s, not %s: ", got, text);
	return !strcmp(got, is_described(text) ? text : "");
}

/* Read the bytes in hexadecimal, at most SIZE.  *END: after them. */
static size_t read_bytes(char *at, uint8_t *bytes, size_t size, bool is_arm64, char **end)
{
	size_t n = 0;
	unsigned byte;
	int used;

	while (n < size && *at != '\t' && sscanf(at, "%2x%n", &byte, &used) == 1) {
		bytes[n++] = (uint8_t)byte;
		at += used;
		at += strspn(at, " ");
	}
	if (is_arm64 && n == 4) {	/* one number */
		uint8_t swapped[4] = { bytes[3], bytes[2], bytes[1], bytes[0] };
		memcpy(bytes, swapped, sizeof(swapped));
	}
	*end = at;
	return n;
}

/*
 * Return whether instruction_skip_x86() agrees with I, the instruction of SIZE bytes at BYTES, or
 * leaves it to instruction_read(), as one of 10.
 */
static bool is_skipped_right(const struct opcode *i, const uint8_t *bytes, size_t size,
			     uint64_t address)
{
	static uint64_t read, skipped;
	uint8_t room[INSTRUCTION_ROOM] = { 0 };
	struct instruction_sizes sizes;
	uint64_t target, expected = 0;
	bool is_call;

	instruction_sizes_init(&sizes);
	memcpy(room, bytes, size);
	unsigned n = instruction_skip_x86(&sizes, room, address, &target, &is_call);
	skipped += n != 0;
	if (i->kind == INSTRUCTION_CALL || i->kind == INSTRUCTION_OTHER)
		expected = i->target;
	return (n == 0 && ++read < 1000 + skipped / 9) ||
	       (n == size && target == expected && is_call == (i->kind == INSTRUCTION_CALL));
}

/* Compare one line.  Return whether it has an instruction. */
static bool compare(const struct machine *m, char *line)
{
	bool is_arm64 = m->lr != NO_REGISTER;
	uint8_t bytes[16];
	struct opcode i;
	char *colon;
	char *text;
	uint64_t address = strtoull(line, &colon, 16);

	if (*line != ' ' || *colon != ':')
		return false;
	size_t n = read_bytes(colon + 2, bytes, 15, is_arm64, &text);
	text += strspn(text, " \t");
	bool is_wait = !is_arm64 && bytes[0] == 0x9b && n > 1;	/* two instructions */
	if (n == 0 || is_wait || strstr(text, "(bad)") || strstr(text, "undefined") ||
	    starts(text, ".") || (!is_arm64 && !*skip_prefixes(text)))
		return false;
	uint8_t *exact = malloc(n);
	memcpy(exact, bytes, n);
	bool is_cut = instruction_read(m, exact, n - 1, address, &i);
	bool good = instruction_read(m, exact, n, address, &i);
	free(exact);
	if (!good || is_cut || i.size != n)
		printf("%s, size %u: %s", good ? "read" : "not read", good ? i.size : 0, line);
	else if (!(is_arm64 ? is_arm64_right(&i, text)
			    : is_x86_right(&i, text) && is_skipped_right(&i, bytes, n, address)))
		printf("%s%s", line, strchr(line, '\n') ? "" : "\n");
	return true;
}

int main(int argc, char **argv)
{
	const struct machine *m = argc == 2 ? machine_find(argv[1]) : NULL;
	static char line[LINE];
	uint64_t count = 0;

	if (!m) {
		fprintf(stderr, "usage: read-code x86_64|aarch64\n");
		return 2;
	}
	while (fgets(line, sizeof(line), stdin))
		count += compare(m, line);
	printf("%" PRIu64 " instructions\n", count);
	return 0;
}
